//! Reads lines through one reused buffer that grows to the longest line.
//!
//! In: a reader that returns `a\nb` and then `c\n`. Out: the lines `a\n` and `bc\n`.

use std::io::{self, Read};

use memchr::memchr;

use crate::Line;

/// Size of the first read in bytes. It is small, for callers that need only the first line.
const FIRST: usize = if cfg!(miri) { 16 } else { 16 * 1024 };

/// Size of later reads in bytes.
const CAPACITY: usize = if cfg!(miri) { 64 } else { 256 * 1024 };

/// Length in bytes from which a buffer shrinks again.
const LONG: usize = if cfg!(any(miri, test)) { 1024 } else { 4 * 1024 * 1024 };

/// Length in bytes from which a buffer grows by a quarter instead of doubling. It grows in place with most allocators.
const LARGE: usize = 1024 * 1024;

/// The lines of a reader.
///
/// A line is kept whole, so that its memory has no limit but the line's length. For input of a stranger,
/// read through a reader with a limit, such as `storage::Metered`.
///
/// ```
/// let mut stream = jsonl::Stream::new(&b"one\ntwo"[..]);
/// let mut offsets = Vec::new();
/// while let Some(line) = stream.next()? {
///     offsets.push((line.offset(), line.bytes().len()));
/// }
/// assert_eq!(offsets, [(0, 4), (4, 3)]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Stream<R> {
    reader: R,
    buffer: Buffer,
    offset: u64,
    n_lines: u64,
    done: bool,
}

impl<R: Read> Stream<R> {
    /// Creates a stream of lines.
    pub fn new(reader: R) -> Self {
        Self { reader, buffer: Buffer::new(), offset: 0, n_lines: 0, done: false }
    }

    /// Returns the next line, or `None` at the end of the input.
    ///
    /// # Errors
    ///
    /// Returns an error if the reader fails. The lines before the error have been returned.
    #[expect(clippy::should_implement_trait, reason = "the line borrows from the stream")]
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let length = self.read_line()?;
        Ok(self.take(length))
    }

    /// Returns the next line that is not blank, with its number from 1; `None` at the end of the
    /// input.
    ///
    /// ```
    /// let mut stream = jsonl::Stream::new(&b"\n  \n{}\n"[..]);
    /// assert_eq!(stream.next_filled()?.map(|(number, line)| (number, line.offset())), Some((3, 4)));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the reader fails.
    pub fn next_filled(&mut self) -> io::Result<Option<(u64, Line<'_>)>> {
        loop {
            let length = self.read_line()?;
            let bytes = self.buffer.held().get(..length).unwrap_or_default();
            if length == 0 || !Line::new(bytes, self.offset).is_blank() {
                let number = self.n_lines + 1;
                return Ok(self.take(length).map(|line| (number, line)));
            }
            self.take(length);
        }
    }

    /// Reads to the end of the next line and returns its length; 0 at the end of the input.
    fn read_line(&mut self) -> io::Result<usize> {
        self.buffer.shrink();
        let mut n_searched = 0;
        loop {
            let held = self.buffer.held();
            let fresh = held.get(n_searched..).unwrap_or_default();
            if let Some(at) = memchr(b'\n', fresh) {
                return Ok(n_searched + at + 1);
            }
            n_searched = held.len();
            if self.done {
                return Ok(n_searched);
            }
            match self.buffer.read_more(&mut self.reader) {
                Ok(n) => self.done = n == 0,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Consumes and returns a line that was read; `None` if it is empty.
    fn take(&mut self, length: usize) -> Option<Line<'_>> {
        let bytes = self.buffer.take(length);
        let line = Line::new(bytes, self.offset);
        self.offset += bytes.len() as u64;
        self.n_lines += u64::from(!bytes.is_empty());
        (!bytes.is_empty()).then_some(line)
    }
}

/// Bytes that were read and not consumed yet, followed by free space.
#[derive(Debug)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    /// The range of the held bytes. It is valid within the buffer.
    start: usize,
    end: usize,
}

impl Buffer {
    pub(crate) fn new() -> Self {
        Self { bytes: vec![0; FIRST], start: 0, end: 0 }
    }

    /// Returns the bytes that were read and not consumed yet.
    pub(crate) fn held(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// Consumes held bytes from the start.
    pub(crate) fn take(&mut self, length: usize) -> &[u8] {
        let start = self.start;
        self.start = self.end.min(start + length);
        self.bytes.get(start..self.start).unwrap_or_default()
    }

    /// Frees the room of a long line that was consumed, if little is held. A reader of files fills the buffer between
    /// long lines.
    pub(crate) fn shrink(&mut self) {
        let n_held = self.end - self.start;
        if self.bytes.len() > LONG && n_held < self.bytes.len() / 8 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, n_held);
            self.bytes.truncate(n_held.max(FIRST));
            self.bytes.shrink_to_fit();
        }
    }

    /// Reads bytes behind the held ones, and returns their number.
    pub(crate) fn read_more(&mut self, reader: &mut impl Read) -> io::Result<usize> {
        self.make_room();
        let free = self.bytes.get_mut(self.end..).unwrap_or_default();
        let n = reader.read(free)?.min(free.len());
        self.end += n;
        Ok(n)
    }

    /// Moves the held bytes to the front, and grows a full buffer.
    fn make_room(&mut self) {
        let moved = self.start;
        // A reader that filled the buffer has more.
        let was_filled = self.end == self.bytes.len() && moved > 0;
        if moved > 0 {
            self.bytes.copy_within(moved..self.end, 0);
            self.end -= moved;
            self.start = 0;
        }
        let length = self.bytes.len();
        if self.end == length || was_filled && length < CAPACITY {
            // The buffer must not be much larger than a long line.
            let more = if length < LARGE { length } else { length / 4 };
            self.bytes.reserve_exact(more);
            self.bytes.resize(length + more, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that returns its bytes a few at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = self.1.min(self.0.len()).min(buffer.len());
            buffer[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    #[test]
    fn the_room_of_a_long_line_is_freed() {
        let long = [vec![b'x'; CAPACITY * 3], b"\nshort\nshort\n".to_vec()].concat();
        let mut stream = Stream::new(Slow(&long, CAPACITY * 3 + 3));
        let mut rooms = Vec::new();
        while let Some(line) = stream.next().expect("no errors") {
            let length = line.bytes().len();
            rooms.push((length, stream.buffer.bytes.capacity()));
        }
        assert!(rooms[0].0 > CAPACITY * 3 && rooms[0].1 >= rooms[0].0);
        assert!(rooms[1..].iter().all(|(length, room)| *length == 6 && *room <= 2 * FIRST));
    }

    #[test]
    fn the_same_lines_as_of_a_slice() {
        let long = [vec![b'x'; CAPACITY * 3], b"\nshort\r\n\n".to_vec(), vec![b'y'; 10]].concat();
        for input in [&b""[..], b"\n", b"a", b"a\nb", &long] {
            for step in [1, 7, 100_000] {
                if input.len() / step > 100_000 {
                    continue;
                }
                let mut stream = Stream::new(Slow(input, step));
                let mut seen = Vec::new();
                while let Some(line) = stream.next().expect("no errors") {
                    seen.push((line.offset(), line.bytes().to_vec()));
                }
                let expected: Vec<_> = crate::lines(input)
                    .map(|line| (line.offset(), line.bytes().to_vec()))
                    .collect();
                assert_eq!(seen, expected);
            }
        }
    }
}
