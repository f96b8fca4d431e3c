//! Damaged lines in pieces: the records in them are read like any others.

use core_model::Format;
use jsonl::{ErrorKind, Line, Scanner, Value, recover};

use crate::pipeline::source::EachLine;

/// Cuts damaged lines into pieces, each of which goes on as a line of its own.
pub struct Recovery {
    formats: Vec<&'static Format>,
    scanner: Scanner,
}

impl Recovery {
    /// Creates a recovery of lines of any of the formats.
    pub fn new(formats: &[&'static Format]) -> Self {
        Self { formats: formats.to_vec(), scanner: Scanner::default() }
    }

    /// Calls `each` with a line and its value, or with its pieces and theirs if it is damaged.
    pub fn line(
        &mut self,
        line: &Line<'_>,
        value: jsonl::Result<Value<'_>>,
        each: &mut EachLine<'_>,
    ) -> bool {
        match value {
            Err(error) if is_damage(error) => self.pieces(line, error, each),
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
            // What lies between records may happen to be a value: it is no record all the same.
            let start = piece.line.offset();
            let other = jsonl::Error { offset: start, kind: ErrorKind::TrailingBytes };
            let error = value.err().filter(|error| is_damage(*error)).unwrap_or(other);
            each(&piece.line, Err(error))
        })
    }
}

/// Returns whether an error is more than a blank line.
pub fn is_damage(error: jsonl::Error) -> bool {
    error.kind != ErrorKind::Empty
}
