//! Releases the waiting records of a file, in the order of the source.
//!
//! In: records at the offsets 0, 4 and 12, and nothing at 8. Out: the first two. The third one waits, or follows a gap
//! if all are released.

use super::{ITEM_OVERHEAD, ReorderBuffer, Waiting};
use crate::carry::{
    parts::{Assembled, PartLines, Parts},
    restore::{Item, RestoreStats},
    spilled_runs::RestoredRecord,
};

/// Limit on the skeleton of a record in parts, in bytes. The skeletons of further parts are dropped.
const MAX_SKELETON: usize = 4 * 1024 * 1024;

impl ReorderBuffer {
    /// Releases records as [`ReorderBuffer::drain`] does, until they have more than `most` bytes.
    pub(super) fn release(&mut self, all: bool, most: usize, stats: &mut RestoreStats) {
        self.unfinished = None;
        let mut n_released = 0_usize;
        loop {
            if n_released > most {
                self.unfinished = Some(all);
                return;
            }
            let in_memory = self.waiting.first_key_value().map(|((offset, _), _)| *offset);
            let in_file = self.spilled.first();
            if in_file.is_some_and(|offset| in_memory.is_none_or(|it| offset <= it)) {
                match self.release_spilled(all, stats) {
                    0 => break,
                    n_bytes => n_released = n_released.saturating_add(n_bytes),
                }
                continue;
            }
            let Some(offset) = in_memory else { break };
            let is_next = self.position.is_next(offset);
            let Some(entry) = self.waiting.first_entry() else { break };
            let is_complete = match entry.get() {
                Waiting::Parts(parts) => parts.is_complete(),
                _ => true,
            };
            if !(all || is_next && is_complete) {
                break;
            }
            let waiting = entry.remove();
            let is_added = matches!(waiting, Waiting::Added(_));
            stats.gaps += u64::from(!is_added && self.position.pass_gap(offset));
            self.n_bytes = self.n_bytes.saturating_sub(waiting.n_bytes());
            n_released = n_released.saturating_add(waiting.n_bytes());
            match waiting {
                Waiting::Item(Item::Restored { line, is_glue, .. }) => {
                    let record = RestoredRecord { offset, line, is_glue };
                    self.hand_out(record, PartLines::default(), stats);
                }
                Waiting::Item(item) => {
                    self.position.pass_edited(offset);
                    self.hand_out_other(item);
                }
                Waiting::Moved { line, offset } => {
                    stats.restored += 1;
                    let carry = self.take_sidecar(offset);
                    let said_by = PartLines::default();
                    self.hand_out_other(Item::Restored {
                        line,
                        is_start: false,
                        is_continued: false,
                        follows: false,
                        is_glue: false,
                        carry,
                        said_by,
                    });
                }
                Waiting::Parts(parts) => self.hand_out_parts(offset, parts, stats),
                Waiting::Added(item) => self.hand_out_other(item),
            }
        }
        self.end_release();
    }

    /// Releases the first record in the file, unless a record before it is missing. Returns the
    /// memory that it takes; 0 if it stays.
    fn release_spilled(&mut self, all: bool, stats: &mut RestoreStats) -> usize {
        let Some(offset) = self.spilled.first() else { return 0 };
        if !(self.position.is_next(offset) || all) {
            return 0;
        }
        stats.gaps += u64::from(self.position.pass_gap(offset));
        let Ok(Some(record)) = self.spilled.take() else {
            // The rest of its run cannot be read.
            stats.gaps += 1;
            return ITEM_OVERHEAD;
        };
        let n_bytes = record.line.room() + ITEM_OVERHEAD;
        self.hand_out(record, PartLines::default(), stats);
        // Copies of the record that came after it was moved to the file.
        while self.spilled.first() == Some(offset) {
            stats.doubled += u64::from(matches!(self.spilled.take(), Ok(Some(_))));
        }
        let is_copy = |waiting: &Waiting| {
            matches!(waiting, Waiting::Item(Item::Restored { .. }) | Waiting::Parts(_))
        };
        let place = (offset, 0)..(offset, u64::MAX);
        let copies: Vec<(u64, u64)> = self
            .waiting
            .range(place)
            .filter(|(_, waiting)| is_copy(waiting))
            .map(|(key, _)| *key)
            .collect();
        for key in copies {
            if let Some(waiting) = self.waiting.remove(&key) {
                self.n_bytes = self.n_bytes.saturating_sub(waiting.n_bytes());
                stats.doubled += 1;
            }
        }
        n_bytes
    }

    /// Releases all records, and then the carries of the source's own sidecar whose records did not
    /// come.
    pub(crate) fn drain_all(&mut self, stats: &mut RestoreStats) {
        self.drain(true, stats);
        self.drains_sidecar = true;
        if self.unfinished.is_none() {
            self.end_release();
        }
    }

    /// Releases the items that follow a release.
    fn end_release(&mut self) {
        // Then the space on the disk is free again.
        self.parts_file.take_if(|file| file.is_unused());
        if std::mem::take(&mut self.drains_sidecar) {
            self.drain_sidecar();
        }
    }

    fn drain_sidecar(&mut self) {
        for (_, (carry, _)) in std::mem::take(&mut self.sidecar) {
            self.n_bytes = self.n_bytes.saturating_sub(carry.len() + ITEM_OVERHEAD);
            self.hand_out_other(Item::Orphan { carry });
        }
    }

    fn hand_out_parts(&mut self, offset: u64, parts: Parts, stats: &mut RestoreStats) {
        let Assembled { whole, lines, is_glue } = parts.assemble();
        if let Some(whole) = whole {
            let record = RestoredRecord { offset, line: whole.into(), is_glue };
            return self.hand_out(record, lines, stats);
        }
        stats.edited += 1;
        stats.gaps += u64::from(lines.is_empty());
        self.position.pass_edited(offset);
        // The skeletons of all parts make up the source record's. The first written record gets it,
        // so that the envelope is used once.
        let mut skeleton = Vec::new();
        let is_read = lines.for_each(None, |line, _| {
            if skeleton.len() + line.skeleton.len() <= MAX_SKELETON {
                skeleton.extend_from_slice(&line.skeleton);
            }
        });
        // Written records in a file that cannot be read are lost.
        stats.unreadable += u64::from(!is_read);
        self.is_open = false;
        self.ready.push_lines(lines, vec![skeleton]);
    }

    /// Releases restored bytes. They continue the previous ones if those had no newline and ended
    /// here.
    fn hand_out(&mut self, record: RestoredRecord, said_by: PartLines, stats: &mut RestoreStats) {
        let RestoredRecord { offset, line, is_glue } = record;
        stats.restored += u64::from(!is_glue);
        let follows = self.position.pass(offset, line.bytes().len() as u64);
        let is_continued = self.is_open && follows;
        let is_start = self.position.is_start(offset);
        self.is_open = !line.bytes().ends_with(b"\n");
        let carry = self.take_sidecar(offset);
        let item =
            Item::Restored { line, is_start, is_continued, follows, is_glue, carry, said_by };
        self.ready.push(item);
    }

    /// Removes and returns the carry that the source's own sidecar has for a record.
    pub(super) fn take_sidecar(&mut self, offset: u64) -> Option<String> {
        let (carry, _) = self.sidecar.remove(&offset)?;
        self.n_bytes = self.n_bytes.saturating_sub(carry.len() + ITEM_OVERHEAD);
        Some(carry)
    }

    fn hand_out_other(&mut self, item: Item) {
        self.is_open = false;
        self.ready.push(item);
    }
}
