//! A buffer that unescapes one text after the other, and keeps its memory.
//!
//! In: `"a\n"`, then `"b"`. Out: `a` with a line feed, then `b` in the same memory.

use crate::{Text, scan::unescape_into, text::has_backslash, utf8::from_utf8};

/// An unescaped text, in memory that the next text takes again.
///
/// ```
/// let mut buf = jsonl::TextBuf::default();
/// for (written, expected) in [(r#""a\tb""#, "a\tb"), (r#""\ud83c\udf89""#, "🎉"), (r#""c""#, "c")] {
///     let text = jsonl::Text::new(written).expect("a string");
///     assert_eq!(buf.decode(text), expected);
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct TextBuf {
    /// The text, and behind it bytes of earlier texts.
    bytes: Vec<u8>,
    length: usize,
}

impl TextBuf {
    /// Returns a string unescaped, with U+FFFD for lone surrogates, as [`Text::decode`] does. If it has escapes, it
    /// replaces the text of the buffer.
    #[inline]
    pub fn decode<'b>(&'b mut self, text: Text<'b>) -> &'b str {
        let body = text.body();
        if !has_backslash(body.as_bytes()) {
            return body;
        }
        self.clear();
        self.push_text(text);
        self.as_str()
    }

    /// Removes the text.
    pub fn clear(&mut self) {
        self.length = 0;
    }

    /// Appends a string, unescaped, with U+FFFD for lone surrogates.
    pub fn push_text(&mut self, text: Text<'_>) {
        let body = text.body();
        let (length, _) = unescape_into(body, self.room(body.len()));
        self.length += length;
    }

    /// Appends a text as it is.
    pub fn push_str(&mut self, text: &str) {
        self.room(text.len()).copy_from_slice(text.as_bytes());
        self.length += text.len();
    }

    /// Returns the bytes of the text, to change them. If they are no UTF-8 afterwards, the text is empty.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.bytes.get_mut(..self.length).unwrap_or_default()
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        // Whole characters were appended, so that the bytes are UTF-8 unless they were changed.
        self.bytes.get(..self.length).and_then(from_utf8).unwrap_or_default()
    }

    /// Returns a number of bytes behind the text.
    fn room(&mut self, length: usize) -> &mut [u8] {
        let end = self.length + length;
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes.get_mut(self.length..end).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_follow_one_another_in_the_same_memory() {
        let mut buf = TextBuf::default();
        for written in [r#""a long text that is \"unescaped\"\n""#, r#""\u00e9\ud800""#, r#""""#] {
            let text = Text::new(written).expect("a string");
            buf.clear();
            buf.push_text(text);
            assert_eq!(buf.as_str(), text.decode());
            buf.push_str("\né");
            buf.push_text(text);
            assert_eq!(buf.as_str(), format!("{0}\né{0}", text.decode()));
            assert_eq!(buf.decode(text), text.decode());
        }
    }
}
