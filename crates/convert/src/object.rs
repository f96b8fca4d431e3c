//! Writes JSON objects in ASCII, so that their text cannot control a terminal.
//!
//! In: the key `a` and the string `é`. Out: `{"a":"\u00e9"}`.

use std::fmt::Display;

use jsonl::{Raw, Style, push_string, respell};

/// A JSON object that is written member by member.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    out: Vec<u8>,
}

impl Default for Object {
    fn default() -> Self {
        Self::new()
    }
}

impl Object {
    /// Creates an object without members.
    pub(crate) fn new() -> Self {
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
    pub(crate) fn string(&mut self, key: &str, text: &str) -> &mut Self {
        self.key(key);
        push_string(&mut self.out, text, Style::Python);
        self
    }

    /// Adds a number or a boolean.
    pub(crate) fn plain(&mut self, key: &str, value: impl Display) -> &mut Self {
        self.key(key);
        self.out.extend_from_slice(value.to_string().as_bytes());
        self
    }

    /// Adds a JSON value in its spelling.
    pub(crate) fn raw(&mut self, key: &str, value: Raw<'_>) -> &mut Self {
        self.key(key);
        respell(&mut self.out, value, Style::Python);
        self
    }

    /// Adds an object.
    pub(crate) fn object(&mut self, key: &str, value: &Object) -> &mut Self {
        self.key(key);
        self.out.extend_from_slice(&value.out);
        self.out.push(b'}');
        self
    }

    /// Adds an array of strings.
    pub(crate) fn strings<'s>(
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

    /// Returns the object as a line.
    pub(crate) fn line(mut self) -> Vec<u8> {
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
