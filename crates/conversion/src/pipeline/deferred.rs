//! Delays lines until another line of the source has been written.
//!
//! In: source lines in file order, and a plan that names for each delayed line the line that it
//! follows. Out: the same lines in the order of the plan. The plan comes from the survey. An
//! example is a tool result that the client logged before the message that it answers.
//!
//! ```text
//! plan: the line at 0 follows the line at 20
//!
//! keep(0)      true: delayed
//! keep(10)     false: convert it now      before(10) = []   after(10) = []
//! keep(20)     false: convert it now      before(20) = []   after(20) = [0]
//! order written: 10, 20, 0
//! ```
//!
//! The reorder buffer restores the order of the source on the way back.

use std::collections::BTreeMap;

use core_model::Late;
use jsonl::{Line, Unit};

/// Limit in bytes on the distance that a line is delayed, and so on the memory of delayed lines. On
/// the way back, the reorder buffer has a file for the records that wait.
const MAX_DISTANCE: u64 = 8 * 1024 * 1024;

/// The lines to delay, and the delayed lines that have not been released.
#[derive(Debug, Default)]
pub(crate) struct DeferredRecords {
    /// The lines to delay, by their offset.
    places: Vec<LatePlace>,
    waiting: BTreeMap<(u64, u32), DeferredRecord>,
    /// The offset of the first waiting line.
    first: u64,
}

/// The planned position of a delayed line.
#[derive(Clone, Copy, Debug)]
struct LatePlace {
    /// The offset of the line.
    offset: u64,
    /// The offset of the line that it follows.
    after: u64,
    /// The index among all delayed lines, which decides between lines that follow the same one.
    number: u32,
}

/// A delayed line.
#[derive(Debug)]
pub(crate) struct DeferredRecord {
    /// The line with its terminator.
    pub(crate) bytes: Vec<u8>,
    /// The offset in the source.
    pub(crate) offset: u64,
    /// The line number in the source, from 1.
    pub(crate) number: u64,
    /// The part of the source that it is.
    pub(crate) unit: Unit,
}

impl DeferredRecords {
    /// Creates the list of lines to delay, from a plan.
    pub(crate) fn new(late: &[Late]) -> Self {
        let place =
            |(number, &Late { offset, after }): (u32, &Late)| LatePlace { offset, after, number };
        let mut places: Vec<LatePlace> = (0..).zip(late).map(place).collect();
        places.sort_unstable_by_key(|place| place.offset);
        Self { places, ..Self::default() }
    }

    /// Stores a line if the plan delays it. Returns whether it does; a line longer than
    /// `MAX_DISTANCE` is never delayed.
    pub(crate) fn keep(&mut self, line: &Line<'_>, number: u64) -> bool {
        if line.is_glue() {
            return false;
        }
        // Not in ascending order: the lines of a sub-agent's file come among the lines of the session.
        let found = self.places.binary_search_by_key(&line.offset(), |place| place.offset);
        let Some(place) = found.ok().and_then(|found| self.places.get(found)) else {
            return false;
        };
        let bytes = line.bytes();
        if bytes.len() as u64 > MAX_DISTANCE {
            return false;
        }
        if self.waiting.is_empty() {
            self.first = line.offset();
        }
        let (offset, unit) = (line.offset(), line.unit());
        let record = DeferredRecord { bytes: bytes.to_vec(), offset, number, unit };
        self.waiting.insert((place.after, place.number), record);
        true
    }

    /// Returns whether a line waits.
    pub(crate) fn waits(&self, line: &Line<'_>) -> bool {
        self.waiting.values().any(|record| record.offset == line.offset())
    }

    /// Removes and returns all waiting lines if `line` ends more than `MAX_DISTANCE` behind the
    /// first of them.
    pub(crate) fn before(&mut self, line: &Line<'_>) -> Vec<DeferredRecord> {
        let end = line.offset() + line.bytes().len() as u64;
        if self.waiting.is_empty() || end.saturating_sub(self.first) <= MAX_DISTANCE {
            return Vec::new();
        }
        std::mem::take(&mut self.waiting).into_values().collect()
    }

    /// Removes and returns the waiting lines that follow `line`.
    pub(crate) fn after(&mut self, line: &Line<'_>) -> Vec<DeferredRecord> {
        let mut after = Vec::new();
        while let Some(entry) = self.waiting.first_entry()
            && entry.key().0 <= line.offset()
        {
            after.push(entry.remove());
        }
        after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the offsets of lines in the order in which they are written.
    fn written(late: &[Late], offsets: &[u64]) -> Vec<u64> {
        let mut deferred = DeferredRecords::new(late);
        let mut written = Vec::new();
        for (number, offset) in (1..).zip(offsets) {
            let line = Line::new(b"{\"n\": 11}\n", *offset);
            if deferred.keep(&line, number) {
                continue;
            }
            written.extend(deferred.before(&line).iter().map(|late| late.offset));
            written.push(*offset);
            written.extend(deferred.after(&line).iter().map(|late| late.offset));
        }
        written
    }

    #[test]
    fn the_example_of_the_module_is_true() {
        let late = [Late { offset: 0, after: 20 }];
        assert_eq!(written(&late, &[0, 10, 20]), [10, 20, 0]);
    }

    #[test]
    fn a_sub_agents_lines_may_come_before_a_line_that_is_delayed() {
        let late = [Late { offset: 10, after: 20 }, Late { offset: 900, after: 910 }];
        assert_eq!(written(&late, &[0, 900, 500, 910, 10, 20]), [0, 500, 910, 900, 20, 10]);
    }
}
