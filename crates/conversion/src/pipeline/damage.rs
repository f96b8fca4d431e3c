//! Counts damaged lines and the records recovered from them, in the report.
//!
//! In: the pieces of the line `{"type":"user","mess{"type":"user","message":{..}}`. Out: one
//! damaged line, one recovered record, and a residue of 20 bytes.

use std::io::{self, Read, Seek};

use jsonl::{ErrorKind, Line, Unit};
use sha2::{Digest, Sha256};

use crate::pipeline::{
    recovery::is_damage,
    report::{MAX_PLACES, Report},
    source::Source,
};

/// A line that cannot be read, or the bytes of it that lie outside the recovered records.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{} {line}: {error}", self.unit())]
pub struct Damage {
    /// The number of the line, from 1.
    pub line: u64,
    /// The kind of damage and its offset.
    pub error: jsonl::Error,
    /// The offset of the first byte that is in no record.
    pub start: u64,
    /// The number of bytes from `start` on that are in no record.
    pub length: u64,
    /// The SHA-256 of these bytes, to compare them without showing them.
    pub sha256: [u8; 32],
    /// Whether records of the same line were recovered.
    pub is_piece: bool,
    /// Whether the line is a record of a document, or the glue behind it.
    pub is_in_document: bool,
}

impl Damage {
    /// Returns the word for what has the number: `line`, or `record` in a document.
    pub fn unit(&self) -> &'static str {
        if self.is_in_document { "record" } else { "line" }
    }

    fn new(number: u64, line: &Line<'_>, error: jsonl::Error) -> Self {
        let content = line.content();
        Self {
            line: number,
            error,
            start: line.offset_of(content).unwrap_or(line.offset()),
            length: content.len() as u64,
            sha256: Sha256::digest(content).into(),
            is_piece: line.is_piece(),
            is_in_document: line.is_in_document(),
        }
    }
}

/// Records that were recovered from a line that is not one JSON value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Recovered {
    /// The number of the line, from 1.
    pub line: u64,
    /// The offset of the first recovered record.
    pub offset: u64,
    /// The number of recovered records.
    pub n_records: u64,
}

/// Adds damaged lines and recovered records to a report.
#[derive(Debug, Default)]
pub(crate) struct DamageLog {
    /// Whether the last piece did not end its line.
    is_inside: bool,
    /// The number of the last damaged line. Glue before the first record has the number 0.
    last_damaged: Option<u64>,
}

impl DamageLog {
    /// Counts the next line, or piece of a line.
    pub(crate) fn arrives(&mut self, line: &Line<'_>, is_readable: bool, report: &mut Report) {
        if let Some(torn) = report.torn.take() {
            // The torn line was not the last one, so it is a damaged line.
            self.add(torn, report);
        }
        if line.is_glue() {
            self.is_inside = false;
            return;
        }
        report.lines_in += u64::from(!self.is_inside || line.unit() == Unit::Record);
        self.is_inside = match line.is_in_document() {
            true => line.is_piece(),
            false => !line.is_terminated(),
        };
        if !line.is_piece() {
            return;
        }
        self.count_line(report);
        if !is_readable {
            return;
        }
        report.n_recovered += 1;
        let (number, offset) = (report.lines_in, line.offset());
        let n_places = report.recovered.len();
        match report.recovered.last_mut() {
            Some(last) if last.line == number => last.n_records += 1,
            _ if n_places == MAX_PLACES => {}
            _ => report.recovered.push(Recovered { line: number, offset, n_records: 1 }),
        }
    }

    /// Starts another file: its first line does not continue the last line of the file before.
    pub(crate) fn enters_file(&mut self, report: &mut Report) {
        if let Some(torn) = report.torn.take() {
            self.add(torn, report);
        }
        (self.is_inside, self.last_damaged) = (false, None);
    }

    /// Adds an unreadable line, or piece of a line, to the report.
    pub(crate) fn is_unreadable(
        &mut self,
        line: &Line<'_>,
        error: jsonl::Error,
        report: &mut Report,
    ) {
        // A document that ends behind a record is cut, with or without a newline there.
        let is_cut = line.unit() == Unit::TornGlue;
        if line.is_blank() && !is_cut || !is_damage(error) {
            return;
        }
        let damage = Damage::new(report.lines_in, line, error);
        let is_open = line.is_in_document() || !line.is_terminated();
        if is_open && error.kind == ErrorKind::UnexpectedEnd {
            report.torn = Some(damage);
        } else {
            self.add(damage, report);
        }
    }

    fn add(&mut self, damage: Damage, report: &mut Report) {
        self.count_line(report);
        report.n_residues += 1;
        report.bytes_residue += damage.length;
        if report.damaged.len() < MAX_PLACES {
            report.damaged.push(damage);
        }
    }

    fn count_line(&mut self, report: &mut Report) {
        if self.last_damaged != Some(report.lines_in) {
            self.last_damaged = Some(report.lines_in);
            report.n_damaged += 1;
        }
    }
}

/// Returns the first damaged line of a source; `None` if all lines can be read. Blank lines are no
/// damage, a torn last line is.
///
/// # Errors
///
/// Returns an error if the source cannot be read.
pub fn first_damage<R: Read + Seek + Send>(source: &mut Source<R>) -> io::Result<Option<Damage>> {
    let (mut number, mut found) = (0, None);
    source.for_each(&mut |line, value| {
        number += u64::from(!line.is_glue());
        if let Err(error) = value
            && is_damage(error)
        {
            found = Some(Damage::new(number, line, error));
        }
        found.is_none()
    })?;
    Ok(found)
}
