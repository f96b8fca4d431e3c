//! Compares two versions of a file that only grows.
//!
//! In: `{"n":1}` and `{"n":1}`, `{"n":2}`. Out: the second is longer, and starts with the first.

use std::io::{self, BufRead, BufReader, Read};

use conversion::{Carry, Member};
use core_model::Format;
use jsonl::{Document, Scanner, Stream, UnitScanner, Value, push_canonical};

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

/// Returns whether an existing file of a format is the start of a new one, apart from two things that move to
/// the end when turns are added to the source: the carry of the last record, with the end mark and hidden
/// records, and records at the end that are no messages and were written by a conversion, such as clido's
/// `result`.
///
/// In: `{"n":1,"_carried":"A!1,2,3"}`, and `{"n":1,"_carried":"A"}`, `{"n":2,"_carried":"B!2,4,6"}`. Out: true.
///
/// # Errors
///
/// Returns an error if a file cannot be read.
pub(super) fn is_start_of(
    existing: impl Read,
    new: impl Read,
    format: &Format,
) -> io::Result<bool> {
    let (mut existing, mut new) = (Stream::new(existing), Stream::new(new));
    let (mut theirs, mut ours) = (Scanner::default(), Scanner::default());
    let (mut is_empty, mut is_at_end) = (true, false);
    while let Some(there) = existing.next()? {
        let line = if is_at_end { None } else { new.next()? };
        if line.as_ref().is_some_and(|line| line.bytes() == there.bytes()) {
            is_empty = false;
            continue;
        }
        let Ok(there) = theirs.scan(&there) else { return Ok(false) };
        let Some(member) = Member::find(there, format) else { return Ok(false) };
        let line = line.and_then(|line| ours.scan(&line).ok());
        let line = line.and_then(|line| Member::find(line, format));
        if line.is_some_and(|it| (it.before, it.after) == (member.before, member.after)) {
            is_empty = false;
        } else if is_added(&member, there, format) {
            is_at_end = true;
        } else {
            return Ok(false);
        }
    }
    Ok(!is_empty && (is_at_end || new.next()?.is_some()))
}

/// Returns whether a record is no message, and is as a conversion wrote it.
fn is_added(member: &Member<'_>, record: Value<'_>, format: &Format) -> bool {
    let is_untouched = || Carry::parse(&member.carry).is_ok_and(|it| it.guard == member.guard());
    let mut has_message = false;
    format.for_each_event(record, |event| {
        has_message |= event.message().is_some();
        !has_message
    });
    !has_message && is_untouched()
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
    fn carries_are_not_compared() {
        let one = r#"{"n":1,"_carried":"2F1:c0;!1,2,3"}"#;
        let grown = r#"{"n":1,"_carried":"2F1:c0;"}"#;
        let (two, native) = (r#"{"n":2,"_carried":"2F1:c0;"}"#, r#"{"n":2}"#);
        let edited = r#"{"n":7,"_carried":"2F1:c0;"}"#;
        for (existing, new, expected) in [
            (vec![one], vec![grown, two], true),
            (vec![native, one], vec![native, grown, two], true),
            (vec![one], vec![grown], false),
            (vec![one, two], vec![grown], false),
            (vec![one], vec![edited, two], false),
            (vec![one], vec![r#"{"n":1}"#, two], false),
            (vec![r#"{"n":1}"#], vec![grown, two], false),
            (vec!["{"], vec!["[", two], false),
            (vec![], vec![two], false),
        ] {
            let [existing, new] = [existing.join("\n"), new.join("\n")];
            let found = is_start_of(existing.as_bytes(), new.as_bytes(), &format_clido::FORMAT);
            assert_eq!(found.expect("in memory"), expected, "{existing} {new}");
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
