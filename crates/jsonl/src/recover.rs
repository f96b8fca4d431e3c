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
/// Of a line of tiny objects alone, such as `{}{}{}`, no more than 64 Ki are taken, or one for each 96
/// bytes; the rest is a piece that is no record.
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
    let max_records = MIN_RECORDS.max(content.len() / BYTES_PER_RECORD);
    let mut search = Search { content, scanner, is_record, n_examined: 0, max_records };
    let mut records = Vec::new();
    let rest = search.forward(&mut records);
    let mut last = Vec::new();
    search.backward(rest, &mut last);
    records.extend(last.into_iter().rev());
    let n_examined = search.n_examined as u64;
    let pieces = if records.is_empty() { Vec::new() } else { cut(line, &records) };
    Recovery { pieces, n_examined }
}

/// How many records are taken from any line: each takes about a hundred bytes of memory.
const MIN_RECORDS: usize = if cfg!(miri) { 256 } else { 64 * 1024 };

/// Of a longer line, how many bytes there must be for each record: no client writes shorter ones.
const BYTES_PER_RECORD: usize = 96;

/// Where an object lies in the content of a line.
type Place = (usize, usize);

struct Search<'s, 'l> {
    content: &'l [u8],
    scanner: &'s mut Scanner,
    is_record: &'s dyn Fn(Value<'_>) -> bool,
    n_examined: usize,
    /// How many more records are taken.
    max_records: usize,
}

impl<'l> Search<'_, 'l> {
    /// Takes objects from the start on, and returns what stands after the last one.
    fn forward(&mut self, records: &mut Vec<Place>) -> &'l [u8] {
        let mut rest = self.content;
        loop {
            let (before, next) = rest.split_at(n_between(rest));
            self.n_examined += before.len();
            // Between the values of an array or of an object an object may be an inner one.
            let is_doubtful = before.iter().any(|byte| matches!(byte, b'[' | b','));
            let Some((object, after)) = self.object_at_start(next) else { return rest };
            let follows = after.iter().find(|byte| !is_space(**byte));
            let is_doubtful = is_doubtful || matches!(follows, Some(b',' | b']' | b'}'));
            if self.max_records == 0 || !self.accepts(object, is_doubtful) {
                return rest;
            }
            self.max_records -= 1;
            let length = self.content.len();
            records.push((length - next.len(), length - after.len()));
            rest = after;
        }
    }

    /// Takes objects from the end of the content on, as long as they stand in its `rest`.
    fn backward(&mut self, mut rest: &'l [u8], records: &mut Vec<Place>) {
        let start = self.content.len() - rest.len();
        loop {
            let n_between = n_between_backward(rest);
            self.n_examined += n_between;
            let (next, _) = rest.split_at(rest.len() - n_between);
            let Some((before, object)) = self.object_at_end(next) else { return };
            if self.max_records == 0 || !self.accepts(object, true) {
                return;
            }
            self.max_records -= 1;
            records.push((start + before.len(), start + next.len()));
            rest = before;
        }
    }

    /// Returns whether an object is valid and, if that is in doubt, a record.
    fn accepts(&mut self, object: &[u8], is_doubtful: bool) -> bool {
        self.n_examined += object.len();
        match self.scanner.scan_slice(object, 0) {
            Ok(value) => !is_doubtful || (self.is_record)(value),
            Err(_) => false,
        }
    }

    /// Returns the object at the start of some bytes and what follows it, if its braces balance.
    fn object_at_start(&mut self, bytes: &'l [u8]) -> Option<(&'l [u8], &'l [u8])> {
        if bytes.first() != Some(&b'{') {
            return None;
        }
        let (mut depth, mut in_string, mut is_escaped) = (0usize, false, false);
        for (at, byte) in bytes.iter().enumerate() {
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
                return bytes.split_at_checked(at + 1);
            }
        }
        self.n_examined += bytes.len();
        None
    }

    /// Returns the object at the end of some bytes and what stands before it, if its braces balance.
    fn object_at_end(&mut self, bytes: &'l [u8]) -> Option<(&'l [u8], &'l [u8])> {
        if bytes.last() != Some(&b'}') {
            return None;
        }
        let (mut depth, mut in_string) = (0usize, false);
        let mut before = bytes;
        while let [rest @ .., byte] = before {
            before = rest;
            match byte {
                b'"' => {
                    let mut is_escaped = false;
                    while let [rest @ .., b'\\'] = before {
                        before = rest;
                        is_escaped = !is_escaped;
                    }
                    in_string ^= !is_escaped;
                }
                _ if in_string => {}
                b'}' => depth += 1,
                b'{' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.n_examined += bytes.len() - before.len();
                return bytes.split_at_checked(before.len());
            }
        }
        self.n_examined += bytes.len();
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
    let mut rest = bytes;
    // Whatever the places are, the pieces are the line.
    let mut cut_to = |end: usize, is_record: bool| {
        let done = bytes.len() - rest.len();
        let (piece, after) = rest.split_at(end.saturating_sub(done).min(rest.len()));
        if !piece.is_empty() {
            let line = Line::piece(piece, line.offset() + done as u64);
            pieces.push(Piece { line, is_record });
        }
        rest = after;
    };
    let mut done = 0;
    for (n, (start, end)) in records.iter().enumerate() {
        let (start, mut end) = (start + base, end + base);
        // Spaces after a record are its own; before it, only if nothing else is there. So is what
        // the content leaves out: a byte order mark at the start, the terminator at the end.
        let before = bytes.get(done.max(base)..start).unwrap_or_default();
        let is_alone = before.iter().all(|byte| is_space(*byte));
        let start = if is_alone { done } else { start };
        let next = records.get(n + 1).map_or(bytes.len(), |(next, _)| next + base);
        let after = bytes.get(end..next).unwrap_or_default();
        end += after.iter().take_while(|byte| is_space(**byte)).count();
        cut_to(start, false);
        cut_to(end, true);
        done = end;
    }
    cut_to(bytes.len(), false);
    pieces
}
