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
    turns: Vec<(u32, u32)>,
    /// The same for escapes behind the first 4 GiB.
    far_turns: Vec<(usize, usize)>,
}

impl Meaning {
    /// Decodes the body of a string. Decodes bytes that are not JSON in the same way.
    pub(crate) fn decode(&mut self, written: &[u8]) -> &[u8] {
        self.bytes.clear();
        self.turns.clear();
        self.far_turns.clear();
        let mut at = Cursor::new(written);
        while let Some(n_plain) = memchr::memchr(b'\\', at.rest()) {
            let escape = at.forward(n_plain);
            self.bytes.extend_from_slice(escape.since(at.place()));
            at = escape.forward(self.push_escape(escape.rest()));
            self.push_turn(self.bytes.len(), at.place());
        }
        self.bytes.extend_from_slice(at.rest());
        &self.bytes
    }

    fn push_turn(&mut self, meant: usize, written: usize) {
        match (u32::try_from(meant), u32::try_from(written)) {
            (Ok(meant), Ok(written)) => self.turns.push((meant, written)),
            _ => self.far_turns.push((meant, written)),
        }
    }

    /// Appends the decoded escape at the start, and returns its length.
    fn push_escape(&mut self, written: &[u8]) -> usize {
        if let Some((char, length)) = nested_escape(written) {
            self.bytes.push(char);
            return length;
        }
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
        let n_far = self.far_turns.partition_point(|(meant, _)| *meant <= at);
        let turn = match n_far.checked_sub(1) {
            Some(n) => self.far_turns.get(n).copied(),
            None => {
                let n_turns = self.turns.partition_point(|(meant, _)| *meant as usize <= at);
                let turn = n_turns.checked_sub(1).and_then(|n| self.turns.get(n));
                turn.map(|(meant, written)| (*meant as usize, *written as usize))
            }
        };
        turn.map_or(at, |(meant, written)| written.saturating_add(at.saturating_sub(meant)))
    }
}

/// Returns the character of an escape inside of JSON in a string, and its length: `\\u0078` is an
/// `x`. Returns `None` for anything but visible ASCII, since nobody escapes that needlessly but to
/// hide it.
fn nested_escape(written: &[u8]) -> Option<(u8, usize)> {
    /// Limit on the backslashes, for JSON in strings of JSON in strings.
    const MAX_BACKSLASHES: usize = 16;
    let is_backslash = |byte: &&u8| **byte == b'\\';
    let n = written.iter().take(MAX_BACKSLASHES).take_while(is_backslash).count();
    // An odd number ends with an escape of its own.
    if n == 0 || !n.is_multiple_of(2) {
        return None;
    }
    let (marker, rest) = written.get(n..)?.split_first()?;
    let digits = rest.get(..4).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
    let code = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    let is_visible = code.is_ascii_graphic() && !matches!(code, b'"' | b'\\');
    (*marker == b'u' && is_visible).then_some((code, n.saturating_add(5)))
}

#[cfg(test)]
mod tests {
    use super::Meaning;

    #[test]
    fn escapes_in_json_in_a_string_are_decoded() {
        let mut meaning = Meaning::default();
        for (written, meant) in [
            (r"\\u0078oxb", "xoxb"),
            (r"\\\\u0078oxb", "xoxb"),
            (r"\\\u0078oxb", r"\xoxb"),
            (r"\\u00e9", r"\u00e9"),
            (r"\\u0022", r"\u0022"),
            (r"\\u+078", r"\u+078"),
        ] {
            assert_eq!(meaning.decode(written.as_bytes()), meant.as_bytes(), "{written}");
        }
        meaning.decode(br"a\\u0078b");
        assert_eq!(meaning.written(&(1..2)), 1..8);
    }

    #[test]
    fn places_behind_4_gib_are_found() {
        let mut meaning = Meaning::default();
        let far = usize::MAX / 2;
        for (meant, written) in [(1, 6), (2, 12), (far, far + 10), (far + 1, far + 16)] {
            meaning.push_turn(meant, written);
        }
        assert_eq!((meaning.turns.len(), meaning.far_turns.len()), (2, 2));
        for (at, place) in
            [(0, 0), (1, 6), (3, 13), (far - 1, far + 9), (far, far + 10), (far + 3, far + 18)]
        {
            assert_eq!(meaning.written(&(at..at)), place..place);
        }
    }
}
