//! Finds complete records in a line that is not JSON, after a crash or a lost newline.
//!
//! ```text
//! line    {"type":"user","te{"type":"user","id":1}{"type":"user","id":2}
//! pieces  {"type":"user","te        torn bytes
//!         {"type":"user","id":1}    record
//!         {"type":"user","id":2}    record
//! ```
//!
//! A client that crashes leaves a torn record, and the next record follows on the same line. A lost
//! newline joins two records. A file system fills a lost block with NUL. [`recover`] finds complete
//! objects at the start of such a line, then at its end. It does not search the middle: after a
//! tear inside a string, balanced braces may be text.

use crate::{Line, Scanner, Value};

/// A piece of a damaged line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Piece<'l> {
    /// The bytes and their offset.
    pub line: Line<'l>,
    /// Whether the piece is a complete object. Other pieces are the bytes around the objects.
    pub is_record: bool,
}

/// The pieces of a damaged line.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Recovery<'l> {
    /// The pieces in order; joined, they are the line. Empty if there is no complete record.
    pub pieces: Vec<Piece<'l>>,
    /// The number of bytes that were read, with repetitions: at most four times the line.
    pub n_examined: u64,
}

/// Finds the complete records of a line that is not one JSON value, in linear time.
///
/// It searches from the start of the line forwards and from its end backwards, each up to the first bytes that
/// are no record. The bytes between these are not searched: after a tear inside a string, balanced braces may be
/// text.
///
/// In a line of tiny objects such as `{}{}{}`, at most 64 Ki objects, or one for each 96 bytes,
/// become records. The rest is one piece without a record.
///
/// At the start, each complete object is a record; spaces, NUL, record separators and byte order
/// marks are skipped. An object between commas or brackets may be an inner value of a torn record.
/// It is a record only if `is_record` returns true for it. At the end, the object whose `{`
/// balances the last `}` is a record if `is_record` returns true; then the search continues before
/// it. `scanner` validates the objects.
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

/// Number of records that any line may have. Each takes about a hundred bytes of memory.
const MIN_RECORDS: usize = if cfg!(miri) { 256 } else { 64 * 1024 };

/// Number of bytes per record in a longer line. No client writes shorter records.
const BYTES_PER_RECORD: usize = 96;

/// The range of an object in the content of a line.
type Place = (usize, usize);

struct Search<'s, 'l> {
    content: &'l [u8],
    scanner: &'s mut Scanner,
    is_record: &'s dyn Fn(Value<'_>) -> bool,
    n_examined: usize,
    /// Number of records that may still be found.
    max_records: usize,
}

impl<'l> Search<'_, 'l> {
    /// Finds objects from the start, and returns the rest after the last one.
    fn forward(&mut self, records: &mut Vec<Place>) -> &'l [u8] {
        let mut rest = self.content;
        loop {
            let (before, next) = rest.split_at(n_between(rest));
            self.n_examined += before.len();
            // After a comma or a bracket, an object may be an inner value.
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

    /// Finds objects from the end of the content, within `rest`.
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

    /// Returns whether an object is valid and, if it may be an inner value, a record.
    fn accepts(&mut self, object: &[u8], is_doubtful: bool) -> bool {
        self.n_examined += object.len();
        match self.scanner.scan_slice(object, 0) {
            Ok(value) => !is_doubtful || (self.is_record)(value),
            Err(_) => false,
        }
    }

    /// Returns the object at the start of some bytes and the bytes after it, if its braces balance.
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

    /// Returns the object at the end of some bytes and the bytes before it, if its braces balance.
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

pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns the number of bytes before a record that belong to no value.
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

/// Returns the number of bytes after a record that belong to no value.
fn n_between_backward(bytes: &[u8]) -> usize {
    let is_between = |byte: u8| is_space(byte) || matches!(byte, b'\0' | b'\x1e' | b']' | b',');
    bytes.iter().rev().take_while(|byte| is_between(**byte)).count()
}

/// Cuts a line into records and the bytes between them.
fn cut<'l>(line: &Line<'l>, records: &[Place]) -> Vec<Piece<'l>> {
    let (bytes, content) = (line.bytes(), line.content());
    let base = line.offset_of(content).map_or(0, |offset| (offset - line.offset()) as usize);
    let mut pieces = Vec::with_capacity(2 * records.len() + 1);
    let mut rest = bytes;
    // For any ranges, the pieces joined are the line.
    let mut cut_to = |end: usize, is_record: bool| {
        let done = bytes.len() - rest.len();
        let (piece, after) = rest.split_at(end.saturating_sub(done).min(rest.len()));
        if !piece.is_empty() {
            let line = line.piece(piece, line.offset() + done as u64);
            pieces.push(Piece { line, is_record });
        }
        rest = after;
    };
    let mut done = 0;
    for (n, (start, end)) in records.iter().enumerate() {
        let (start, mut end) = (start + base, end + base);
        // Spaces after a record belong to it. Spaces before it do only if nothing else precedes
        // them. A byte order mark at the start and the terminator at the end, which the content
        // excludes, follow the same rule.
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
