//! Looks into the carries of a written file without writing anything: what is damaged, moved, doubled or
//! missing, and what differs from what it restores.

use std::{
    collections::BTreeMap,
    io::{self, Read, Seek},
};

use core_model::{Format, Formats};
use jsonl::{Line, Value};

use super::{
    Carry, CarryError, End, Member,
    ordinals::{Ordinals, Seen},
    restore::Restorer,
};
use crate::pipeline::source::Source;

/// The rule of a record that says something else than it restores.
const DIFFERS: (&str, &str) = ("carry-differs", "it says something else than its carry restores");

/// What was seen of a file's carries so far.
#[derive(Debug)]
pub struct CarryAudit {
    /// The format of the file.
    written: &'static Format,
    formats: Formats,
    /// Restores the source, which is thrown away: so it is seen what differs.
    restorer: Option<Restorer>,
    n_different: u64,
    ordinals: Ordinals,
    end: Option<End>,
    has_ordinals: bool,
}

impl CarryAudit {
    /// Creates what looks at a file of a format.
    pub fn new(formats: Formats, written: &'static Format) -> Self {
        Self {
            written,
            formats,
            restorer: None,
            n_different: 0,
            ordinals: Ordinals::default(),
            end: None,
            has_ordinals: false,
        }
    }

    /// Looks at the carry of a record, and returns the rule that it breaks and what is wrong.
    pub fn record(
        &mut self,
        line: &Line<'_>,
        record: Value<'_>,
    ) -> Option<(&'static str, &'static str)> {
        let member = Member::find(record);
        let carry = match &member {
            Some(member) => Carry::parse(&member.carry),
            None if Member::is_in(record) => Err(CarryError::Damaged),
            None => return None,
        };
        let carry = match carry {
            Ok(carry) => carry,
            Err(CarryError::Newer) => {
                return Some(("carry-newer", "its carry is of a newer version"));
            }
            Err(CarryError::Damaged) => {
                return Some(("carry-damaged", "its carry is damaged: its source is lost"));
            }
        };
        let is_last = |end: &End| self.end.is_none_or(|known| known.carries < end.carries);
        if let Some(end) = carry.end.filter(is_last) {
            self.end = Some(end);
        }
        self.has_ordinals |= carry.ordinal.is_some();
        let source = carry.format.of(self.formats);
        match carry.ordinal.map(|ordinal| self.ordinals.see(ordinal)) {
            _ if self.differs(line, record, source) => Some(DIFFERS),
            Some(Seen::Again) => Some(("carry-doubled", "the record is here twice")),
            Some(Seen::Late) => Some(("carry-moved", "the record is not where it was written")),
            Some(Seen::Next) | None => None,
        }
    }

    /// Restores what a record carries, and returns whether one more differs.
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
        // Without a sidecar there is nothing to read.
        _ = restorer.push(line, Some(record), None);
        while let Ok(Some(_)) = restorer.next_item() {}
        let n_before = std::mem::replace(&mut self.n_different, restorer.tally().differs);
        self.n_different > n_before
    }

    /// Returns what is missing at the end of the file.
    pub fn finish(&self) -> Option<String> {
        if !self.has_ordinals {
            return None;
        }
        let (n_seen, highest) = (self.ordinals.n_seen(), self.ordinals.end());
        match self.end.filter(|end| end.carries >= highest) {
            None => Some("the file was cut: its last carry is missing".to_owned()),
            Some(end) if end.carries > n_seen => {
                Some(format!("{} records with a carry are missing", end.carries - n_seen))
            }
            Some(_) => None,
        }
    }
}

/// Returns what is wrong with the carries of a file, a sentence each; nothing for a native one.
///
/// # Errors
///
/// Those of reading the file.
pub fn carry_faults<R: Read + Seek + Send>(
    formats: Formats,
    source: &mut Source<R>,
    format: &'static Format,
) -> io::Result<Vec<String>> {
    let (mut audit, mut found) = (CarryAudit::new(formats, format), BTreeMap::new());
    let (mut n_plain, mut has_carry) = (0, false);
    source.for_each(&mut |line, value| {
        if let Ok(value) = value {
            match Member::is_in(value) {
                true => has_carry = true,
                false => n_plain += 1,
            }
            if let Some((_, message)) = audit.record(line, value) {
                *found.entry(message).or_insert(0) += 1;
            }
        }
        // Most files carry nothing, and their first records tell.
        has_carry || n_plain < 2
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
