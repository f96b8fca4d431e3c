//! Scans the lines of a piece of an input and keeps them with their values, so that several passes
//! scan a line once.

use crate::{
    Error, ErrorKind, Line, Lines, Oddities, Result, Scanner, Value,
    scan::{node::Node, simd::Buffer},
    utf8,
};

/// Bytes of an input, their lines, and the value of each line.
///
/// ```
/// use jsonl::{Chunk, Scanner};
///
/// let chunk = Chunk::scan(b"{\"a\":1}\ntorn".to_vec(), 100, &mut Scanner::default());
/// let kinds: Vec<_> =
///     chunk.iter().map(|(line, value)| (line.offset(), value.is_ok())).collect();
/// assert_eq!(kinds, [(100, true), (108, false)]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Chunk {
    buffer: Buffer,
    offset: u64,
    nodes: Vec<Node>,
    entries: Vec<Entry>,
}

/// The typical number of bytes of a session per node.
const USUAL_BYTES_PER_NODE: usize = 32;

#[derive(Clone, Copy, Debug)]
struct Entry {
    end: usize,
    nodes_end: usize,
    oddities: Oddities,
    error: Option<Error>,
}

impl Chunk {
    /// Scans the lines of bytes that start at `offset` of an input.
    pub fn scan(bytes: Vec<u8>, offset: u64, scanner: &mut Scanner) -> Self {
        let mut chunk = Self { offset, ..Self::default() };
        chunk.buffer.replace(bytes);
        chunk.scan_rest(0, scanner);
        chunk
    }

    /// Scans at most `max_lines` lines of bytes that start at `offset` of an input, and returns the
    /// bytes after these lines.
    ///
    /// Each line takes 40 bytes, so newlines alone would take forty times their size.
    pub fn scan_some(
        bytes: Vec<u8>,
        offset: u64,
        max_lines: usize,
        scanner: &mut Scanner,
    ) -> (Self, Option<Vec<u8>>) {
        let mut chunk = Self { offset, ..Self::default() };
        chunk.buffer.replace(bytes);
        chunk.scan_lines(0, max_lines, scanner);
        let end = chunk.entries.last().map_or(0, |entry| entry.end);
        let rest = chunk.buffer.bytes().get(end..).filter(|rest| !rest.is_empty());
        let rest = rest.map(<[u8]>::to_vec);
        if rest.is_some() {
            chunk.buffer.truncate(end);
        }
        (chunk, rest)
    }

    /// Replaces the bytes with others, which start at `offset` of an input, and scans their lines.
    ///
    /// `read` fills a slice from its start and returns the number of bytes, 0 at the end. `room` is
    /// the expected number of bytes. The lines of each piece are scanned before the next piece is
    /// read, while they are in the cache. The reused buffer is cleared only once.
    ///
    /// Returns whether the input ended. With more than `max_values` values no other piece is read,
    /// because each value takes 12 bytes. A line counts as four values, because it takes 40 bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if `read` fails; the chunk is then empty.
    pub fn refill<E>(
        &mut self,
        offset: u64,
        scanner: &mut Scanner,
        room: usize,
        max_values: usize,
        mut read: impl FnMut(&mut [u8]) -> Result<usize, E>,
    ) -> Result<bool, E> {
        self.offset = offset;
        self.nodes.clear();
        self.entries.clear();
        self.buffer.clear();
        self.nodes.reserve(room / USUAL_BYTES_PER_NODE);
        loop {
            let start = self.buffer.bytes().len();
            match self.buffer.extend(room, &mut read) {
                Ok(is_all) => {
                    self.scan_rest(start, scanner);
                    if is_all || self.nodes.len() + 4 * self.entries.len() > max_values {
                        return Ok(is_all);
                    }
                }
                Err(error) => {
                    self.nodes.clear();
                    self.entries.clear();
                    self.buffer.clear();
                    return Err(error);
                }
            }
        }
    }

    /// Scans the lines from `start` on.
    fn scan_rest(&mut self, start: usize, scanner: &mut Scanner) {
        self.scan_lines(start, usize::MAX, scanner);
    }

    /// Scans some lines from `start` on.
    fn scan_lines(&mut self, start: usize, max_lines: usize, scanner: &mut Scanner) {
        let (bytes, text) = (self.buffer.bytes(), self.buffer.text());
        let rest = bytes.get(start..).unwrap_or_default();
        self.nodes.reserve(rest.len() / USUAL_BYTES_PER_NODE);
        for line in Lines::at(rest, self.offset + start as u64).take(max_lines) {
            let content = line.content();
            let base = line.offset_of(content).unwrap_or(line.offset());
            let text = text_of(&line, text, self.offset);
            let found = scanner.append_slice(content, text, base, &mut self.nodes);
            let (oddities, error) = match found {
                Ok(oddities) => (oddities, None),
                Err(error) => (Oddities::default(), Some(error)),
            };
            let end = (line.offset() - self.offset) as usize + line.bytes().len();
            self.entries.push(Entry { end, nodes_end: self.nodes.len(), oddities, error });
        }
    }

    /// Returns the number of bytes in the lines.
    pub fn len(&self) -> usize {
        self.buffer.bytes().len()
    }

    /// Returns whether the chunk has no line.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the errors of lines without a value.
    pub fn errors(&self) -> impl Iterator<Item = Error> {
        self.entries.iter().filter_map(|entry| entry.error)
    }

    /// Returns the lines and their values.
    pub fn iter(&self) -> impl Clone + Iterator<Item = (Line<'_>, Result<Value<'_>>)> {
        let (mut start, mut nodes_start) = (0, 0);
        let (bytes, text) = (self.buffer.bytes(), self.buffer.text());
        self.entries.iter().map(move |entry| {
            let line_bytes = bytes.get(start..entry.end).unwrap_or_default();
            let line = Line::new(line_bytes, self.offset + start as u64);
            let nodes = self.nodes.get(nodes_start..entry.nodes_end).unwrap_or_default();
            (start, nodes_start) = (entry.end, entry.nodes_end);
            let value = match (entry.error, text_of(&line, text, self.offset)) {
                (Some(error), _) => Err(error),
                (None, Some(text)) => Value::root(text, nodes, entry.oddities, line.offset()),
                // Another line is not UTF-8. Checking again is cheaper than storing it.
                (None, None) => match utf8::from_utf8(line.content()) {
                    Some(text) => Value::root(text, nodes, entry.oddities, line.offset()),
                    None => Err(Error { offset: line.offset(), kind: ErrorKind::InvalidUtf8 }),
                },
            };
            (line, value)
        })
    }
}

/// Returns the content of a line as a slice of the text that starts at `offset`.
fn text_of<'t>(line: &Line<'_>, text: Option<&'t str>, offset: u64) -> Option<&'t str> {
    let content = line.content();
    let start = (line.offset_of(content)? - offset) as usize;
    text?.get(start..start + content.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Refills a chunk from a reader that returns at most `step` bytes at a time.
    fn refill(chunk: &mut Chunk, input: &[u8], step: usize, room: usize) {
        let mut rest = input;
        let filled: Result<bool, ()> =
            chunk.refill(0, &mut Scanner::default(), room, usize::MAX, |free: &mut [u8]| {
                let n = step.min(rest.len()).min(free.len());
                let (head, tail) = rest.split_at(n);
                free[..n].copy_from_slice(head);
                rest = tail;
                Ok(n)
            });
        assert_eq!(filled, Ok(true));
    }

    #[test]
    fn the_same_lines_whatever_the_pieces() {
        let long = format!("{{\"a\":\"{}\"}}\n", "é".repeat(if cfg!(miri) { 50 } else { 300_000 }));
        let inputs: [&[u8]; 7] = [
            b"",
            b"\n",
            b"{\"a\":1}\r\n\n[2]",
            "\u{feff}{\"a\":\"\u{e9}\"}\ntorn\n[1,".as_bytes(),
            b"{\"a\":\"\xff\"}\n{\"b\":[1,{\"c\":null}]}\n",
            b"\xc3\n\xa9\n",
            long.as_bytes(),
        ];
        let mut chunk = Chunk::default();
        for input in inputs {
            for (step, room) in [(1, 0), (3, 7), (usize::MAX, 0), (usize::MAX, input.len() + 1)] {
                if input.len() / step > 10_000 {
                    continue;
                }
                refill(&mut chunk, input, step, room);
                let whole = Chunk::scan(input.to_vec(), 0, &mut Scanner::default());
                assert_eq!((chunk.len(), chunk.nodes.len()), (input.len(), whole.nodes.len()));
                for ((line, value), (other, expected)) in chunk.iter().zip(whole.iter()) {
                    assert_eq!(line, other);
                    match (value, expected) {
                        (Ok(value), Ok(expected)) => assert!(value.is_same_index(&expected)),
                        (value, expected) => assert_eq!(value.err(), expected.err()),
                    }
                }
                assert_eq!(chunk.iter().count(), lines_of(input));
            }
        }
    }

    fn lines_of(input: &[u8]) -> usize {
        crate::lines(input).count()
    }

    #[test]
    fn lines_are_scanned_some_at_a_time() {
        let (mut bytes, mut offset, mut seen) = (b"[1]\n\n\xff\n{}".to_vec(), 7, Vec::new());
        loop {
            let (chunk, rest) = Chunk::scan_some(bytes, offset, 3, &mut Scanner::default());
            assert!(chunk.entries.len() <= 3 && !chunk.is_empty());
            seen.extend(chunk.iter().map(|(line, value)| (line.offset(), value.is_ok())));
            offset += chunk.len() as u64;
            match rest {
                Some(rest) => bytes = rest,
                None => break,
            }
        }
        assert_eq!(seen, [(7, true), (11, false), (12, false), (14, true)]);
    }

    #[test]
    fn a_buffer_that_is_cut_within_a_character_is_not_text() {
        let text = |len: usize| {
            let mut buffer = Buffer::default();
            buffer.replace("a\né\n".as_bytes().to_vec());
            buffer.truncate(len);
            buffer.text().map(str::to_owned)
        };
        assert_eq!(text(9).as_deref(), Some("a\né\n"));
        assert_eq!(text(4).as_deref(), Some("a\né"));
        assert_eq!(text(3), None);
        assert_eq!(text(2).as_deref(), Some("a\n"));
        assert_eq!(text(0).as_deref(), Some(""));
    }

    #[test]
    fn with_enough_lines_no_more_is_read() {
        let (mut chunk, mut n_reads) = (Chunk::default(), 0);
        let is_all = chunk.refill(0, &mut Scanner::default(), 0, 80, |free: &mut [u8]| {
            n_reads += 1;
            free[..16].fill(b'\n');
            Ok::<_, ()>(16)
        });
        assert_eq!((is_all, n_reads, chunk.iter().count()), (Ok(false), 2, 32));
    }

    #[test]
    fn with_enough_values_no_more_is_read() {
        let (mut chunk, mut n_reads) = (Chunk::default(), 0);
        let is_all = chunk.refill(0, &mut Scanner::default(), 0, 21, |free: &mut [u8]| {
            n_reads += 1;
            free[..8].copy_from_slice(b"[1,2,3]\n");
            Ok::<_, ()>(8)
        });
        assert_eq!((is_all, n_reads, chunk.iter().count()), (Ok(false), 3, 3));
    }

    #[test]
    fn a_reader_that_fails_leaves_nothing() {
        let mut chunk = Chunk::scan(b"[1]\n".to_vec(), 0, &mut Scanner::default());
        let mut n_reads = 0;
        let result = chunk.refill(0, &mut Scanner::default(), 0, 9, |free: &mut [u8]| {
            n_reads += 1;
            free[0] = b'\n';
            if n_reads < 3 { Ok(1) } else { Err("enough") }
        });
        assert_eq!(result, Err("enough"));
        assert!(chunk.is_empty() && chunk.iter().next().is_none() && chunk.errors().count() == 0);
    }
}
