//! The units of a plan by their ids, and the places of their lines.
//!
//! In: a plan of 100,000 units. Out: 60 bytes for each, and each unit again when it is needed.

use std::{io, path::Path};

use core_model::system_words;
use twox_hash::XxHash3_64;

use super::{
    kept_lines::{KeptLines, LinePlace},
    named,
    planned::{Malformed, Planned},
};

/// A plan whose units are read again.
pub struct PlanIndex {
    lines: KeptLines,
    places: Vec<LinePlace>,
    /// The hashes of the ids, and the indices of their units, sorted.
    by_id: Vec<(u64, u32)>,
    /// The first unit.
    pub first: Planned,
    /// Whether all units have the output folder and the options of the first one.
    pub is_uniform: bool,
}

/// The reason why a plan has no index.
#[derive(Debug, thiserror::Error)]
pub enum BadPlan {
    /// It has no units.
    #[error("the plan has no units; write one with `convert plan`")]
    Empty,
    /// A line is no unit.
    #[error("line {0} is no unit: {1}")]
    Line(u64, Malformed),
    /// It cannot be read.
    #[error("{}", system_words(.0))]
    Io(#[from] io::Error),
}

impl PlanIndex {
    /// Reads a plan, from standard input for `-`.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be read, if a line is no unit, or if there is none.
    pub fn read(path: &Path) -> Result<Self, BadPlan> {
        let mut lines = KeptLines::open(path)?;
        let (mut places, mut by_id, mut is_uniform) = (Vec::new(), Vec::new(), true);
        let (mut first, mut malformed): (Option<Planned>, _) = (None, None);
        let read = lines.each(&mut |number, place, line| {
            match Planned::parse(line) {
                Ok(unit) => {
                    let unit_idx = u32::try_from(places.len()).unwrap_or(u32::MAX);
                    by_id.push((hash(&unit.id), unit_idx));
                    places.push(place);
                    let first = first.get_or_insert_with(|| unit.clone());
                    is_uniform &= unit.root == first.root && unit.digest == first.digest;
                }
                Err(why) => malformed = Some((number, why)),
            }
            malformed.is_none()
        });
        read.map_err(|error| named(error, path))?;
        if let Some((number, why)) = malformed {
            return Err(BadPlan::Line(number, why));
        }
        by_id.sort_unstable();
        let first = first.ok_or(BadPlan::Empty)?;
        Ok(Self { lines, places, by_id, first, is_uniform })
    }

    /// Returns the number of units.
    pub fn n_units(&self) -> usize {
        self.places.len()
    }

    /// Returns the index of the last unit with an id.
    pub(super) fn find(&self, id: &str) -> Option<usize> {
        let hash = hash(id);
        let end = self.by_id.partition_point(|(other, _)| *other <= hash);
        let (found, unit_idx) = *self.by_id.get(end.checked_sub(1)?)?;
        (found == hash).then_some(unit_idx as usize)
    }

    /// Reads a unit again.
    ///
    /// # Errors
    ///
    /// Returns an error if the plan cannot be read any more, or has changed.
    pub(super) fn unit(&mut self, unit_idx: usize, line: &mut Vec<u8>) -> io::Result<Planned> {
        let changed = || io::Error::other("the plan was changed while it was read");
        let place = self.places.get(unit_idx).copied().ok_or_else(changed)?;
        self.lines.read(place, line)?;
        Planned::parse(line).map_err(|_| changed())
    }
}

/// Returns the hash of an id or of another text of a unit.
pub(super) fn hash(text: &str) -> u64 {
    XxHash3_64::oneshot(text.as_bytes())
}
