//! Recovers records from damaged lines.
//!
//! In: a line that is not one JSON value. Out: its pieces, in order, with true offsets: records
//! that a format knows, and the bytes between them. A write that was cut off by a crash, with the
//! next record written behind it, gives two pieces:
//!
//! ```text
//! {"type":"user","uuid":"u1","mess{"type":"user","uuid":"u2","message":{..}}
//!
//! offset  0  {"type":"user","uuid":"u1","mess            Err(unexpected end of line at byte 32)
//! offset 32  {"type":"user","uuid":"u2","message":{..}}  Ok: a record
//! ```
//!
//! On the way back, the reorder buffer joins the pieces without newlines between them.

use core_model::Format;
use jsonl::{ErrorKind, Line, Scanner, Value, recover};

use crate::pipeline::source::EachLine;

/// Splits damaged lines into pieces.
pub struct Recovery {
    formats: Vec<&'static Format>,
    scanner: Scanner,
}

impl Recovery {
    /// Creates a recovery that recognizes records of the formats.
    pub fn new(formats: &[&'static Format]) -> Self {
        Self { formats: formats.to_vec(), scanner: Scanner::default() }
    }

    /// Calls `each` with a line and its value, or with each piece of a damaged line and its value.
    pub fn line(
        &mut self,
        line: &Line<'_>,
        value: jsonl::Result<Value<'_>>,
        each: &mut EachLine<'_>,
    ) -> bool {
        match value {
            Err(error) if is_damage(error) && !line.is_glue() => self.pieces(line, error, each),
            value => each(line, value),
        }
    }

    fn pieces(&mut self, line: &Line<'_>, error: jsonl::Error, each: &mut EachLine<'_>) -> bool {
        let formats = &self.formats;
        let is_record = |value: Value<'_>| formats.iter().any(|format| (format.is_record)(value));
        let pieces = recover(line, &mut self.scanner, &is_record).pieces;
        if pieces.is_empty() {
            return each(line, Err(error));
        }
        pieces.iter().all(|piece| {
            let value = self.scanner.scan(&piece.line);
            if piece.is_record {
                return each(&piece.line, value);
            }
            // Bytes between records may be a JSON value by chance, but they are not a record.
            let start = piece.line.offset();
            let other = jsonl::Error { offset: start, kind: ErrorKind::TrailingBytes };
            let error = value.err().filter(|error| is_damage(*error)).unwrap_or(other);
            each(&piece.line, Err(error))
        })
    }
}

/// Returns whether a line with this error is damaged; a blank line is not.
pub fn is_damage(error: jsonl::Error) -> bool {
    error.kind != ErrorKind::Empty
}
