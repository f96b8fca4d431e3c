//! The input of a tool use, in the ways that formats write it.
//!
//! In: Codex's `"arguments":"{\"cmd\":\"ls\"}"`. Out: the JSON object `{"cmd":"ls"}`.

use std::{borrow::Cow, fmt};

use jsonl::{Raw, RawBuf, Text};

/// The input of a tool use, as written.
///
/// Each variant holds the bytes of the log: [`Raw::as_str`] and [`Text::as_str`] return them unchanged.
/// Claude Code, clido, SDK streams and pi write [`Input::Json`], Codex the other variants.
#[derive(Clone, Copy, Debug)]
pub enum Input<'l> {
    /// A JSON value: an object, except from some proxies.
    Json(Raw<'l>),
    /// A JSON text inside a JSON string.
    JsonString(Text<'l>),
    /// Plain text inside a JSON string.
    Text(Text<'l>),
    /// A JSON value that is the only member of the input, such as the command of a shell. The name
    /// is a word without characters that JSON escapes.
    Member(&'static str, Raw<'l>),
}

/// The member that holds a text that is no JSON object, where a format wants an object.
const ARGUMENTS: &str = "arguments";

/// The member that holds the plain text of an input.
const INPUT: &str = "input";

impl<'l> Input<'l> {
    /// Returns the input as a JSON value.
    ///
    /// [`Input::Json`] is returned as it is written, every byte of it. A JSON object in a string is unescaped. Another text becomes the member `arguments` of an
    /// object, plain text the member `input`, and a member an object.
    ///
    /// ```
    /// use core_model::Input;
    /// use jsonl::{RawBuf, Text};
    ///
    /// let text = |written| Text::new(written).expect("a JSON string");
    /// let object = RawBuf::new(r#"{"cmd": "ls"}"#).expect("JSON");
    /// let cases = [
    ///     (Input::Json(object.as_raw()), r#"{"cmd": "ls"}"#),
    ///     (Input::JsonString(text(r#""{\"cmd\": \"ls\"}""#)), r#"{"cmd":"ls"}"#),
    ///     (Input::JsonString(text(r#""{\"cmd\":""#)), r#"{"arguments":"{\"cmd\":"}"#),
    ///     (Input::Text(text(r#""*** Begin Patch\n""#)), r#"{"input":"*** Begin Patch\n"}"#),
    ///     (Input::Member("cmd", text(r#""ls""#).into()), r#"{"cmd":"ls"}"#),
    /// ];
    /// for (input, json) in cases {
    ///     assert_eq!(input.json().raw().as_str(), json);
    /// }
    /// ```
    pub fn json(&self) -> InputJson<'l> {
        match *self {
            Input::Json(raw) => InputJson::Written(raw),
            Input::JsonString(text) => match object_in(text) {
                Some(object) => InputJson::Made(object),
                None => InputJson::Made(object_of(ARGUMENTS, text.into())),
            },
            Input::Text(text) => InputJson::Made(object_of(INPUT, text.into())),
            Input::Member(name, value) => InputJson::Made(object_of(name, value)),
        }
    }
}

/// The JSON value of an input.
#[derive(Clone, Debug)]
pub enum InputJson<'l> {
    /// A slice of the record.
    Written(Raw<'l>),
    /// A value in compact spelling, which the record holds in a string.
    Made(RawBuf),
}

impl InputJson<'_> {
    /// Returns the value.
    pub fn raw(&self) -> Raw<'_> {
        match self {
            InputJson::Written(raw) => *raw,
            InputJson::Made(made) => made.as_raw(),
        }
    }
}

impl<'l> From<InputJson<'l>> for Cow<'l, str> {
    fn from(json: InputJson<'l>) -> Self {
        match json {
            InputJson::Written(raw) => Cow::Borrowed(raw.as_str()),
            InputJson::Made(made) => Cow::Owned(made.as_str().to_owned()),
        }
    }
}

impl fmt::Display for InputJson<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.raw().as_str())
    }
}

/// Returns the JSON object that a string holds; `None` if it holds another text.
fn object_in(text: Text<'_>) -> Option<RawBuf> {
    let decoded = text.try_decode()?;
    let written = decoded.trim();
    if !written.starts_with('{') {
        return None;
    }
    RawBuf::compact(written).ok()
}

/// Returns an object with one member.
fn object_of(name: &str, value: Raw<'_>) -> RawBuf {
    RawBuf::new(format!("{{\"{name}\":{}}}", value.as_str())).unwrap_or_else(|_| Raw::NULL.into())
}
