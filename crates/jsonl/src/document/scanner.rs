//! Scans units of a document: glue is completed with the containers around it.
//!
//! In: the glue `],"total":7}` and the path `messages`. Out: the value `{"messages":[],"total":7}`.

use super::splitter::{Splitter, Step, steps_of};
use crate::{
    Error, ErrorKind, Line, LineBuf, Result, Scanner, Value, line::Unit, line_buf::LineIndex,
    recover::BYTE_ORDER_MARK, validate,
};

/// The size of the buffers in bytes that are kept for the next unit when an index was moved to its line.
const MAX_SPARE: usize = 1024 * 1024;

/// Scans units: lines and records as they are, glue as the document without its records.
///
/// ```
/// use jsonl::{Line, Unit, UnitScanner};
///
/// let mut scanner = UnitScanner::default();
/// let glue = Line::of_unit(br#"],"total":7}"#, 900, Unit::Glue);
/// let (_, value) = scanner.scan(&glue, &["messages"]);
/// assert_eq!(value?.raw().as_str(), r#"{"messages":[],"total":7}"#);
/// # Ok::<(), jsonl::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct UnitScanner {
    scanner: Scanner,
    scratch: Vec<u8>,
}

impl UnitScanner {
    /// Validates a unit of a document with records at these paths. Returns its value, and the unit
    /// again, of which the value is a slice.
    ///
    /// # Errors
    ///
    /// The value is an error as [`Scanner::scan`] returns it. Commas, blanks and closing brackets
    /// alone are [`ErrorKind::Empty`].
    pub fn scan<'s>(
        &'s mut self,
        line: &Line<'s>,
        paths: &[&'static str],
    ) -> (Line<'s>, Result<Value<'s>>) {
        if !line.is_glue() {
            return (*line, self.scanner.scan(line));
        }
        if is_separator(line) {
            return (*line, Err(Error { offset: line.offset(), kind: ErrorKind::Empty }));
        }
        self.scan_completed(line, paths)
    }

    /// Does what [`UnitScanner::scan`] does for glue that has more than commas and blanks; `None` for other units. The
    /// unit that is returned is in the memory of the scanner, so that the memory of a long one can be freed
    /// ([`Document::shrink`](crate::Document::shrink)).
    pub fn scan_glue<'s>(
        &'s mut self,
        line: &Line<'_>,
        paths: &[&'static str],
    ) -> Option<(Line<'s>, Result<Value<'s>>)> {
        (line.is_glue() && !is_separator(line)).then(|| self.scan_completed(line, paths))
    }

    fn scan_completed<'s>(
        &'s mut self,
        line: &Line<'_>,
        paths: &[&'static str],
    ) -> (Line<'s>, Result<Value<'s>>) {
        let is_torn = line.unit() == Unit::TornGlue;
        let bytes = line.bytes();
        let start = self.complete(line, paths, is_torn);
        let end = start + bytes.len();
        let glue = self.scratch.get(start..end).unwrap_or_default();
        let glue = Line::of_unit(glue, line.offset(), line.unit());
        let base = line.offset().saturating_sub(start as u64);
        // A byte order mark is no part of the value.
        let n_mark = if line.offset() == 0 { n_mark(bytes) } else { 0 };
        let text = self.scratch.get(n_mark..).unwrap_or_default();
        let mut value = self.scanner.scan_slice(text, base + n_mark as u64);
        if let (true, Ok(_)) = (is_torn, &value) {
            let offset = line.offset() + bytes.len() as u64;
            value = Err(Error { offset, kind: ErrorKind::UnexpectedEnd });
        }
        if value.is_ok() && line.is_punctuation() {
            value = Err(Error { offset: line.offset(), kind: ErrorKind::Empty });
        }
        (glue, value)
    }

    /// Does what [`UnitScanner::scan`] does for an owned unit. If the unit keeps its index, it is not scanned.
    pub fn scan_buf<'s>(
        &'s mut self,
        buf: &'s LineBuf,
        offset: u64,
        unit: Unit,
        paths: &[&'static str],
    ) -> (Line<'s>, Result<Value<'s>>) {
        let line = Line::of_unit(buf.bytes(), offset, unit);
        match buf.value_in(&line) {
            Some(value) if !line.is_glue() => (line, value),
            _ => self.scan(&line, paths),
        }
    }

    /// Does what [`UnitScanner::scan`] does for an owned unit, and keeps the index in it. A unit that has one is not
    /// scanned. Glue keeps none, nor does a line whose index takes more memory than its bytes.
    pub fn scan_and_keep<'s>(
        &'s mut self,
        buf: &'s mut LineBuf,
        offset: u64,
        unit: Unit,
        paths: &[&'static str],
    ) -> (Line<'s>, Result<Value<'s>>) {
        if buf.has_index() {
            return self.scan_buf(buf, offset, unit, paths);
        }
        if buf.bytes().len() > MAX_SPARE {
            self.scan_and_move(buf, offset, unit, paths);
            return self.scan_buf(buf, offset, unit, paths);
        }
        let (bytes, index) = buf.parts();
        let (line, value) = self.scan(&Line::of_unit(bytes, offset, unit), paths);
        *index = value.as_ref().ok().and_then(|value| LineIndex::of(value, &line));
        (line, value)
    }

    /// Scans a long unit and moves the index into it, so that it is in memory once.
    fn scan_and_move(
        &mut self,
        buf: &mut LineBuf,
        offset: u64,
        unit: Unit,
        paths: &[&'static str],
    ) {
        let (bytes, index) = buf.parts();
        let (line, value) = self.scan(&Line::of_unit(bytes, offset, unit), paths);
        let value = value.ok().filter(|value| LineIndex::is_kept(value, &line));
        if let Some(oddities) = value.map(|value| value.oddities()) {
            let line = Line::of_unit(bytes, offset, unit);
            *index = Some(LineIndex::of_nodes(self.scanner.take_nodes(), oddities, &line));
            self.free_beyond(MAX_SPARE);
        }
    }

    /// Frees each buffer of more than `max_bytes`, such as the index of a long line.
    ///
    /// ```
    /// # use jsonl::{Line, UnitScanner};
    /// let mut scanner = UnitScanner::default();
    /// let long = format!("[{}0]", "0,".repeat(1000));
    /// assert!(scanner.scan(&Line::new(long.as_bytes(), 0), &[]).1.is_ok());
    /// scanner.free_beyond(1000);
    /// assert!(scanner.scan(&Line::new(b"{}", 0), &[]).1.is_ok());
    /// ```
    pub fn free_beyond(&mut self, max_bytes: usize) {
        self.scanner.free_beyond(max_bytes);
        if self.scratch.capacity() > max_bytes {
            self.scratch = Vec::new();
        }
    }

    /// Stores the glue with the containers around it, and returns the offset of the glue.
    fn complete(&mut self, line: &Line<'_>, paths: &[&'static str], is_torn: bool) -> usize {
        let content = line.content();
        let first = content.iter().find(|byte| !is_blank(**byte)).copied();
        if matches!(first, Some(b'{' | b'[')) || line.offset() == 0 {
            return self.complete_from(line, Splitter::new(paths), b"", is_torn);
        }
        let mut start = 0;
        for path in paths {
            let mut before = Vec::new();
            for step in steps_of(path) {
                match step {
                    Step::Key(key) => {
                        before.extend_from_slice(b"{\"");
                        before.extend_from_slice(key.as_bytes());
                        before.extend_from_slice(b"\":");
                    }
                    Step::Item => before.push(b'['),
                }
            }
            before.push(b'[');
            let mut state = Splitter::new(paths);
            state.cut(&before, true);
            if first == Some(b',') {
                before.extend_from_slice(b"null");
            }
            start = self.complete_from(line, state, &before, is_torn);
            if paths.len() == 1 || validate(&self.scratch).is_ok() {
                break;
            }
        }
        start
    }

    fn complete_from(
        &mut self,
        line: &Line<'_>,
        mut state: Splitter,
        before: &[u8],
        is_torn: bool,
    ) -> usize {
        let bytes = line.bytes();
        self.scratch.clear();
        self.scratch.extend_from_slice(before);
        self.scratch.extend_from_slice(bytes);
        if is_torn {
            return before.len();
        }
        // Damaged glue may have records: they are glue here.
        let mut at = 0;
        while let Some((n, _)) = state.cut(bytes.get(at..).unwrap_or_default(), true) {
            at += n;
        }
        if state.is_among_records() {
            let last = bytes.iter().rfind(|byte| !is_blank(**byte));
            if last == Some(&b',') {
                self.scratch.extend_from_slice(b"null");
            }
            state.push_ends(&mut self.scratch);
        }
        before.len()
    }
}

/// Returns the length of the byte order mark at the start.
fn n_mark(bytes: &[u8]) -> usize {
    if bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 }
}

/// Returns whether glue has commas and blanks alone.
fn is_separator(line: &Line<'_>) -> bool {
    let is_torn = line.unit() == Unit::TornGlue;
    !is_torn && line.bytes().iter().all(|byte| *byte == b',' || is_blank(*byte))
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}
