//! The position in a source while its records are restored in order.
//!
//! In: records of 4 bytes at the offsets 0, 8 and 4, of which the second is released before the third one comes. Out: 0 is
//! next; 8 leaves a gap from 4 to 8; 4 is in the gap, so it is restored; a second record at 0 or 8 is not.

use std::collections::BTreeMap;

/// The offset that comes next in a source, and the gaps before it.
#[derive(Debug)]
pub(super) struct Position {
    /// The offset of the first record.
    start: u64,
    /// The offset of the next record; `None` after an edited record, whose length in the source is unknown.
    expected: Option<u64>,
    /// The start and end of each gap that was given up. Its records may still come.
    gaps: BTreeMap<u64, u64>,
    /// The offset of the first edited record since the last restored one.
    edited_at: Option<u64>,
    /// The start and end of moved records, so that no record waits for them.
    moved: BTreeMap<u64, u64>,
    /// Whether the expected offset is behind a moved record, which is elsewhere.
    has_passed: bool,
}

impl Position {
    /// Creates the position before a record at an offset.
    pub(super) fn new(start: u64) -> Self {
        Self {
            start,
            expected: Some(start),
            gaps: BTreeMap::new(),
            edited_at: None,
            moved: BTreeMap::new(),
            has_passed: false,
        }
    }

    /// Returns whether an offset is the first one.
    pub(super) fn is_start(&self, offset: u64) -> bool {
        offset == self.start
    }

    /// Returns whether no record is missing before an offset.
    pub(super) fn is_next(&mut self, offset: u64) -> bool {
        while let Some(end) = self.expected.and_then(|expected| self.moved.remove(&expected)) {
            self.expected = Some(end);
            self.has_passed = true;
        }
        self.expected.is_none_or(|expected| offset <= expected)
    }

    /// Returns whether the bytes at an offset were released, or belong to a record that was moved. Bytes in a gap were not.
    pub(super) fn is_past(&self, offset: u64) -> bool {
        let gap = || self.gaps.range(..=offset).next_back();
        self.expected.is_some_and(|expected| offset < expected)
            && gap().is_none_or(|(_, end)| *end <= offset)
    }

    /// Gives up the records before an offset. Returns whether there is a gap.
    pub(super) fn pass_gap(&mut self, offset: u64) -> bool {
        let Some(start) = self.expected.filter(|expected| *expected < offset) else {
            return false;
        };
        self.gaps.insert(start, offset);
        true
    }

    /// Passes an edited record.
    pub(super) fn pass_edited(&mut self, offset: u64) {
        self.expected = None;
        self.edited_at.get_or_insert(offset);
    }

    /// Passes a restored record. Returns whether it starts where the one before it ended, or at the start.
    pub(super) fn pass(&mut self, offset: u64, length: u64) -> bool {
        let follows = !std::mem::take(&mut self.has_passed) && self.expected == Some(offset);
        // The length of an edited record in the source is unknown, and other records may follow it up to here.
        if let Some(start) = self.edited_at.take().filter(|start| *start < offset) {
            self.gaps.insert(start, offset);
        }
        self.expected = Some(offset + length);
        follows
    }

    /// Notes that a record is elsewhere.
    pub(super) fn note_moved(&mut self, offset: u64, length: u64) {
        self.moved.insert(offset, offset + length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_in_a_gap_may_still_come() {
        let mut position = Position::new(0);
        assert!(position.is_start(0) && position.is_next(0) && position.pass(0, 4));
        assert!(!position.is_next(8) && position.pass_gap(8) && !position.pass(8, 4));
        assert!(position.is_past(0) && position.is_past(8));
        assert!(!position.is_past(4) && !position.is_past(12));
    }

    #[test]
    fn records_may_be_in_the_place_of_an_edited_one() {
        let mut position = Position::new(0);
        position.pass_edited(0);
        assert!(position.is_next(20) && !position.pass_gap(20));
        position.pass(20, 4);
        assert!(!position.is_past(12) && position.is_past(20));
    }

    #[test]
    fn a_moved_record_is_passed() {
        let mut position = Position::new(0);
        position.note_moved(0, 4);
        assert!(position.is_next(4) && !position.pass(4, 4));
        assert!(position.is_past(0) && position.is_next(8) && position.pass(8, 4));
    }
}
