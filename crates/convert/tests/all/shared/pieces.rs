//! The lines of a source. A damaged line counts as its pieces.

use convert::FORMATS;
use core_model::Format;
use jsonl::{ErrorKind, Piece, Scanner, Value};

/// Returns the lines of a source in a format, or in any format, and whether each can be read.
pub(crate) fn pieces<'l>(bytes: &'l [u8], format: Option<&Format>) -> Vec<Piece<'l>> {
    let mut scanner = Scanner::default();
    let is_record = |value: Value<'_>| match format {
        Some(format) => (format.is_record)(value),
        None => FORMATS.iter().any(|format| (format.is_record)(value)),
    };
    let mut all = Vec::new();
    for line in jsonl::lines(bytes) {
        let error = scanner.scan(&line).err();
        let found = match error {
            Some(error) if error.kind != ErrorKind::Empty => {
                jsonl::recover(&line, &mut scanner, &is_record).pieces
            }
            _ => Vec::new(),
        };
        if found.is_empty() {
            all.push(Piece { line, is_record: error.is_none() });
        }
        all.extend(found);
    }
    all
}
