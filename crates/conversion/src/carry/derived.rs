//! Finds whether a file was derived from its session's source, and whether it is as it was written.
//!
//! In: the records of a sub-agent's transcript, whose carries have guards and ordinals but no entries. Out: whether a
//! record was edited, added, removed, moved or doubled since. Such a file restores nothing: its session does.

use core_model::{Format, Formats};
use jsonl::{ErrorKind, Line, Value};

use super::{
    Carry, Member,
    manifest::DerivedFrom,
    ordinals::Seen,
    restore::Restorer,
    totals::{CarryTotals, Shortfall},
};
use crate::detect::MAX_LINES;

/// A check whether a file was derived, and whether its records are as they were written.
#[derive(Debug)]
pub struct DerivedFile {
    /// The format of the file.
    written: &'static Format,
    formats: Formats,
    /// Finds the written spelling of records. Created at the first carry, which names the source's format.
    restorer: Option<Restorer>,
    totals: CarryTotals,
    is_derived: bool,
    from: Option<DerivedFrom>,
    /// Whether the carry that says whether the file is derived was read, or is not among the first records.
    is_decided: bool,
    is_intact: bool,
    n_records: usize,
}

impl DerivedFile {
    /// Creates a check of a file in the format `written`.
    pub fn new(formats: Formats, written: &'static Format) -> Self {
        let totals = CarryTotals::default();
        Self {
            written,
            formats,
            restorer: None,
            totals,
            is_derived: false,
            from: None,
            is_decided: false,
            is_intact: true,
            n_records: 0,
        }
    }

    /// Adds a record, or glue, with its value. Returns whether further ones may change the result.
    pub fn push(&mut self, line: &Line<'_>, value: Result<Value<'_>, jsonl::Error>) -> bool {
        let is_glue = line.is_glue();
        // An editor added a blank line; the commas and brackets between the records of a document have no carry.
        let is_empty = line.is_blank() && !is_glue
            || is_glue && value.as_ref().is_err_and(|error| error.kind == ErrorKind::Empty);
        let member = value.ok().and_then(|value| Member::find(value, self.written));
        // The members behind the records, such as the sums of ATIF, have none either.
        if is_empty || is_glue && self.n_records > 0 && member.is_none() {
            return true;
        }
        self.n_records += 1;
        let carry = member.as_ref().and_then(|it| Some((it, Carry::parse(&it.carry).ok()?)));
        let has_carry = carry.is_some();
        self.is_intact &=
            carry.is_some_and(|(member, carry)| self.is_as_written(member, &carry, is_glue));
        self.is_decided |= self.n_records == 1 && !has_carry || self.n_records == MAX_LINES;
        if self.is_derived { self.is_intact } else { !self.is_decided }
    }

    fn is_as_written(&mut self, member: &Member<'_>, carry: &Carry<'_>, is_glue: bool) -> bool {
        if self.n_records == 1 {
            let source = carry.format.of(self.formats);
            self.restorer = source.map(|source| Restorer::new(source, self.written, None));
        }
        self.is_derived |= carry.manifest.as_ref().is_some_and(|it| it.is_derived());
        let manifest = carry.manifest.as_ref();
        if let Some(from) = manifest.and_then(|manifest| manifest.derived_from.as_ref()) {
            self.from.get_or_insert_with(|| from.clone());
        }
        self.is_decided |= carry.ordinal.is_none_or(|ordinal| ordinal == 0);
        self.totals.note(carry);
        // The members around the records have no place among them.
        let is_in_place = self.totals.see(carry) == Seen::Next || is_glue;
        let Some(restorer) = &mut self.restorer else { return false };
        // A record that was added in another format has a carry with entries.
        is_in_place
            && carry.entries().next().is_none()
            && restorer.is_as_written(member, carry, is_glue)
    }

    /// Returns whether the file is as it was written; `None` if it is not derived.
    pub fn finish(&self) -> Option<bool> {
        let is_whole = self.totals.shortfall() == Shortfall::default();
        self.is_derived.then_some(self.is_intact && is_whole)
    }

    /// Returns the session that the file was derived from; `None` if an earlier version wrote the file.
    pub fn from(&self) -> Option<&DerivedFrom> {
        self.from.as_ref()
    }
}
