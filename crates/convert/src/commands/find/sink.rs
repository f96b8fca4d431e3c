//! Joins the lines of files: blank lines before headings, `--` between groups, and a limit on hits.
//!
//! In: `1 Title`, `7: hit`, `2 8- after`, `1 Title`, where the digits are [`Mark`]s. Out: `Title`,
//! `7: hit`, `8- after`, a blank line, `Title`.
//!
//! Files are searched on several threads, and their lines come here in order. A line that is no hit
//! starts with a mark: a control character, which no line has, since text of logs is escaped.

use std::io::{self, Write};

/// The kind of a line that is no hit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub(super) enum Mark {
    /// A heading. A blank line precedes it, unless it is the first line.
    Heading = 1,
    /// A line after a hit.
    After = 2,
    /// A line before a hit.
    Before = 3,
    /// A line between groups. It is left out at the start.
    Separator = 4,
}

impl Mark {
    const ALL: [Mark; 4] = [Mark::Heading, Mark::After, Mark::Before, Mark::Separator];

    /// Returns the mark as the first byte of a line.
    pub(super) fn byte(self) -> u8 {
        self as u8
    }

    fn of(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|mark| mark.byte() == byte)
    }
}

/// A sink that accepts a limited number of hits, and the lines after the last one. Then it fails as
/// a closed pipe does.
pub(super) struct Sink<W> {
    pub(super) sink: W,
    /// The number of hits that are still printed; `None` for all.
    pub(super) n_left: Option<u64>,
    is_in_line: bool,
    /// The kind of the line that was begun.
    mark: Option<Mark>,
    has_lines: bool,
}

impl<W: Write> Sink<W> {
    /// Creates a sink for a number of hits.
    pub(super) fn new(sink: W, n_left: Option<u64>) -> Self {
        Self { sink, n_left, is_in_line: false, mark: None, has_lines: false }
    }

    /// Starts a line. Returns the number of bytes of its mark.
    fn start(&mut self, first: Option<&u8>) -> io::Result<usize> {
        self.mark = first.and_then(|byte| Mark::of(*byte));
        if self.n_left == Some(0) && self.mark != Some(Mark::After) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if self.mark == Some(Mark::Heading) && self.has_lines {
            self.sink.write_all(b"\n")?;
        }
        self.is_in_line = true;
        Ok(usize::from(self.mark.is_some()))
    }
}

impl<W: Write> Write for Sink<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        let n_mark = if self.is_in_line { 0 } else { self.start(bytes.first())? };
        let end = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |newline| newline + 1);
        let line = bytes.get(n_mark..end).unwrap_or_default();
        if self.mark != Some(Mark::Separator) || self.has_lines {
            self.sink.write_all(line)?;
        }
        if line.ends_with(b"\n") {
            self.is_in_line = false;
            self.has_lines = true;
            if let (None, Some(n_left)) = (self.mark, &mut self.n_left) {
                *n_left -= 1;
            }
        }
        Ok(end)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(lines: &str, n_left: Option<u64>, piece: usize) -> String {
        let mut sink = Sink::new(Vec::new(), n_left);
        for bytes in lines.as_bytes().chunks(piece) {
            if sink.write_all(bytes).is_err() {
                break;
            }
        }
        String::from_utf8(sink.sink).expect("text")
    }

    #[test]
    fn groups_are_separated_and_hits_limited() {
        for piece in [1, 3, 100] {
            let groups = "\u{1}A\n1:\n\u{2}2-\n\u{4}--\n9:\n\u{1}B\n1:\n";
            assert_eq!(printed(groups, None, piece), "A\n1:\n2-\n--\n9:\n\nB\n1:\n");
            assert_eq!(printed(groups, Some(1), piece), "A\n1:\n2-\n");
            assert_eq!(printed("\u{4}--\n1:\n\u{4}--\n2:\n", Some(2), piece), "1:\n--\n2:\n");
            assert_eq!(printed("1:\n2:\n", Some(0), piece), "");
        }
    }
}
