//! Lines of a reader, through one reused buffer that grows to the longest line.

use std::io::{self, Read};

use memchr::memchr;

use crate::Line;

/// How many bytes are asked for first: whoever wants but the first line pays for no more.
const FIRST: usize = if cfg!(miri) { 16 } else { 16 * 1024 };

/// How many are asked for at a time where there are many.
const CAPACITY: usize = if cfg!(miri) { 64 } else { 256 * 1024 };

/// From this length on a buffer grows by a quarter rather than to the double.
const LARGE: usize = 16 * 1024 * 1024;

/// The lines of a reader.
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
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    offset: u64,
    done: bool,
}

impl<R: Read> Stream<R> {
    /// Creates a stream of lines.
    pub fn new(reader: R) -> Self {
        Self { reader, buffer: vec![0; FIRST], start: 0, end: 0, offset: 0, done: false }
    }

    /// Returns the next line, or `None` at the end of the input.
    ///
    /// # Errors
    ///
    /// The reader's own. Lines read before the error have been returned.
    #[expect(clippy::should_implement_trait, reason = "the line borrows from the stream")]
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut searched = self.start;
        let end = loop {
            if let Some(at) = memchr(b'\n', &self.buffer[searched..self.end]) {
                break searched + at + 1;
            }
            searched = self.end;
            if self.done {
                break self.end;
            }
            searched -= self.make_room();
            let n = match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(n) => n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.done = n == 0;
            self.end += n;
        };
        let bytes = &self.buffer[self.start..end];
        let line = Line::new(bytes, self.offset);
        self.start = end;
        self.offset += bytes.len() as u64;
        Ok((!bytes.is_empty()).then_some(line))
    }

    /// Moves the rest to the front, grows a full buffer, and returns how far the rest moved.
    fn make_room(&mut self) -> usize {
        let moved = self.start;
        // A reader that filled the buffer has more.
        let was_filled = self.end == self.buffer.len() && moved > 0;
        if moved > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= moved;
            self.start = 0;
        }
        let length = self.buffer.len();
        if self.end == length || was_filled && length < CAPACITY {
            // A long line must not cost much more than its length.
            let more = if length < LARGE { length } else { length / 4 };
            self.buffer.reserve_exact(more);
            self.buffer.resize(length + more, 0);
        }
        moved
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
