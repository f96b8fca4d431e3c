//! Writes a document from the values of a store, as `opencode export` prints it.
//!
//! ```text
//! in   {"id":"ses_1"} and a message {"role":"user"} with the part {"type":"text"}
//! out  {
//!        "info": {
//!          "id": "ses_1"
//!        },
//!        "messages": [
//!          {
//!            "info": {
//!              "role": "user"
//!            },
//!            "parts": [
//!              {
//!                "type": "text"
//!              }
//!            ]
//!          }
//!        ]
//!      }
//! ```

use std::io::{self, Write};

use jsonl::{Scanner, Style, push_indented, push_string};

use super::odd;

/// Writer of a document. It keeps one value in memory.
pub(super) struct DocumentWriter<'o> {
    out: &'o mut dyn Write,
    scanner: Scanner,
    buffer: Vec<u8>,
    n_messages: u64,
    n_parts: u64,
}

impl<'o> DocumentWriter<'o> {
    /// Writes the session.
    pub(super) fn start(info: &[u8], out: &'o mut dyn Write) -> io::Result<Self> {
        let (scanner, buffer) = (Scanner::default(), Vec::new());
        let mut writer = Self { out, scanner, buffer, n_messages: 0, n_parts: 0 };
        writer.out.write_all(b"{\n  \"info\": ")?;
        writer.value("the session", info, 2)?;
        writer.out.write_all(b",\n  \"messages\": [")?;
        Ok(writer)
    }

    /// Writes a message without its parts.
    pub(super) fn message(&mut self, id: &str, info: &[u8]) -> io::Result<()> {
        self.end_message()?;
        let start: &[u8] = if self.n_messages > 0 { b",\n    {\n" } else { b"\n    {\n" };
        self.n_messages = self.n_messages.saturating_add(1);
        self.n_parts = 0;
        self.out.write_all(start)?;
        self.out.write_all(b"      \"info\": ")?;
        self.value(id, info, 6)?;
        self.out.write_all(b",\n      \"parts\": [")
    }

    /// Writes a part of the last message.
    pub(super) fn part(&mut self, id: &str, part: &[u8]) -> io::Result<()> {
        self.out.write_all(if self.n_parts > 0 { b"," } else { b"" })?;
        self.out.write_all(b"\n        ")?;
        self.n_parts = self.n_parts.saturating_add(1);
        self.value(id, part, 8)
    }

    /// Writes the end of the document.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.end_message()?;
        self.out.write_all(if self.n_messages > 0 { b"\n  ]\n}\n" } else { b"]\n}\n" })
    }

    fn end_message(&mut self) -> io::Result<()> {
        match (self.n_messages, self.n_parts) {
            (0, _) => Ok(()),
            (_, 0) => self.out.write_all(b"]\n    }"),
            _ => self.out.write_all(b"\n      ]\n    }"),
        }
    }

    fn value(&mut self, id: &str, value: &[u8], indentation: usize) -> io::Result<()> {
        let scanned = self.scanner.scan_slice(value, 0);
        let scanned = scanned.map_err(|error| odd(format!("{id}: {error}")))?;
        if !scanned.is_object() {
            return Err(odd(format!("{id}: no JSON object")));
        }
        self.buffer.clear();
        push_indented(&mut self.buffer, scanned.raw().as_str(), indentation, usize::MAX);
        self.out.write_all(&self.buffer)
    }
}

/// Returns an object with members behind its own, as `{...object, id}` has them. A member that the
/// object has already stays as it is.
///
/// In: `{"role":"user"}` and `id` with `msg_1`. Out: `{"role":"user","id":"msg_1"}`.
pub(super) fn with_members(object: &str, members: &[(&str, &str)]) -> io::Result<Vec<u8>> {
    let mut scanner = Scanner::default();
    let name = members.first().map_or("", |(_, id)| *id);
    let scanned = scanner.scan_slice(object.as_bytes(), 0);
    let scanned = scanned.map_err(|error| odd(format!("{name}: {error}")))?;
    let body = scanned.raw().as_str().strip_suffix('}').filter(|_| scanned.is_object());
    let body = body.ok_or_else(|| odd(format!("{name}: no JSON object")))?;
    let mut out = body.as_bytes().to_vec();
    let mut is_first = scanned.n_members() == 0;
    for (key, value) in members.iter().filter(|(key, _)| scanned.get(key).is_none()) {
        if !std::mem::take(&mut is_first) {
            out.push(b',');
        }
        push_string(&mut out, key, Style::Compact);
        out.push(b':');
        push_string(&mut out, value, Style::Compact);
    }
    out.push(b'}');
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_as_the_client_prints_it() {
        let mut out = Vec::new();
        let mut writer = DocumentWriter::start(br#"{"id":"ses_1"}"#, &mut out).expect("written");
        writer.message("a", br#"{"role":"user"}"#).expect("written");
        writer.message("b", b"{}").expect("written");
        writer.part("c", br#"{"type":"text"}"#).expect("written");
        writer.part("d", br#"{ "n":[ ]}"#).expect("written");
        writer.finish().expect("written");
        let expected = "{\n  \"info\": {\n    \"id\": \"ses_1\"\n  },\n  \"messages\": [\n    {\n      \
             \"info\": {\n        \"role\": \"user\"\n      },\n      \"parts\": []\n    },\n    {\n      \
             \"info\": {},\n      \"parts\": [\n        {\n          \"type\": \"text\"\n        },\n        \
             {\n          \"n\": []\n        }\n      ]\n    }\n  ]\n}\n";
        assert_eq!(String::from_utf8(out).expect("text"), expected);
        let mut out = Vec::new();
        DocumentWriter::start(b"{}", &mut out).and_then(DocumentWriter::finish).expect("written");
        assert_eq!(out, b"{\n  \"info\": {},\n  \"messages\": []\n}\n");
    }

    #[test]
    fn ids_come_last_unless_they_are_there() {
        let with = |object: &str| {
            with_members(object, &[("id", "m\"1"), ("s", "2")])
                .map(|out| String::from_utf8(out).expect("text"))
                .map_err(|error| error.to_string())
        };
        assert_eq!(with(r#"{"a":{}}"#).as_deref(), Ok(r#"{"a":{},"id":"m\"1","s":"2"}"#));
        assert_eq!(with(r#" { "s":3 } "#).as_deref(), Ok(r#"{ "s":3 ,"id":"m\"1"}"#));
        assert_eq!(with("{}").as_deref(), Ok(r#"{"id":"m\"1","s":"2"}"#));
        assert!(with("[1]").is_err() && with("{").is_err() && with("").is_err());
    }
}
