//! Checks the carries of a written file without restoring it to a file.
//!
//! In: a written file. Out: damaged, moved, doubled and missing carries, and records that differ
//! from the records that they restore.

use std::{
    collections::BTreeMap,
    io::{self, Read, Seek},
};

use core_model::{Format, Formats};
use jsonl::{Line, Value};

use super::{
    Carry, CarryError, Member,
    ordinals::Seen,
    restore::Restorer,
    totals::{CarryTotals, Shortfall},
};
use crate::{detect::MAX_LINES, pipeline::source::Source};

/// The rule for a record that shows other messages than its carry restores.
const DIFFERS: CarryFault =
    CarryFault { rule: "carry-differs", message: "it says something else than its carry restores" };

/// A rule that a record breaks with its carry.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CarryFault {
    /// The name of the rule.
    pub rule: &'static str,
    /// A message about the record, without a name of it.
    pub message: &'static str,
}

/// The findings about a file's carries so far.
#[derive(Debug)]
pub struct CarryAudit {
    /// The format of the file.
    written: &'static Format,
    formats: Formats,
    /// Restores the source for comparison; the result is dropped.
    restorer: Option<Restorer>,
    n_different: u64,
    totals: CarryTotals,
}

impl CarryAudit {
    /// Creates an audit of a file of a format.
    pub fn new(formats: Formats, written: &'static Format) -> Self {
        Self { written, formats, restorer: None, n_different: 0, totals: CarryTotals::default() }
    }

    /// Checks the carry of a record. Returns the rule that it breaks.
    pub fn record(&mut self, line: &Line<'_>, record: Value<'_>) -> Option<CarryFault> {
        let member = Member::find(record, self.written);
        let carry = match &member {
            Some(member) => Carry::parse(&member.carry),
            None if Member::is_in(record, self.written) => Err(CarryError::Damaged),
            None => return None,
        };
        let carry = match carry {
            Ok(carry) => carry,
            Err(CarryError::Newer) => {
                return Some(CarryFault {
                    rule: "carry-newer",
                    message: "its carry is of a newer version",
                });
            }
            Err(CarryError::Damaged) => {
                return Some(CarryFault {
                    rule: "carry-damaged",
                    message: "its carry is damaged: its source is lost",
                });
            }
        };
        self.totals.note(&carry);
        let source = carry.format.of(self.formats);
        match self.totals.see(&carry) {
            _ if self.differs(line, record, source) => Some(DIFFERS),
            Seen::Again => {
                Some(CarryFault { rule: "carry-doubled", message: "the record is here twice" })
            }
            Seen::Late => Some(CarryFault {
                rule: "carry-moved",
                message: "the record is not where it was written",
            }),
            Seen::Next => None,
        }
    }

    /// Restores the carry of a record, and returns whether the record differs from it.
    fn differs(
        &mut self,
        line: &Line<'_>,
        record: Value<'_>,
        source: Option<&'static Format>,
    ) -> bool {
        let Some(source) = source else { return false };
        let restorer =
            self.restorer.get_or_insert_with(|| Restorer::new(source, self.written, None));
        restorer.count_read(line.bytes().len() as u64);
        // Only reading a sidecar can fail, and there is none.
        _ = restorer.push_value(line, Some(record), None);
        let shown = Some(record).filter(|_| !line.is_glue());
        while let Ok(Some(_)) = restorer.next_item(shown) {}
        let n_before = std::mem::replace(&mut self.n_different, restorer.stats().differs);
        self.n_different > n_before
    }

    /// Returns a message about carries that are missing at the end of the file; `None` if all are
    /// there.
    pub fn finish(&self) -> Option<String> {
        let Shortfall { is_cut, missing, is_miscounted } = self.totals.shortfall();
        if is_cut {
            return Some("the file was cut: its last carry is missing".to_owned());
        }
        let miscounted = "the carries have other entries than their end mark says";
        match missing {
            0 => is_miscounted.then(|| miscounted.to_owned()),
            1 => Some("1 record with a carry is missing".to_owned()),
            _ => Some(format!("{missing} records with a carry are missing")),
        }
    }
}

/// Returns a sentence for each fault of the carries of a file; empty for a native file.
///
/// # Errors
///
/// Returns an error if the file cannot be read.
pub fn carry_faults<R: Read + Seek + Send>(
    formats: Formats,
    source: &mut Source<R>,
    format: &'static Format,
) -> io::Result<Vec<String>> {
    source.set_framing(format.framing);
    let (mut audit, mut found) = (CarryAudit::new(formats, format), BTreeMap::new());
    let (mut n_plain, mut has_carry) = (0, false);
    source.for_each(&mut |line, value| {
        if let Ok(value) = value {
            match Member::is_in(value, format) {
                true => has_carry = true,
                false => n_plain += 1,
            }
            if let Some(CarryFault { message, .. }) = audit.record(line, value) {
                *found.entry(message).or_insert(0) += 1;
            }
        }
        // Most files have no carry. The first records are enough to see that.
        has_carry || n_plain < MAX_LINES
    })?;
    let mut faults: Vec<String> = found
        .into_iter()
        .map(|(message, n)| match n {
            1 => format!("carry of a record: {message}"),
            _ => format!("carries of {n} records: {message}"),
        })
        .collect();
    faults.extend(audit.finish().map(|message| format!("carry: {message}")));
    Ok(faults)
}
