//! The items that a restorer makes of records, and their counts.

use core_model::Formats;
use jsonl::{Line, LineBuf, Value};

use crate::carry::{Carry, CarryError, Member, parts::PartLines};

/// The result of restoring a record.
#[derive(Debug)]
pub(crate) enum Item {
    /// A source record, byte for byte.
    Restored {
        /// The bytes with the terminator.
        line: LineBuf,
        /// Whether it is the start of its file, which was not moved.
        is_start: bool,
        /// Whether it is a piece of a damaged record, and follows the piece before it.
        is_continued: bool,
        /// Whether it starts where the one before it ended, or at the start of the source.
        follows: bool,
        /// Whether it is the glue around the records of a document.
        is_glue: bool,
        /// The carry that the source's own sidecar has for the record.
        carry: Option<String>,
        /// The written records that show its parts, if there are several.
        said_by: PartLines,
    },
    /// A record that must be converted, because it was added or edited.
    Converted {
        /// The record without its carry, with its terminator.
        line: Vec<u8>,
        /// The offset in the file that it was read from.
        offset: u64,
        /// The number of its line there; 0 if it is not known.
        number: u64,
        /// If it was edited: the skeletons of its source records.
        skeletons: Option<Vec<Vec<u8>>>,
        /// Whether the file has the record a second time.
        is_doubled: bool,
    },
    /// A carry of the source's own sidecar without a record.
    Orphan {
        /// The carry.
        carry: String,
    },
}

impl Item {
    /// Returns the size of the item's bytes.
    pub(crate) fn n_bytes(&self) -> usize {
        match self {
            Item::Restored { line, carry, said_by, .. } => {
                line.room() + carry.as_ref().map_or(0, String::len) + said_by.n_bytes()
            }
            Item::Converted { line, skeletons, .. } => {
                line.len() + skeletons.iter().flatten().map(Vec::len).sum::<usize>()
            }
            Item::Orphan { carry } => carry.len(),
        }
    }
}

/// The counts of restoring a written file.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct RestoreStats {
    /// Source records that were restored.
    pub restored: u64,
    /// Written records that another program respelt without a change of content.
    pub respelt: u64,
    /// Written records that were edited since the conversion. They are converted anew from the
    /// content that they show now. Members of their source records that the edit does not touch,
    /// such as the uuid and the time, are kept. The result is not the source.
    pub edited: u64,
    /// Written records that were added since the conversion. They are converted like records of any
    /// source, at their place. All records of the source are still restored.
    pub added: u64,
    /// Written records at another position than they were written.
    pub moved: u64,
    /// Written records, or entries, that occur again.
    pub doubled: u64,
    /// The doubled records without a carry that equal an earlier one, whose carry is in a sidecar: copies, or records that
    /// were added with the same words.
    pub repeated: u64,
    /// The doubled records that are carries of a sidecar alone: each was used once.
    pub doubled_carries: u64,
    /// Written records with a carry that are gone.
    pub missing: u64,
    /// Files without their last carry, which were truncated.
    pub cut: u64,
    /// Files that have all of their carries, with other entries than they were written with.
    pub miscounted: u64,
    /// Documents whose totals are not the totals of their records. The totals are computed anew.
    pub wrong_totals: u64,
    /// Gaps in the source: the records that carried it are gone.
    pub gaps: u64,
    /// Entries that cannot be restored: the template is gone, or the entry was changed.
    pub unreadable: u64,
    /// Entries that were not restored because of the limit on restored bytes,
    /// [`Target::max_restored`](crate::Target::max_restored).
    pub refused: u64,
    /// Written records that show other messages than the records that they restore.
    pub differs: u64,
    /// The offset of the first of them, if it is in the file that was read.
    pub first_difference: Option<u64>,
    /// Carries that do not follow the grammar.
    pub damaged: u64,
    /// Carries of another conversion, with another template or manifest than the first one.
    pub foreign: u64,
    /// Carries of a version that this program does not know.
    pub newer: u64,
    /// Carries that were not used, because the first lines of the file have none, or one of another format. Their records
    /// were converted like the records of a native file.
    pub unused: u64,
}

/// The reason why the carry of a record is not used.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unusable {
    Newer,
    Damaged,
    /// Its template or its manifest is not that of the first carry: it is of another conversion.
    Foreign,
}

impl From<CarryError> for Unusable {
    fn from(error: CarryError) -> Self {
        match error {
            CarryError::Newer => Unusable::Newer,
            CarryError::Damaged => Unusable::Damaged,
        }
    }
}

impl RestoreStats {
    /// Counts a carry that is not used.
    pub(super) fn count_unusable(&mut self, why: Unusable) {
        match why {
            Unusable::Newer => self.newer += 1,
            Unusable::Damaged => self.damaged += 1,
            Unusable::Foreign => self.foreign += 1,
        }
    }

    /// Adds the counts of another file.
    pub fn add(&mut self, other: &RestoreStats) {
        let RestoreStats { restored, .. } = *other;
        self.restored += restored;
        self.add_faults(other);
    }

    /// Adds the counts of another file, without restored records.
    pub fn add_faults(&mut self, other: &RestoreStats) {
        self.respelt += other.respelt;
        self.edited += other.edited;
        self.added += other.added;
        self.moved += other.moved;
        self.doubled += other.doubled;
        self.repeated += other.repeated;
        self.doubled_carries += other.doubled_carries;
        self.missing += other.missing;
        self.cut += other.cut;
        self.miscounted += other.miscounted;
        self.wrong_totals += other.wrong_totals;
        self.gaps += other.gaps;
        self.unreadable += other.unreadable;
        self.refused += other.refused;
        self.differs += other.differs;
        self.first_difference = self.first_difference.or(other.first_difference);
        self.damaged += other.damaged;
        self.foreign += other.foreign;
        self.newer += other.newer;
        self.unused += other.unused;
    }

    /// Counts a record that shows other messages than it restores.
    pub(crate) fn count_difference(&mut self, offset: u64) {
        self.differs += 1;
        self.first_difference = self.first_difference.or(Some(offset));
    }

    /// Counts the carry of a record, if it cannot be read.
    pub fn count_unreadable(
        &mut self,
        line: &Line<'_>,
        record: Option<Value<'_>>,
        formats: Formats,
    ) {
        self.damaged += u64::from(record.is_none() && Member::was_in(line.bytes()));
        let is_in = |record: &Value<'_>| formats.iter().any(|it| Member::is_in(*record, it));
        let Some(record) = record.filter(is_in) else { return };
        let member = Member::find_any(record, formats);
        let carry = member.as_ref().map_or(Err(CarryError::Damaged), |it| Carry::parse(&it.carry));
        self.count_carry(carry, formats);
    }

    /// Counts a carry if it cannot be read, or is of an unknown format.
    pub(crate) fn count_carry(&mut self, carry: Result<Carry<'_>, CarryError>, formats: Formats) {
        match carry {
            Ok(carry) if carry.format.of(formats).is_some() => {}
            Ok(_) | Err(CarryError::Newer) => self.newer += 1,
            Err(CarryError::Damaged) => self.damaged += 1,
        }
    }

    /// Returns whether the last carry, or another one, is gone.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.cut + self.missing > 0
    }

    /// Returns whether records are missing, edited, moved or unreadable, so that the restored bytes
    /// are not the source.
    pub fn is_not_the_source(&self) -> bool {
        let RestoreStats { restored: _, respelt: _, added: _, first_difference: _, .. } = *self;
        self.edited
            + self.moved
            + self.doubled
            + self.missing
            + self.cut
            + self.miscounted
            + self.wrong_totals
            + self.gaps
            + self.unreadable
            + self.refused
            + self.differs
            + self.damaged
            + self.foreign
            + self.newer
            + self.unused
            > 0
    }
}
