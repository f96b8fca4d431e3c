//! Counts the carries of a source that no restorer reads.
//!
//! In: a clido file of 100 records without a carry, then one with the carry `2F...N1:5;..`. Out: one carry that is not used,
//! because only a carry in the first lines says where a file comes from.

use core_model::{Format, Formats};
use jsonl::{Line, Value};

use super::{Carry, CarryError, Member, restore::RestoreStats};

/// The carries that are counted while a source is converted without being restored.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum UnusedCarries {
    /// None: they go into the target's carry, or the caller ignores them.
    #[default]
    Expected,
    /// The carries of these formats that cannot be read, because none of the first carries of the source can be read.
    Unreadable(Formats),
    /// All, unless the first ones belong to a session that was continued in another client.
    Late {
        /// The number of carries so far. They have no entry, so that they do not tell.
        n_open: u64,
    },
    /// All.
    LateFound,
}

impl UnusedCarries {
    /// Counts a carry of the source's sidecar.
    pub(crate) fn count_of_sidecar(&self, carry: &str, stats: &mut RestoreStats) {
        if let Self::Unreadable(formats) = *self {
            stats.count_carry(Carry::parse(carry), formats);
        }
    }

    /// Counts the carry of a record of a format.
    pub(crate) fn count(
        &mut self,
        line: &Line<'_>,
        record: Option<Value<'_>>,
        written: &Format,
        stats: &mut RestoreStats,
    ) {
        match *self {
            Self::Expected => {}
            Self::Unreadable(formats) => stats.count_unreadable(line, record, formats),
            Self::Late { n_open } => {
                let Some(member) = record.and_then(|record| Member::find(record, written)) else {
                    return;
                };
                match Carry::parse(&member.carry) {
                    Ok(carry) => match carry.continues_a_session(n_open == 0) {
                        None => *self = Self::Late { n_open: n_open + 1 },
                        Some(true) => *self = Self::Expected,
                        Some(false) => {
                            *self = Self::LateFound;
                            stats.unused += n_open + 1;
                        }
                    },
                    Err(CarryError::Newer) => stats.newer += 1,
                    Err(CarryError::Damaged) => stats.damaged += 1,
                }
            }
            Self::LateFound => {
                let has_carry = record.is_some_and(|record| Member::is_in(record, written));
                stats.unused += u64::from(has_carry);
            }
        }
    }
}
