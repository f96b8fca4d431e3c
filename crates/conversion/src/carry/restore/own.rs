//! Restores the source records that a written record shows.
//!
//! In: a carry with two entries of the kind [`EntryKind::Own`](crate::carry::EntryKind::Own) and one that is held. Out:
//! the bytes of the two source records.

use std::collections::VecDeque;

use jsonl::LineBuf;

use super::Restorer;
use crate::carry::{Carry, WrittenText};

/// Limit on the memory of restored entries that are kept while the other entries of their record are
/// checked. Others are restored a second time, but for the first one, which is often the only one.
const MAX_KEPT: usize = 512 * 1024;

/// The memory of a kept entry beside its bytes and its index.
const OVERHEAD: usize = 128;

/// The check of a record's own entries.
pub(super) struct OwnEntries {
    /// The first restored records.
    pub(super) kept: VecDeque<OwnRecord>,
    pub(super) n_own: usize,
    pub(super) is_whole: bool,
    pub(super) has_parts: bool,
    /// Whether they refer to the written record, or the record waits with its parts.
    pub(super) refers: bool,
    pub(super) n_sources: u64,
    /// The highest source offset; `u64::MAX` without entries.
    pub(super) last: u64,
}

impl OwnEntries {
    /// Returns whether the kept records are all source records that the written record shows.
    pub(super) fn is_restored(&self) -> bool {
        let is_complete = self.kept.len() == self.n_own && self.n_own > 0;
        is_complete && self.is_whole && !self.has_parts
    }
}

/// A source record that a written record shows, restored.
#[derive(Debug)]
pub(super) struct OwnRecord {
    pub(super) line: LineBuf,
    pub(super) offset: u64,
    pub(super) is_glue: bool,
}

impl Restorer {
    /// Checks a record's own entries, and keeps their restored bytes unless they are long.
    pub(super) fn own_entries(
        &mut self,
        carry: &Carry<'_>,
        visible: WrittenText<'_>,
        is_intact: bool,
    ) -> OwnEntries {
        let (mut kept, mut n_kept, mut n_own) = (VecDeque::new(), 0_usize, 0);
        let (mut is_whole, mut has_parts, mut refers) = (is_intact, false, false);
        let (mut n_sources, mut before, mut last) = (0, None, None);
        for entry in carry.own_entries() {
            has_parts |= entry.n_parts > 1;
            refers |= has_parts || entry.refers();
            n_own += 1;
            n_sources += u64::from(before != Some(entry.offset));
            before = Some(entry.offset);
            last = last.max(before);
            let mut bytes = Vec::new();
            is_whole = is_whole
                && self.may_restore(entry.length)
                && self.restore(&entry, visible, &mut bytes);
            // The index of a line takes at most as much memory as its bytes.
            let size = 2 * bytes.capacity() + OVERHEAD;
            // A long first record is kept with the short ones behind it, and its carry is not needed once more.
            let is_long = n_own == 1 && size > MAX_KEPT && bytes.len() <= 2 * visible.len();
            n_kept = n_kept.saturating_add(if is_long { 0 } else { size });
            let may_be_kept = is_long || n_kept <= MAX_KEPT;
            if may_be_kept && is_whole {
                kept.push_back(OwnRecord {
                    line: bytes.into(),
                    offset: entry.offset,
                    is_glue: entry.is_glue,
                });
            }
        }
        if !is_whole {
            kept.clear();
        }
        let last = last.unwrap_or(u64::MAX);
        OwnEntries { kept, n_own, is_whole, has_parts, refers, n_sources, last }
    }
}
