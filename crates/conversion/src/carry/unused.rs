//! Counts the carries of a source that no restorer reads.
//!
//! In: a clido file of 100 records without a carry, then one with the carry `2F...N1:5;..`. Out: one carry that is not used,
//! because only a carry in the first lines says where a file comes from. Converted to Codex, a clido file whose first carry
//! names Claude Code and whose second one names pi has one that is not used, too. So has one that is restored, unless the
//! carries that name pi continue its session.

use core_model::{Format, Formats};
use jsonl::{Line, Value};
use memchr::memmem;

use super::{Carry, CarryError, Member, push_number, restore::RestoreStats};

/// The carries that are counted while a source is converted without being restored.
#[derive(Clone, Debug, Default)]
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
        /// The only carries that count; `None` for all.
        of: Option<CarriesOfOthers>,
    },
    /// All.
    LateFound {
        /// As for `Late`.
        of: Option<CarriesOfOthers>,
    },
}

/// The carries of all formats but one, in a source whose first carry names that one. They go into the target's carry, but
/// they belong to another source, whose own history is not followed.
#[derive(Clone, Debug)]
pub(crate) struct CarriesOfOthers {
    /// The format that the first carry names.
    first: &'static Format,
    /// The start of its carries: `"2F5:clidoG`.
    start: memmem::Finder<'static>,
}

impl CarriesOfOthers {
    pub(crate) fn new(first: &'static Format) -> Self {
        let mut start = b"\"2F".to_vec();
        push_number(&mut start, first.name.len() as u64);
        start.extend_from_slice(&[b":", first.name.as_bytes(), b"G"].concat());
        Self { first, start: memmem::Finder::new(&start).into_owned() }
    }

    /// Returns whether a record may have such a carry: none of its strings starts as a carry of the first format. The
    /// carries within a carry have no quotation marks, and text has a backslash before them.
    fn may_be_in(&self, bytes: &[u8]) -> bool {
        let is_text = |at: usize| at.checked_sub(1).and_then(|at| bytes.get(at)) == Some(&b'\\');
        Member::was_in(bytes) && self.start.find_iter(bytes).all(is_text)
    }
}

impl UnusedCarries {
    /// Returns a counter of carries behind the first lines, of all formats or of all but one.
    pub(crate) fn late(of: Option<CarriesOfOthers>) -> Self {
        Self::Late { n_open: 0, of }
    }

    /// Counts a carry of the source's sidecar.
    pub(crate) fn count_of_sidecar(&mut self, carry: &str, stats: &mut RestoreStats) {
        match self {
            Self::Unreadable(formats) => stats.count_carry(Carry::parse(carry), *formats),
            Self::Late { of: Some(_), .. } | Self::LateFound { of: Some(_) } => {
                self.count_late(carry, stats);
            }
            _ => {}
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
        match self {
            Self::Expected => {}
            Self::Unreadable(formats) => stats.count_unreadable(line, record, *formats),
            Self::Late { of, .. } | Self::LateFound { of } => {
                let is_fit = of.as_ref().is_none_or(|of| of.may_be_in(line.bytes()));
                stats.damaged +=
                    u64::from(record.is_none() && is_fit && Member::was_in(line.bytes()));
                let Some(record) = record.filter(|_| is_fit) else { return };
                if let Some(member) = Member::find(record, written) {
                    self.count_late(&member.carry, stats);
                }
            }
        }
    }

    fn count_late(&mut self, carry: &str, stats: &mut RestoreStats) {
        self.count_read(Carry::parse(carry), stats);
    }

    /// Counts a carry that was read.
    pub(crate) fn count_read(
        &mut self,
        carry: Result<Carry<'_>, CarryError>,
        stats: &mut RestoreStats,
    ) {
        match self {
            Self::Late { of: Some(of), .. } | Self::LateFound { of: Some(of) }
                if !carry.as_ref().is_ok_and(|carry| !carry.format.is(of.first)) => {}
            Self::Late { n_open, of } => match carry {
                Ok(carry) => match carry.continues_a_session(*n_open == 0) {
                    None => *n_open += 1,
                    Some(true) => *self = Self::Expected,
                    Some(false) => {
                        stats.unused += *n_open + 1;
                        *self = Self::LateFound { of: of.take() };
                    }
                },
                Err(CarryError::Newer) => stats.newer += 1,
                Err(CarryError::Damaged) => stats.damaged += 1,
            },
            Self::LateFound { .. } => stats.unused += 1,
            Self::Expected | Self::Unreadable(_) => {}
        }
    }
}
