//! Writes JSON objects in ASCII, so that their text cannot control a terminal.
//!
//! In: the key `a` and the string `é`. Out: `{"a":"\u00e9"}`.

use std::fmt::Display;

use jsonl::{Raw, Style, push_string, respell};

/// A JSON object that is written member by member. Values that are JSON already are copied.
#[derive(Clone, Debug)]
pub struct Object {
    out: Vec<u8>,
}

impl Default for Object {
    fn default() -> Self {
        Self::new()
    }
}

impl Object {
    /// Creates an object without members.
    pub fn new() -> Self {
        Self { out: Vec::from(*b"{") }
    }

    fn key(&mut self, key: &str) {
        if self.out.len() > 1 {
            self.out.push(b',');
        }
        push_string(&mut self.out, key, Style::Python);
        self.out.push(b':');
    }

    /// Adds a string.
    pub fn string(&mut self, key: &str, text: &str) -> &mut Self {
        self.key(key);
        push_string(&mut self.out, text, Style::Python);
        self
    }

    /// Adds a string whose body is JSON already.
    pub fn body(&mut self, key: &str, body: &str) -> &mut Self {
        self.verbatim(key, format!("\"{body}\"").as_bytes())
    }

    /// Adds an array of strings whose bodies are JSON already.
    pub fn bodies(
        &mut self,
        key: &str,
        bodies: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> &mut Self {
        let strings = bodies.into_iter().map(|body| format!("\"{}\"", body.as_ref()));
        self.values(key, strings.map(String::into_bytes))
    }

    /// Adds an array of JSON values.
    pub fn values(
        &mut self,
        key: &str,
        values: impl IntoIterator<Item = impl AsRef<[u8]>>,
    ) -> &mut Self {
        self.key(key);
        self.out.push(b'[');
        for (value_idx, value) in values.into_iter().enumerate() {
            if value_idx > 0 {
                self.out.push(b',');
            }
            self.out.extend_from_slice(value.as_ref());
        }
        self.out.push(b']');
        self
    }

    /// Adds a JSON value of one line.
    pub fn verbatim(&mut self, key: &str, value: &[u8]) -> &mut Self {
        self.key(key);
        self.out.extend_from_slice(value);
        self
    }

    /// Adds a number or a boolean.
    pub fn plain(&mut self, key: &str, value: impl Display) -> &mut Self {
        self.key(key);
        self.out.extend_from_slice(value.to_string().as_bytes());
        self
    }

    /// Adds a JSON value in its spelling.
    pub fn raw(&mut self, key: &str, value: Raw<'_>) -> &mut Self {
        self.key(key);
        respell(&mut self.out, value, Style::Python);
        self
    }

    /// Adds an object.
    pub fn object(&mut self, key: &str, value: &Object) -> &mut Self {
        self.key(key);
        self.out.extend_from_slice(&value.out);
        self.out.push(b'}');
        self
    }

    /// Adds an array of strings.
    pub fn strings<'s>(
        &mut self,
        key: &str,
        texts: impl IntoIterator<Item = &'s str>,
    ) -> &mut Self {
        self.key(key);
        self.out.push(b'[');
        for (text_idx, text) in texts.into_iter().enumerate() {
            if text_idx > 0 {
                self.out.push(b',');
            }
            push_string(&mut self.out, text, Style::Python);
        }
        self.out.push(b']');
        self
    }

    /// Returns the object, without an end of line.
    pub fn bytes(self) -> Vec<u8> {
        let mut line = self.line();
        line.pop();
        line
    }

    /// Returns the object as a line.
    pub fn line(mut self) -> Vec<u8> {
        self.out.extend_from_slice(b"}\n");
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_ascii_lines() {
        let mut inner = Object::new();
        inner.plain("n", 1.5).plain("yes", true);
        let mut object = Object::new();
        object
            .string("é", "\u{1b}[31m\u{202e}")
            .object("in", &inner)
            .object("none", &Object::new());
        object.strings("all", ["a", "\n"]).strings("no", []);
        let line = String::from_utf8(object.line()).expect("ASCII");
        assert_eq!(
            line,
            "{\"\\u00e9\":\"\\u001b[31m\\u202e\",\"in\":{\"n\":1.5,\"yes\":true},\"none\":{},\
             \"all\":[\"a\",\"\\n\"],\"no\":[]}\n"
        );
    }
}
