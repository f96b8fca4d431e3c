//! Runs of tiny source records that no written record shows: one entry for many of them.
//!
//! A file of eight million empty lines would otherwise need eight million entries, each with its
//! offset and its check. In: the records `\n`, `{}\n`, `\n` at offsets 120, 121 and 124. Out: one
//! entry at offset 120 that holds `\n{}\n\n`. [`lines_of`] cuts it into records again.

use jsonl::Line;

/// Limit on the bytes of a tiny line, with its newline. No client writes a record this short.
const MAX_TINY: usize = 32;

/// Limit on the bytes of a run.
const MAX_RUN: usize = 64 * 1024;

/// The number of tiny lines at the start of a run that get entries of their own.
const MIN_LINES: u64 = 32;

/// Adjacent tiny source lines.
#[derive(Debug, Default)]
pub(crate) struct Run {
    offset: u64,
    bytes: Vec<u8>,
    /// The number of adjacent tiny lines so far, and the offset after the last.
    n_lines: u64,
    end: u64,
}

impl Run {
    /// Counts a source line. Returns whether it belongs to the run: it is tiny, ends with a
    /// newline, and follows at least `MIN_LINES` others.
    pub(crate) fn notes(&mut self, line: &Line<'_>) -> bool {
        let bytes = line.bytes();
        let is_tiny = bytes.len() <= MAX_TINY && line.is_terminated() && bytes.is_ascii();
        let follows = is_tiny && self.end == line.offset();
        self.n_lines = if follows { self.n_lines + 1 } else { u64::from(is_tiny) };
        self.end = line.offset() + bytes.len() as u64;
        self.n_lines > MIN_LINES
    }

    /// Returns whether there is room for one more line.
    pub(crate) fn has_room(&self) -> bool {
        self.bytes.len() + MAX_TINY <= MAX_RUN
    }

    /// Adds a line of the run.
    pub(crate) fn push(&mut self, line: &Line<'_>) {
        if self.bytes.is_empty() {
            self.offset = line.offset();
        }
        self.bytes.extend_from_slice(line.bytes());
    }

    /// Returns the offset of the first line and the bytes of all; `None` without lines.
    pub(crate) fn get(&self) -> Option<(u64, &[u8])> {
        (!self.bytes.is_empty()).then_some((self.offset, &self.bytes))
    }

    /// Removes all lines.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }
}

/// Returns whether restored bytes are several lines, of which the first is tiny.
pub(crate) fn is_run(bytes: &[u8]) -> bool {
    let head = bytes.get(..MAX_TINY).unwrap_or(bytes);
    memchr::memchr(b'\n', head).is_some_and(|end| end + 1 < bytes.len())
}

/// Returns the lines of restored bytes, each with its newline.
pub(crate) fn lines_of(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_lines_that_follow_each_other_are_one_run() {
        let mut run = Run::default();
        for n in 0..MIN_LINES {
            assert!(!run.notes(&Line::new(b"\n", 7 + n)));
        }
        let start = 7 + MIN_LINES;
        for (bytes, offset) in [(&b"\n"[..], start), (b"{}\n", start + 1), (b"\r\n", start + 4)] {
            let line = Line::new(bytes, offset);
            assert!(run.notes(&line) && run.has_room());
            run.push(&line);
        }
        assert_eq!(run.get(), Some((start, &b"\n{}\n\r\n"[..])));
        run.clear();
        assert!(run.get().is_none());
        assert!(run.notes(&Line::new(b"\n", start + 6)));
        assert!(!run.notes(&Line::new(b"\n", start + 8)), "a gap");
        assert!(!run.notes(&Line::new(&[b' '; 40], start + 9)), "long");
    }

    #[test]
    fn a_run_is_known_by_its_first_line() {
        assert!(is_run(b"\n\n") && is_run(b"{}\n{\"a\":1}\n"));
        assert!(!is_run(b"\n") && !is_run(b"") && !is_run(b"{}"));
        assert!(!is_run(&[&[b'x'; 40][..], b"\n\n"].concat()));
        assert_eq!(lines_of(b"\n{}\nx").collect::<Vec<_>>(), [&b"\n"[..], b"{}\n", b"x"]);
    }
}
