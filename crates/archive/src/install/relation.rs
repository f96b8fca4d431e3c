//! Compares two versions of a file that only grows.
//!
//! In: `{"n":1}` and `{"n":1}`, `{"n":2}`. Out: the second is longer, and starts with the first.

use std::io::{self, BufRead, BufReader, Read};

use jsonl::{Document, UnitScanner, push_canonical};

/// How an existing file is related to a new one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Relation {
    /// Both have the same bytes.
    Equal,
    /// The existing file is the start of the new one.
    Shorter,
    /// The new file is the start of the existing one.
    Longer,
    /// Neither is the start of the other.
    Differ,
}

/// Compares a new file with an existing one. An empty file is the start of no other one.
///
/// # Errors
///
/// Returns an error if a file cannot be read.
pub(super) fn relation(new: impl Read, existing: impl Read) -> io::Result<Relation> {
    let (mut new, mut existing) = (BufReader::new(new), BufReader::new(existing));
    let mut is_empty = true;
    loop {
        let (ours, theirs) = (new.fill_buf()?, existing.fill_buf()?);
        let length = ours.len().min(theirs.len());
        if length == 0 {
            return Ok(match (ours.is_empty(), theirs.is_empty()) {
                (true, true) => Relation::Equal,
                _ if is_empty => Relation::Differ,
                (false, _) => Relation::Shorter,
                (true, false) => Relation::Longer,
            });
        }
        if ours.get(..length) != theirs.get(..length) {
            return Ok(Relation::Differ);
        }
        is_empty = false;
        new.consume(length);
        existing.consume(length);
    }
}

/// Compares the records of a new document with an existing one, by their values. Titles and other members
/// around the records may differ: an import does not change them.
///
/// # Errors
///
/// Returns an error if a document cannot be read.
pub(super) fn relation_of_documents(
    new: impl Read,
    existing: impl Read,
    paths: &'static [&'static str],
) -> io::Result<Relation> {
    let mut new = CanonicalRecords::new(new, paths);
    let mut existing = CanonicalRecords::new(existing, paths);
    let mut is_empty = true;
    loop {
        match (new.next()?, existing.next()?) {
            (None, None) => return Ok(Relation::Equal),
            (Some(_), None) if !is_empty => return Ok(Relation::Shorter),
            (None, Some(_)) if !is_empty => return Ok(Relation::Longer),
            (Some(new), Some(existing)) if new == existing => is_empty = false,
            _ => return Ok(Relation::Differ),
        }
    }
}

/// The records of a document, as canonical values.
struct CanonicalRecords<R> {
    document: Document<R>,
    units: UnitScanner,
    paths: &'static [&'static str],
    buffer: Vec<u8>,
}

impl<R: Read> CanonicalRecords<R> {
    fn new(reader: R, paths: &'static [&'static str]) -> Self {
        let (document, units) = (Document::new(reader, paths), UnitScanner::default());
        Self { document, units, paths, buffer: Vec::new() }
    }

    /// Returns the next record; `None` at the end. A damaged record differs from all others.
    fn next(&mut self) -> io::Result<Option<&[u8]>> {
        self.buffer.clear();
        while let Some(unit) = self.document.next()? {
            if unit.is_glue() {
                continue;
            }
            match self.units.scan(&unit, self.paths) {
                (_, Ok(value)) => push_canonical(&mut self.buffer, value, &[]),
                (line, Err(_)) => self.buffer.extend_from_slice(line.bytes()),
            }
            return Ok(Some(&self.buffer));
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_grows_by_its_records() {
        for (new, existing, expected) in [
            ("1", " 1.0 ", Relation::Equal),
            ("1,2", "1", Relation::Shorter),
            ("1", "1,2", Relation::Longer),
            ("1,3", "1,2", Relation::Differ),
            ("1", "", Relation::Differ),
            ("", "", Relation::Equal),
        ] {
            let of = |numbers: &str, n| {
                let numbers = numbers.split(',').filter(|number| !number.is_empty());
                let records: Vec<String> = numbers.map(|it| format!("{{\"id\":{it}}}")).collect();
                format!("{{\"n\":{n},\"r\":[{}]}}", records.join(","))
            };
            let (new, existing) = (of(new, 1), of(existing, 2));
            let found = relation_of_documents(new.as_bytes(), existing.as_bytes(), &["r"]);
            assert_eq!(found.expect("in memory"), expected, "{new} {existing}");
        }
    }

    #[test]
    fn a_file_grows_by_its_end() {
        let long = "x".repeat(100_000);
        let longer = format!("{long}y");
        for (new, existing, expected) in [
            ("a", "a", Relation::Equal),
            ("", "", Relation::Equal),
            ("ab", "a", Relation::Shorter),
            ("a", "ab", Relation::Longer),
            ("ab", "ac", Relation::Differ),
            ("a", "", Relation::Differ),
            ("", "a", Relation::Differ),
            (&longer, &long, Relation::Shorter),
            (&long, &longer, Relation::Longer),
        ] {
            let found = relation(new.as_bytes(), existing.as_bytes()).expect("in memory");
            assert_eq!(found, expected, "{} {}", new.len(), existing.len());
        }
    }
}
