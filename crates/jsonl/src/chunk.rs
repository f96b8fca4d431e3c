//! Scans the lines of a piece of an input and keeps them with their values, so that several passes
//! scan a line once.

use crate::{
    Error, ErrorKind, Line, Lines, Oddities, Result, Scanner, Value,
    scan::{
        node::{Node, max_nodes},
        simd::Buffer,
    },
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

/// Limit on the lines of a window. Each takes 40 bytes, so newlines alone would take forty times their
/// size.
const MAX_LINES: usize = if cfg!(test) { 64 } else { 16 * 1024 };

/// The typical number of bytes of a session per node.
const USUAL_BYTES_PER_NODE: usize = 32;

/// The values whose memory a line takes: 40 bytes, and a value takes 12.
const VALUES_PER_LINE: usize = 4;

#[derive(Clone, Copy, Debug)]
struct Entry {
    end: usize,
    nodes_end: usize,
    oddities: Oddities,
    error: Option<Error>,
}

/// The first lines of bytes, and the bytes after them.
#[derive(Debug)]
pub struct FirstLines {
    /// The lines.
    pub chunk: Chunk,
    /// The bytes after the lines; `None` if there are none.
    pub rest: Option<Vec<u8>>,
}

impl Chunk {
    /// Scans the lines of bytes that start at `offset` of an input.
    pub fn scan(bytes: Vec<u8>, offset: u64, scanner: &mut Scanner) -> Self {
        let mut chunk = Self { offset, ..Self::default() };
        chunk.buffer.replace(bytes);
        chunk.scan_lines(0, usize::MAX, scanner);
        chunk
    }

    /// Scans at most `max_lines` lines of bytes that start at `offset` of an input. Returns the bytes
    /// after these lines in [`FirstLines::rest`].
    ///
    /// Each line takes 40 bytes, so newlines alone would take forty times their size.
    pub fn scan_some(
        bytes: Vec<u8>,
        offset: u64,
        max_lines: usize,
        scanner: &mut Scanner,
    ) -> FirstLines {
        let mut chunk = Self::default();
        let rest = chunk.scan_again(bytes, offset, max_lines, scanner);
        FirstLines { chunk, rest }
    }

    /// Does what [`Chunk::scan_some`] does, in the memory of other lines.
    pub fn scan_again(
        &mut self,
        bytes: Vec<u8>,
        offset: u64,
        max_lines: usize,
        scanner: &mut Scanner,
    ) -> Option<Vec<u8>> {
        self.rewind();
        self.offset = offset;
        self.buffer.replace(bytes);
        self.scan_lines(0, max_lines, scanner);
        let end = self.entries.last().map_or(0, |entry| entry.end);
        let rest = self.buffer.bytes().get(end..).filter(|rest| !rest.is_empty());
        let rest = rest.map(<[u8]>::to_vec);
        if rest.is_some() {
            self.buffer.truncate(end);
        }
        rest
    }

    /// Removes all lines and returns the memory of their bytes, which are undefined.
    pub fn take_buffer(&mut self) -> Vec<u8> {
        self.rewind();
        self.buffer.take()
    }

    /// Removes all bytes, so that [`Chunk::advance`] reads the start of an input.
    pub fn rewind(&mut self) {
        self.offset = 0;
        self.nodes.clear();
        self.entries.clear();
        self.buffer.clear();
    }

    /// Replaces the lines with the next ones of an input: about `size` bytes of whole lines, or more
    /// if a line is longer. Returns whether the input ended.
    ///
    /// `read` fills a slice from its start and returns the number of bytes, 0 at the end.
    ///
    /// ```
    /// use jsonl::{Chunk, Scanner};
    ///
    /// let (mut chunk, mut scanner) = (Chunk::default(), Scanner::default());
    /// let (mut input, mut seen) = (&b"{\"a\":1}\n[2]\ntorn"[..], Vec::new());
    /// loop {
    ///     let is_last = chunk.advance(&mut scanner, 10, |free| std::io::Read::read(&mut input, free))?;
    ///     seen.push(chunk.iter().map(|(line, _)| line.offset()).collect::<Vec<_>>());
    ///     if is_last {
    ///         break;
    ///     }
    /// }
    /// assert_eq!(seen, [vec![0], vec![8, 12]]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if `read` fails; the chunk is then empty.
    pub fn advance<E>(
        &mut self,
        scanner: &mut Scanner,
        size: usize,
        mut read: impl FnMut(&mut [u8]) -> Result<usize, E>,
    ) -> Result<bool, E> {
        self.offset += self.len() as u64;
        self.nodes.clear();
        self.entries.clear();
        match self.buffer.advance(size, &mut read) {
            Ok(is_last) => {
                self.scan_lines(0, MAX_LINES, scanner);
                let end = self.entries.last().map_or(0, |entry| entry.end);
                let is_all = end == self.len();
                if !is_all {
                    self.buffer.put_back(end);
                }
                Ok(is_last && is_all)
            }
            Err(error) => {
                self.rewind();
                Err(error)
            }
        }
    }

    /// Adds the lines of at most `size` more bytes of an input. They are scanned while they are in the
    /// cache of the CPU. `room` is the expected number of bytes of all lines. Returns whether the input
    /// ended.
    ///
    /// If [`Chunk::n_values`] is above `max_values` then, lines may be missing.
    ///
    /// ```
    /// use jsonl::{Chunk, Scanner};
    ///
    /// let (mut chunk, mut scanner) = (Chunk::default(), Scanner::default());
    /// let mut input = &b"{\"a\":1}\n[2]\ntorn"[..];
    /// let mut read = |free: &mut [u8]| std::io::Read::read(&mut input, free);
    /// while !chunk.extend(&mut scanner, 10, 16, 100, &mut read)? {}
    /// assert_eq!(chunk.iter().map(|(line, _)| line.offset()).collect::<Vec<_>>(), [0, 8, 12]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if `read` fails; the chunk is then empty.
    pub fn extend<E>(
        &mut self,
        scanner: &mut Scanner,
        size: usize,
        room: usize,
        max_values: usize,
        mut read: impl FnMut(&mut [u8]) -> Result<usize, E>,
    ) -> Result<bool, E> {
        let start = self.len();
        match self.buffer.extend(size, room, &mut read) {
            Ok(is_last) => {
                let max_lines = max_values.saturating_sub(self.n_values()) / VALUES_PER_LINE + 1;
                self.scan_lines(start, max_lines, scanner);
                Ok(is_last)
            }
            Err(error) => {
                self.rewind();
                Err(error)
            }
        }
    }

    /// Returns the number of values. A line counts as four more.
    pub fn n_values(&self) -> usize {
        self.nodes.len() + VALUES_PER_LINE * self.entries.len()
    }

    /// Returns the number of bytes that the chunk takes in memory.
    pub fn room(&self) -> usize {
        let nodes = self.nodes.capacity() * size_of::<Node>();
        self.buffer.room() + nodes + self.entries.capacity() * size_of::<Entry>()
    }

    /// Scans the first lines from `start` on.
    fn scan_lines(&mut self, start: usize, max_lines: usize, scanner: &mut Scanner) {
        let (bytes, text) = (self.buffer.bytes(), self.buffer.text());
        let fresh = bytes.get(start..).unwrap_or_default();
        self.nodes.reserve(n_usual(fresh.len()));
        for line in Lines::at(fresh, self.offset + start as u64).take(max_lines) {
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

    /// Returns the bytes of the lines.
    pub fn bytes(&self) -> &[u8] {
        self.buffer.bytes()
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

/// Returns the number of nodes to make room for before lines are scanned. A vector doubles when it is full, so this is the most
/// nodes of one line, halved to the usual number, and a sixteenth more: a long line of short values then takes room for its
/// limit, and not for up to twice as many.
///
/// In: 8,000,000 bytes, with 250,000 nodes as usual and 1,048,576 at most. Out: 278,528; doubled twice, 1,114,112.
fn n_usual(n_bytes: usize) -> usize {
    let usual = (n_bytes / USUAL_BYTES_PER_NODE).max(1);
    let halvings = (max_nodes(n_bytes) / usual).checked_ilog2().unwrap_or(0);
    let reserved = max_nodes(n_bytes) >> halvings;
    reserved + reserved / 16
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    type Seen = (u64, Vec<u8>, std::result::Result<usize, crate::ErrorKind>);

    /// Reads an input by windows of about `size` bytes, from a reader that returns at most `step`
    /// bytes at a time.
    fn windows(chunk: &mut Chunk, input: &[u8], step: usize, size: usize) -> Vec<Seen> {
        let (mut rest, mut seen, mut scanner) = (input, Vec::new(), Scanner::default());
        chunk.rewind();
        loop {
            let is_last = chunk.advance(&mut scanner, size, |free: &mut [u8]| {
                let n = step.min(rest.len()).min(free.len());
                let (head, tail) = rest.split_at(n);
                free[..n].copy_from_slice(head);
                rest = tail;
                Ok::<_, ()>(n)
            });
            seen.extend(seen_in(chunk));
            if is_last == Ok(true) {
                return seen;
            }
        }
    }

    #[test]
    fn a_line_of_short_values_takes_room_for_little_more_than_its_limit() {
        if cfg!(miri) {
            return;
        }
        assert_eq!(n_usual(8_000_000), 278_528);
        let line = format!("[{}1]", "1,".repeat(4_000_000));
        let chunk = Chunk::scan(line.into_bytes(), 0, &mut Scanner::default());
        assert!(chunk.nodes.capacity() <= 1_114_112, "{}", chunk.nodes.capacity());
    }

    #[test]
    fn the_same_lines_whatever_the_pieces() {
        let input = "\u{feff}{\"a\":\"\u{e9}\"}\ntorn\n\n[1,2]\r\n{\"b\":[1,{\"c\":null}]}\nend";
        let whole = Chunk::scan(input.as_bytes().to_vec(), 0, &mut Scanner::default());
        for (size, room) in [(1, 0), (3, 7), (10, 1_000), (1_000, input.len() + 1)] {
            let (mut chunk, mut rest) = (Chunk::default(), input.as_bytes());
            let mut scanner = Scanner::default();
            while !chunk
                .extend(&mut scanner, size, room, 1_000, |free| io::Read::read(&mut rest, free))
                .expect("a slice")
            {}
            assert_eq!(seen_in(&chunk), seen_in(&whole), "{size} {room}");
            assert_eq!(chunk.n_values(), whole.n_values());
        }
        // Too many lines are noticed before all of them have an entry.
        let (mut chunk, mut rest) = (Chunk::default(), &[b'\n'; 1_000][..]);
        let mut read = |free: &mut [u8]| io::Read::read(&mut rest, free);
        let is_last = chunk.extend(&mut Scanner::default(), 1_000, 1_001, 40, &mut read);
        assert!(!is_last.expect("a slice") && chunk.n_values() > 40);
        assert!(chunk.entries.len() < 20);
    }

    fn seen_in(chunk: &Chunk) -> Vec<Seen> {
        let of = |(line, value): (Line<'_>, Result<Value<'_>>)| {
            let value = value.map(|value| value.members().count()).map_err(|error| error.kind);
            (line.offset(), line.bytes().to_vec(), value)
        };
        chunk.iter().map(of).collect()
    }

    #[test]
    fn the_same_lines_whatever_the_windows() {
        let long = format!("{{\"a\":\"{}\"}}\n", "é".repeat(if cfg!(miri) { 50 } else { 3_000 }));
        let long = [&long, "{}\n", &long].concat();
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
            let whole = Chunk::scan(input.to_vec(), 0, &mut Scanner::default());
            for (step, size) in [(1, 1), (3, 7), (usize::MAX, 10), (usize::MAX, input.len() + 1)] {
                let seen = windows(&mut chunk, input, step, size);
                assert_eq!(seen, seen_in(&whole), "{step} {size}");
                assert_eq!(seen.len(), lines_of(input));
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
            let FirstLines { chunk, rest } =
                Chunk::scan_some(bytes, offset, 3, &mut Scanner::default());
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
    fn many_lines_are_several_windows() {
        let input = "\n{}\n".repeat(100);
        for size in [10, 100, 1_000] {
            let mut chunk = Chunk::default();
            let seen = windows(&mut chunk, input.as_bytes(), 7, size);
            let whole = Chunk::scan(input.clone().into_bytes(), 0, &mut Scanner::default());
            assert_eq!(seen, seen_in(&whole));
            assert!(chunk.entries.capacity() <= 2 * MAX_LINES, "{}", chunk.entries.capacity());
        }
    }

    #[test]
    fn a_reader_that_fails_leaves_nothing() {
        let mut chunk = Chunk::scan(b"[1]\n".to_vec(), 0, &mut Scanner::default());
        let mut n_reads = 0;
        let result = chunk.advance(&mut Scanner::default(), 9, |free: &mut [u8]| {
            n_reads += 1;
            free[0] = b'\n';
            if n_reads < 3 { Ok(1) } else { Err("enough") }
        });
        assert_eq!(result, Err("enough"));
        assert!(chunk.is_empty() && chunk.iter().next().is_none() && chunk.errors().count() == 0);
    }
}
