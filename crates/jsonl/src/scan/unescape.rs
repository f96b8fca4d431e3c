//! Unescapes a JSON string, whole or character by character.
//!
//! In: `a\u00e9\ud800`. Out: `a`, `é`, and `None` for half a surrogate pair.

use super::same::others_of;

/// The bytes that are searched for a backslash at a time.
const PART: usize = 16;

/// Returns the unescaped body of a JSON string, with U+FFFD for lone surrogates, and whether it has none.
///
/// ```text
/// ls \"a b\"    ls "a b", true
/// \n\ud800      line feed, U+FFFD, false
/// ```
pub(crate) fn unescape(body: &str) -> (String, bool) {
    // No escape is shorter than its character.
    let mut bytes = vec![0; body.len()];
    let (length, is_whole) = unescape_into(body, &mut bytes);
    bytes.truncate(length);
    let text = String::from_utf8(bytes)
        // Never: parts of a text were copied, and whole characters.
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    (text, is_whole)
}

/// Unescapes the body of a JSON string into `room`, which is at least as long. Returns the number of bytes written,
/// and whether there is no lone surrogate.
pub(crate) fn unescape_into(body: &str, room: &mut [u8]) -> (usize, bool) {
    let bytes = body.as_bytes();
    let mut out = Unescaped { bytes: room, length: 0, is_whole: true };
    let mut at = out.push_parts::<{ 2 * PART }>(body, 0, |part| {
        let (parts, _) = part.as_chunks::<PART>();
        parts.iter().rev().fold(0, |mask, part| mask << PART | u32::from(others_of(part, false)))
    });
    at = out.push_parts::<PART>(body, at, |part| u32::from(others_of(part, false)));
    while let Some(byte) = bytes.get(at).copied() {
        if byte == b'\\' {
            at = out.push_escaped(body, at);
        } else {
            out.push(byte);
            at += 1;
        }
    }
    (out.length, out.is_whole)
}

/// The unescaped start of a body.
struct Unescaped<'r> {
    bytes: &'r mut [u8],
    /// The number of bytes that are written.
    length: usize,
    /// Whether there was no lone surrogate.
    is_whole: bool,
}

impl Unescaped<'_> {
    /// Appends the characters from an offset on while a part of `N` bytes is left, and returns the offset behind them.
    /// `backslashes` returns a bit for each backslash of a part, the first byte lowest.
    #[inline(always)]
    fn push_parts<const N: usize>(
        &mut self,
        body: &str,
        start: usize,
        backslashes: impl Fn(&[u8; N]) -> u32,
    ) -> usize {
        let bytes = body.as_bytes();
        let mut at = start;
        while let Some(part) = bytes.get(at..).and_then(<[u8]>::first_chunk::<N>)
            && let Some(place) =
                self.bytes.get_mut(self.length..).and_then(<[u8]>::first_chunk_mut::<N>)
        {
            // To copy a whole part is faster than a length that varies. What is too much is written over.
            *place = *part;
            let backslashes = backslashes(part);
            let n_plain = N.min(backslashes.trailing_zeros() as usize);
            self.length += n_plain;
            at += n_plain;
            if backslashes != 0 {
                at = self.push_escaped(body, at);
            }
        }
        at
    }

    #[inline]
    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }

    /// Appends the character of the escape at `at`. Returns the offset after the escape.
    #[inline]
    fn push_escaped(&mut self, body: &str, at: usize) -> usize {
        let byte = match body.as_bytes().get(at + 1) {
            Some(b'n') => b'\n',
            Some(byte @ (b'"' | b'\\' | b'/')) => *byte,
            Some(b't') => b'\t',
            _ => return self.push_char(body, at),
        };
        self.push(byte);
        at + 2
    }

    /// Appends the character at `at` as [`Unescape`] reads it. Returns the offset after it.
    #[cold]
    fn push_char(&mut self, body: &str, at: usize) -> usize {
        let mut chars = Unescape::new(body.get(at..).unwrap_or_default());
        let char = chars.next().flatten();
        self.is_whole &= char.is_some();
        let char = char.unwrap_or(char::REPLACEMENT_CHARACTER);
        for byte in char.encode_utf8(&mut [0; 4]).bytes() {
            self.push(byte);
        }
        body.len() - chars.rest().len()
    }
}

/// Unescapes the body of a JSON string, one character at a time. Half a surrogate pair is `None`.
#[derive(Clone, Debug)]
pub struct Unescape<'l> {
    rest: &'l str,
}

impl<'l> Unescape<'l> {
    /// Creates an iterator over a body: the characters between the quotes of a valid JSON string.
    pub fn new(body: &'l str) -> Self {
        Self { rest: body }
    }

    fn code_unit(&self) -> Option<u32> {
        let digits = self.rest.strip_prefix("\\u")?.get(..4)?;
        u32::from_str_radix(digits, 16).ok()
    }

    /// Returns the characters that have not been read, as written.
    pub fn rest(&self) -> &'l str {
        self.rest
    }

    fn skip(&mut self, n: usize) {
        self.rest = self.rest.get(n..).unwrap_or_default();
    }
}

impl Iterator for Unescape<'_> {
    type Item = Option<char>;

    fn next(&mut self) -> Option<Option<char>> {
        let first = self.rest.chars().next()?;
        if first != '\\' {
            self.skip(first.len_utf8());
            return Some(Some(first));
        }
        if let Some(unit) = self.code_unit() {
            self.skip(6);
            if !(0xd800..0xdc00).contains(&unit) {
                return Some(char::from_u32(unit));
            }
            let low = self.code_unit().filter(|low| (0xdc00..0xe000).contains(low));
            let pair = low
                .and_then(|low| char::from_u32(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)));
            if pair.is_some() {
                self.skip(6);
            }
            return Some(pair);
        }
        let escaped = self.rest.as_bytes().get(1).copied();
        self.skip(2);
        Some(Some(match escaped {
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(byte) => char::from(byte),
            None => '\\',
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_strings_are_unescaped_as_their_characters_are() {
        let pieces = [
            "a",
            "0123456789abcdef",
            "\\n",
            "\\\"",
            "\\\\",
            "\\/",
            "\\b",
            "\\f",
            "\\r",
            "\\t",
            "é",
            "🎉",
            "\\u00e9",
            "\\ud83c\\udf89",
            "\\ud83c",
            "\\uDF89",
            "\\u0000",
            "x",
        ];
        let mut state = 1_usize;
        for _ in 0..if cfg!(miri) { 60 } else { 20_000 } {
            let mut body = String::new();
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            for _ in 0..(state >> 40) % 20 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                body.push_str(pieces[(state >> 33) % pieces.len()]);
            }
            let chars: Vec<_> = Unescape::new(&body).collect();
            let expected: String = chars.iter().map(|char| char.unwrap_or('\u{fffd}')).collect();
            let is_whole = chars.iter().all(Option::is_some);
            assert_eq!(unescape(&body), (expected, is_whole), "{body}");
        }
    }
}
