//! Complete records in a line that is not JSON: what crashes and lost newlines leave behind.
//!
//! A client that crashes leaves a torn record, and the next one follows it on the same line; a lost
//! newline glues two records; a file system fills a lost block with NUL. [`recover`] takes complete
//! objects from the start of such a line, then from its end, and never guesses about the middle. A
//! scan for balanced braces would: a tear inside a string turns the strings of all that follows
//! inside out.

use crate::{Line, Scanner, Value};

/// A piece of a damaged line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Piece<'l> {
    /// Its bytes, and where they lie.
    pub line: Line<'l>,
    /// Whether it is a complete object; else it is what lies before, between or after them.
    pub is_record: bool,
}

/// What is left of a damaged line.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Recovery<'l> {
    /// The pieces in their order; joined, they are the line. Empty if no record is complete.
    pub pieces: Vec<Piece<'l>>,
    /// How many bytes were looked at, repeatedly or not: at most four times the line.
    pub n_examined: u64,
}

/// Finds the complete records of a line that is not one JSON value, in linear time.
///
/// From the start on, complete objects are taken as they come, after spaces, NUL, record separators
/// and byte order marks. One that the rest of a torn record may hold (before or after it stand the
/// commas and brackets around an inner value) is taken only if `is_record` says that it is a whole
/// line. From the end, the object is taken whose `{` balances the last `}`, if `is_record` says so,
/// and again before it. `scanner` is used to validate.
///
/// ```
/// let line = br#"{"type":"user","te{"type":"user","id":1}{"type":"user","id":2}"#;
/// let line = jsonl::Line::new(line, 100);
/// let mut scanner = jsonl::Scanner::default();
/// let recovery = jsonl::recover(&line, &mut scanner, &|value| value.get("id").is_some());
/// let places: Vec<_> =
///     recovery.pieces.iter().map(|piece| (piece.line.offset(), piece.is_record)).collect();
/// assert_eq!(places, [(100, false), (118, true), (140, true)]);
/// ```
pub fn recover<'l>(
    line: &Line<'l>,
    scanner: &mut Scanner,
    is_record: &dyn Fn(Value<'_>) -> bool,
) -> Recovery<'l> {
    let content = line.content();
    let mut search = Search { content, scanner, is_record, n_examined: 0 };
    let mut records = Vec::new();
    let start = search.forward(&mut records);
    let n_forward = records.len();
    search.backward(start, &mut records);
    records[n_forward..].reverse();
    let n_examined = search.n_examined as u64;
    let pieces = if records.is_empty() { Vec::new() } else { cut(line, &records) };
    Recovery { pieces, n_examined }
}

/// Where an object lies in the content of a line.
type Place = (usize, usize);

struct Search<'s, 'l> {
    content: &'l [u8],
    scanner: &'s mut Scanner,
    is_record: &'s dyn Fn(Value<'_>) -> bool,
    n_examined: usize,
}

impl Search<'_, '_> {
    /// Takes objects from the start on, and returns where the last one ends.
    fn forward(&mut self, records: &mut Vec<Place>) -> usize {
        let mut end = 0;
        loop {
            let start = end + n_between(&self.content[end..]);
            self.n_examined += start - end;
            // Between the values of an array or of an object an object may be an inner one.
            let before = &self.content[end..start];
            let is_doubtful = before.iter().any(|byte| matches!(byte, b'[' | b','));
            let Some(next) = self.object_from(start) else { return end };
            let after = self.content[next..].iter().find(|byte| !is_space(**byte));
            let is_doubtful = is_doubtful || matches!(after, Some(b',' | b']' | b'}'));
            if !self.accepts((start, next), is_doubtful) {
                return end;
            }
            records.push((start, next));
            end = next;
        }
    }

    /// Takes objects from the end on, as long as they start at `start` or later.
    fn backward(&mut self, start: usize, records: &mut Vec<Place>) {
        let mut end = self.content.len();
        loop {
            let rest = &self.content[start..end];
            let n_between = n_between_backward(rest);
            self.n_examined += n_between;
            end -= n_between;
            let Some(from) = self.object_to(start, end) else { return };
            if !self.accepts((from, end), true) {
                return;
            }
            records.push((from, end));
            end = from;
        }
    }

    /// Returns whether an object is valid and, if that is in doubt, a record.
    fn accepts(&mut self, (start, end): Place, is_doubtful: bool) -> bool {
        self.n_examined += end - start;
        match self.scanner.scan_slice(&self.content[start..end], 0) {
            Ok(value) => !is_doubtful || (self.is_record)(value),
            Err(_) => false,
        }
    }

    /// Returns where the object that starts at `start` ends, if its braces balance.
    fn object_from(&mut self, start: usize) -> Option<usize> {
        let rest = &self.content[start..];
        if rest.first() != Some(&b'{') {
            return None;
        }
        let (mut depth, mut in_string, mut is_escaped) = (0usize, false, false);
        for (at, byte) in rest.iter().enumerate() {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' if in_string => is_escaped = true,
                b'"' => in_string = !in_string,
                _ if in_string => {}
                b'{' => depth += 1,
                b'}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.n_examined += at + 1;
                return Some(start + at + 1);
            }
        }
        self.n_examined += rest.len();
        None
    }

    /// Returns where the object that ends at `end` starts, if it does so at `start` or later.
    fn object_to(&mut self, start: usize, end: usize) -> Option<usize> {
        let rest = &self.content[start..end];
        if rest.last() != Some(&b'}') {
            return None;
        }
        let (mut depth, mut in_string) = (0usize, false);
        let mut at = rest.len();
        while at > 0 {
            at -= 1;
            match rest[at] {
                b'"' => {
                    let before = &rest[..at];
                    let n_slashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
                    in_string ^= n_slashes % 2 == 0;
                    at -= n_slashes;
                }
                _ if in_string => {}
                b'}' => depth += 1,
                b'{' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.n_examined += rest.len() - at;
                return Some(start + at);
            }
        }
        self.n_examined += rest.len();
        None
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns how many bytes that are no value stand before a record.
fn n_between(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    loop {
        rest = match rest {
            [b'\0' | b'\x1e' | b'[' | b',', after @ ..] => after,
            [byte, after @ ..] if is_space(*byte) => after,
            _ => match rest.strip_prefix(BYTE_ORDER_MARK) {
                Some(after) => after,
                None => return bytes.len() - rest.len(),
            },
        };
    }
}

/// Returns how many bytes that are no value stand after a record.
fn n_between_backward(bytes: &[u8]) -> usize {
    let is_between = |byte: u8| is_space(byte) || matches!(byte, b'\0' | b'\x1e' | b']' | b',');
    bytes.iter().rev().take_while(|byte| is_between(**byte)).count()
}

/// Cuts a line into the records and what lies between them.
fn cut<'l>(line: &Line<'l>, records: &[Place]) -> Vec<Piece<'l>> {
    let (bytes, content) = (line.bytes(), line.content());
    let base = line.offset_of(content).map_or(0, |offset| (offset - line.offset()) as usize);
    let mut pieces = Vec::with_capacity(2 * records.len() + 1);
    let mut push = |start: usize, end: usize, is_record: bool| {
        if start < end {
            let piece = Line::piece(&bytes[start..end], line.offset() + start as u64);
            pieces.push(Piece { line: piece, is_record });
        }
    };
    let mut done = 0;
    for (n, (start, end)) in records.iter().enumerate() {
        let (start, mut end) = (start + base, end + base);
        // Spaces after a record are its own; before it, only if nothing else is there. So is what
        // the content leaves out: a byte order mark at the start, the terminator at the end.
        let is_alone = bytes[done.max(base)..start].iter().all(|byte| is_space(*byte));
        let start = if is_alone { done } else { start };
        let next = records.get(n + 1).map_or(bytes.len(), |(next, _)| next + base);
        end += bytes[end..next].iter().take_while(|byte| is_space(**byte)).count();
        push(done, start, false);
        push(start, end, true);
        done = end;
    }
    push(done, bytes.len(), false);
    pieces
}
