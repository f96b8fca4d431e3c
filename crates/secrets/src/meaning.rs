//! What JSON text means, with the way from each byte of it back to the text as written.

use std::ops::Range;

use jsonl::Unescape;

use crate::cursor::Cursor;

/// Decoded text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meaning {
    bytes: Vec<u8>,
    /// After each escape: where that is in the meaning, and in what is written.
    turns: Vec<(usize, usize)>,
}

impl Meaning {
    /// Decodes the body of a string, or bytes that are no JSON as if they were such a body.
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

    /// Appends what the escape at the front means, and returns how long it is.
    fn push_escape(&mut self, written: &[u8]) -> usize {
        /// A pair of surrogates.
        const LONGEST: usize = 12;
        let longest = written.get(..LONGEST).unwrap_or(written);
        let ascii = longest.split(|byte| !byte.is_ascii()).next().unwrap_or_default();
        let text = std::str::from_utf8(ascii).unwrap_or_default();
        let mut chars = Unescape::new(text);
        let char = chars.next().flatten().unwrap_or(char::REPLACEMENT_CHARACTER);
        self.bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
        text.len().saturating_sub(chars.rest().len()).max(1)
    }

    /// Returns the bytes of a range of the meaning, none if it is not all there.
    pub(crate) fn slice(&self, range: &Range<usize>) -> &[u8] {
        self.bytes.get(range.clone()).unwrap_or_default()
    }

    /// Returns where a range of the meaning lies in what is written.
    pub(crate) fn written(&self, range: &Range<usize>) -> Range<usize> {
        self.place(range.start)..self.place(range.end)
    }

    fn place(&self, at: usize) -> usize {
        let n_turns = self.turns.partition_point(|(meant, _)| *meant <= at);
        let turn = n_turns.checked_sub(1).and_then(|n| self.turns.get(n));
        turn.map_or(at, |(meant, written)| written.saturating_add(at.saturating_sub(*meant)))
    }
}
