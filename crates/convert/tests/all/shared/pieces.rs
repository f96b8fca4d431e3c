//! The lines of a source. A damaged line counts as its pieces.

use std::borrow::Cow;

use convert::FORMATS;
use core_model::Format;
use jsonl::{ErrorKind, Piece, Records, Scanner, Style, UnitScanner, Value};

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

/// The numbers of lines, as reports count them.
pub(crate) struct Numbers(Option<Vec<u64>>);

impl Numbers {
    /// Returns the number of a line, given its index.
    pub(crate) fn of(&self, line_idx: usize) -> u64 {
        match &self.0 {
            Some(all) => all.get(line_idx).or(all.last()).copied().unwrap_or_default(),
            None => line_idx as u64 + 1,
        }
    }
}

/// Returns a file with a record on each line, and the numbers of the lines. In a document, the members
/// before the records are line 0, and members behind a record have its number, as reports count them.
/// Other files are returned as they are.
pub(crate) fn as_lines<'b>(bytes: &'b [u8], format: &Format) -> (Cow<'b, [u8]>, Numbers) {
    if !format.framing.is_document() {
        return (Cow::Borrowed(bytes), Numbers(None));
    }
    let (mut records, mut units) = (Records::new(bytes, format.framing), UnitScanner::default());
    let (mut lines, mut numbers, mut n_records) = (Vec::new(), Vec::new(), 0);
    while let Some(unit) = records.next().expect("a slice") {
        n_records += u64::from(!unit.is_glue());
        match units.scan(&unit, format.framing.paths()) {
            (_, Ok(value)) => jsonl::respell(&mut lines, value.raw(), Style::Compact),
            // Punctuation between the records.
            (unit, Err(_)) if unit.is_glue() => continue,
            (unit, Err(_)) => {
                lines.extend(unit.bytes().iter().filter(|byte| !matches!(byte, b'\n' | b'\r')));
            }
        }
        lines.push(b'\n');
        numbers.push(n_records);
    }
    (Cow::Owned(lines), Numbers(Some(numbers)))
}
