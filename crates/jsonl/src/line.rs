//! Lines of a byte slice, each with its terminator, so that all lines joined are the input.
//!
//! In: `a\r\nb`. Out: a line with the bytes `a\r\n` and the content `a`, and a line `b` at offset
//! 3.

use memchr::memchr;

/// A line of the input: its bytes with the terminator, and its offset.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Line<'l> {
    bytes: &'l [u8],
    offset: u64,
    unit: Unit,
}

/// The part of an input that a [`Line`] is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Unit {
    /// A line.
    #[default]
    Line,
    /// A piece of a damaged line.
    Piece,
    /// A record of a document.
    Record,
    /// A piece of a damaged record of a document.
    RecordPiece,
    /// The bytes between records of a document, or before the first or behind the last one.
    Glue,
    /// The same bytes of a document that ends there without being complete.
    TornGlue,
}

impl<'l> Line<'l> {
    /// Creates a line from its bytes, terminator included, and its offset in the input.
    pub fn new(bytes: &'l [u8], offset: u64) -> Self {
        Self { bytes, offset, unit: Unit::Line }
    }

    /// Creates a part of an input.
    pub fn of_unit(bytes: &'l [u8], offset: u64, unit: Unit) -> Self {
        Self { bytes, offset, unit }
    }

    /// Returns the part of the input that this is.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// Returns whether this is the glue around the records of a document.
    pub fn is_glue(&self) -> bool {
        matches!(self.unit, Unit::Glue | Unit::TornGlue)
    }

    /// Returns whether this is glue of commas, closing brackets and blanks alone.
    pub fn is_punctuation(&self) -> bool {
        let is_between =
            |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n');
        self.unit == Unit::Glue && self.bytes.iter().all(is_between)
    }

    /// Returns whether this is a part of a document, whose values may go over several lines.
    pub fn is_in_document(&self) -> bool {
        !matches!(self.unit, Unit::Line | Unit::Piece)
    }

    /// Creates a piece of this damaged line, which is processed as a line. Only the last piece has
    /// the terminator.
    pub(crate) fn piece(&self, bytes: &'l [u8], offset: u64) -> Self {
        let unit = if self.is_in_document() { Unit::RecordPiece } else { Unit::Piece };
        Self { bytes, offset, unit }
    }

    /// Returns whether this is a piece of a damaged line, as [`recover`](crate::recover) cuts it.
    pub fn is_piece(&self) -> bool {
        matches!(self.unit, Unit::Piece | Unit::RecordPiece)
    }

    /// Returns the bytes of the line, terminator included.
    pub fn bytes(&self) -> &'l [u8] {
        self.bytes
    }

    /// Returns the offset of the first byte from the start of the input.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the offset of the end of the line.
    pub fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }

    /// Returns the bytes without terminator (`\n` or `\r\n`) and, on the first line, without BOM.
    pub fn content(&self) -> &'l [u8] {
        let bytes = self.bytes.strip_suffix(b"\n").unwrap_or(self.bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        match (self.offset, bytes.strip_prefix(b"\xef\xbb\xbf")) {
            (0, Some(rest)) => rest,
            _ => bytes,
        }
    }

    /// Returns whether the line ends with a newline. The last line of an input may lack one, and
    /// all pieces of a line except the last do.
    pub fn is_terminated(&self) -> bool {
        self.bytes.last() == Some(&b'\n')
    }

    /// Returns whether the line contains only JSON white space.
    pub fn is_blank(&self) -> bool {
        self.content().iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
    }

    /// Returns the offset of a slice of this line from the start of the input; `None` if the slice is no part of the line
    /// in memory.
    pub fn offset_of(&self, slice: &[u8]) -> Option<u64> {
        let start = (slice.as_ptr() as usize).checked_sub(self.bytes.as_ptr() as usize)?;
        (start + slice.len() <= self.bytes.len()).then_some(self.offset + start as u64)
    }
}

/// The lines of a slice.
#[derive(Clone, Debug)]
pub struct Lines<'l> {
    rest: &'l [u8],
    offset: u64,
}

impl<'l> Lines<'l> {
    /// Creates the lines of bytes that start at `offset` of an input.
    pub fn at(bytes: &'l [u8], offset: u64) -> Self {
        Self { rest: bytes, offset }
    }
}

impl<'l> Iterator for Lines<'l> {
    type Item = Line<'l>;

    fn next(&mut self) -> Option<Line<'l>> {
        if self.rest.is_empty() {
            return None;
        }
        let (bytes, rest) = self.rest.split_at(first_line(self.rest));
        let line = Line::new(bytes, self.offset);
        self.rest = rest;
        self.offset += bytes.len() as u64;
        Some(line)
    }
}

/// Returns the length of the first line, terminator included.
fn first_line(bytes: &[u8]) -> usize {
    memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1)
}

/// Returns the lines of `bytes`. Only `\n` ends a line. A `\r` at the end of a line is not part of its
/// content; any other `\r` is. Blank lines are lines too.
///
/// ```
/// let lines: Vec<_> = jsonl::lines(b"a\r\n\nb").map(|line| line.bytes()).collect();
/// assert_eq!(lines, [&b"a\r\n"[..], b"\n", b"b"]);
/// ```
pub fn lines(bytes: &[u8]) -> Lines<'_> {
    Lines::at(bytes, 0)
}

/// Returns the lines of `bytes` in chunks of about `size` bytes, cut only between lines.
///
/// ```
/// let chunks = jsonl::chunks(b"one\ntwo\nthree\n", 5);
/// assert_eq!(chunks.len(), 2);
/// assert_eq!(chunks.into_iter().flatten().count(), 3);
/// ```
pub fn chunks(bytes: &[u8], size: usize) -> Vec<Lines<'_>> {
    let mut chunks = Vec::new();
    let mut rest = Lines::at(bytes, 0);
    while !rest.rest.is_empty() {
        let (head, tail) = rest.rest.split_at(size.saturating_sub(1).min(rest.rest.len()));
        let (chunk, after) = rest.rest.split_at(head.len() + first_line(tail));
        chunks.push(Lines::at(chunk, rest.offset));
        rest = Lines::at(after, rest.offset + chunk.len() as u64);
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_joined_are_the_input() {
        for input in [&b""[..], b"\n", b"\n\n", b"a", b"a\n", b"a\r\nb", b"\r", b"\xff\x00\n\xe2"] {
            let joined: Vec<u8> = lines(input).flat_map(|line| line.bytes().to_vec()).collect();
            assert_eq!(joined, input);
            for size in 1..8 {
                let chunked: Vec<_> = chunks(input, size).into_iter().flatten().collect();
                assert_eq!(chunked, lines(input).collect::<Vec<_>>(), "{input:?} by {size}");
            }
        }
    }

    #[test]
    fn only_the_first_line_has_a_byte_order_mark() {
        let contents: Vec<_> =
            lines(b"\xef\xbb\xbf{}\r\n\xef\xbb\xbf{}\n").map(|line| line.content()).collect();
        assert_eq!(contents, [&b"{}"[..], b"\xef\xbb\xbf{}"]);
    }

    #[test]
    fn offsets_of_slices() {
        let line = lines(b"xx\nabcd\n").nth(1).expect("two lines");
        assert_eq!(line.offset_of(&line.bytes()[2..4]), Some(5));
        assert_eq!(line.offset_of(b"elsewhere"), None);
    }
}
