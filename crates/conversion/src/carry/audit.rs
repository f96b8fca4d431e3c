//! Looks into the carries of a written file without restoring anything: what is damaged, moved, doubled
//! or missing.

use jsonl::Value;

use super::{
    Carry, CarryError, End, Member,
    ordinals::{Ordinals, Seen},
};

/// What was seen of a file's carries so far.
#[derive(Debug, Default)]
pub struct CarryAudit {
    ordinals: Ordinals,
    end: Option<End>,
    has_ordinals: bool,
}

impl CarryAudit {
    /// Looks at the carry of a record, and returns the rule that it breaks and what is wrong.
    pub fn record(&mut self, record: Value<'_>) -> Option<(&'static str, &'static str)> {
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
        match carry.ordinal.map(|ordinal| self.ordinals.see(ordinal)) {
            Some(Seen::Again) => Some(("carry-doubled", "the record is here twice")),
            Some(Seen::Late) => Some(("carry-moved", "the record is not where it was written")),
            Some(Seen::Next) | None => None,
        }
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
