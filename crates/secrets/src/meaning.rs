//! Decodes JSON text, and maps each decoded byte back to the text as written.
//!
//! In: `sk-\u0061nt`. Out: `sk-ant`, whose bytes 3 to 4 are bytes 3 to 9 as written.

use std::ops::Range;

use jsonl::Unescape;

use crate::cursor::Cursor;

/// Decoded text and its mapping.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meaning {
    bytes: Vec<u8>,
    /// For each escape, the offset after it in the decoded and in the written text.
    turns: Vec<(usize, usize)>,
}

impl Meaning {
    /// Decodes the body of a string. Decodes bytes that are not JSON in the same way.
    pub(crate) fn decode(&mut self, written: &[u8]) -> &[u8] {
        self.bytes.clear();
        self.turns.clear();
        let mut at = Cursor::new(written);
        while let Some(n_plain) = memchr::memchr(b'\\', at.rest()) {
            let escape = at.forward(n_plain);
            self.bytes.extend_from_slice(escape.since(at.place()));
            at = escape.forward(self.push_escape(escape.rest()));
            self.turns.push((self.bytes.len(), at.place()));
        }
        self.bytes.extend_from_slice(at.rest());
        &self.bytes
    }

    /// Appends the decoded escape at the start, and returns its length.
    fn push_escape(&mut self, written: &[u8]) -> usize {
        /// Length of an escaped surrogate pair in bytes.
        const LONGEST: usize = 12;
        let longest = written.get(..LONGEST).unwrap_or(written);
        let ascii = longest.split(|byte| !byte.is_ascii()).next().unwrap_or_default();
        let text = std::str::from_utf8(ascii).unwrap_or_default();
        let mut chars = Unescape::new(text);
        let char = chars.next().flatten().unwrap_or(char::REPLACEMENT_CHARACTER);
        self.bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
        text.len().saturating_sub(chars.rest().len()).max(1)
    }

    /// Returns the bytes of a decoded range, or none if it is out of bounds.
    pub(crate) fn slice(&self, range: &Range<usize>) -> &[u8] {
        self.bytes.get(range.clone()).unwrap_or_default()
    }

    /// Returns the written range of a decoded range.
    pub(crate) fn written(&self, range: &Range<usize>) -> Range<usize> {
        self.place(range.start)..self.place(range.end)
    }

    fn place(&self, at: usize) -> usize {
        let n_turns = self.turns.partition_point(|(meant, _)| *meant <= at);
        let turn = n_turns.checked_sub(1).and_then(|n| self.turns.get(n));
        turn.map_or(at, |(meant, written)| written.saturating_add(at.saturating_sub(*meant)))
    }
}
