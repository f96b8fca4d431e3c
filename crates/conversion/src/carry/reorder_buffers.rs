//! One reorder buffer for each file of the source, so that files do not wait for each other.

use std::collections::VecDeque;

use crate::carry::{
    Manifest,
    parts::{PartLine, PartOf},
    restore::{Item, RestoreStats},
    spilled_runs::RestoredRecord,
    waiting::ReorderBuffer,
};

/// Limit on the waiting bytes in memory in all buffers. Above it, restored records are moved to a
/// file. If others are too many, missing records are given up and everything is released.
const MAX_WAITING: usize = 8 * 1024 * 1024;

/// Limit on the temporary files of all buffers.
const MAX_FILES: usize = 64;

/// The least waiting bytes of a buffer that are moved to a file.
const MIN_SPILL: usize = 64 * 1024;

/// The reorder buffers of a source of one or more files.
#[derive(Debug)]
pub(crate) struct ReorderBuffers {
    /// The offset of each file in the source.
    starts: Vec<u64>,
    buffers: Vec<ReorderBuffer>,
    /// The index of the buffer that was used last.
    current: usize,
    /// The waiting bytes in all buffers.
    n_bytes: usize,
    /// The buffers with released items in the order of release, and the number of items of each. The
    /// items stay in their buffers.
    ready: VecDeque<(usize, usize)>,
    /// The buffers with unfinished releases.
    unfinished: VecDeque<usize>,
}

impl Default for ReorderBuffers {
    fn default() -> Self {
        Self {
            starts: vec![0],
            buffers: vec![ReorderBuffer::new(0)],
            current: 0,
            n_bytes: 0,
            ready: VecDeque::new(),
            unfinished: VecDeque::new(),
        }
    }
}

impl ReorderBuffers {
    /// Creates a buffer for each file of the source, unless there are buffers already.
    pub(crate) fn open(&mut self, manifest: &Manifest) {
        if self.buffers.len() == 1 && manifest.entries.len() > 1 {
            self.starts = manifest.starts();
            let more = self.starts.iter().skip(1).map(|start| ReorderBuffer::new(*start));
            self.buffers.extend(more);
        }
    }

    /// Removes and returns the next item in source order, and the number of its file.
    pub(crate) fn next_item(&mut self, stats: &mut RestoreStats) -> Option<(usize, Item)> {
        loop {
            while self.ready.is_empty() {
                let buffer_idx = *self.unfinished.front()?;
                self.change(buffer_idx, stats, ReorderBuffer::go_on);
                if !self.buffers.get(buffer_idx).is_some_and(ReorderBuffer::is_unfinished) {
                    self.unfinished.pop_front();
                }
            }
            let (buffer_idx, n_items) = self.ready.front_mut()?;
            let buffer_idx = *buffer_idx;
            *n_items = n_items.saturating_sub(1);
            if *n_items == 0 {
                self.ready.pop_front();
            }
            // An item that waited in a file that cannot be read is lost.
            if let Some(item) = self.buffers.get_mut(buffer_idx)?.next_item() {
                return Some((buffer_idx, item));
            }
        }
    }

    /// Adds a source record. A moved one follows the record that was added last.
    pub(crate) fn push_restored(
        &mut self,
        record: RestoredRecord,
        is_moved: bool,
        stats: &mut RestoreStats,
    ) {
        self.with(Some(record.offset), stats, |buffer, stats| match is_moved {
            true => buffer.push_moved(record, stats),
            false => buffer.push_restored(record, stats),
        });
    }

    /// Adds the carry, or a part of it, that the source's own sidecar has for a record.
    pub(crate) fn push_sidecar(&mut self, of: PartOf, carry: String, stats: &mut RestoreStats) {
        self.with(Some(of.offset), stats, |buffer, stats| buffer.push_sidecar(of, carry, stats));
    }

    /// Adds an edited record. It replaces the source record at `offset`, or follows the last one.
    pub(crate) fn push_edited(
        &mut self,
        offset: Option<u64>,
        item: Item,
        stats: &mut RestoreStats,
    ) {
        self.with(offset, stats, |buffer, stats| buffer.push_edited(offset, item, stats));
    }

    /// Adds a part of a source record; see [`ReorderBuffer::push_part`].
    pub(crate) fn push_part(
        &mut self,
        of: PartOf,
        bytes: Vec<u8>,
        line: Option<PartLine>,
        is_whole: bool,
        stats: &mut RestoreStats,
    ) {
        self.with(Some(of.offset), stats, |buffer, stats| {
            buffer.push_part(of, bytes, line, is_whole, stats);
        });
    }

    /// Notes the source record that the last written record shows; see [`ReorderBuffer::note_shown`].
    pub(crate) fn note_shown(&mut self, offset: Option<u64>) {
        let place = offset.map_or(self.current, |offset| self.place_of(offset));
        if let Some(buffer) = self.buffers.get_mut(place) {
            buffer.note_shown(offset);
        }
    }

    /// Returns the index of the file of an offset. Of several files with one offset, all but the last are empty.
    fn place_of(&self, offset: u64) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// Adds a record that was not in the source, to the main file.
    pub(crate) fn push_added(&mut self, item: Item, stats: &mut RestoreStats) {
        self.with(Some(0), stats, |buffer, stats| buffer.push_added(item, stats));
    }

    /// Releases all waiting records.
    pub(crate) fn drain(&mut self, stats: &mut RestoreStats) {
        for buffer_idx in 0..self.buffers.len() {
            self.current = buffer_idx;
            self.with(None, stats, ReorderBuffer::drain_all);
        }
    }

    /// Changes the buffer of the file at `offset`, or the last one, and takes its released items.
    fn with(
        &mut self,
        offset: Option<u64>,
        stats: &mut RestoreStats,
        change: impl FnOnce(&mut ReorderBuffer, &mut RestoreStats),
    ) {
        if let Some(offset) = offset.filter(|_| self.buffers.len() > 1) {
            let place = self.place_of(offset);
            let before = std::mem::replace(&mut self.current, place);
            // Of thousands of files, most are not used any more.
            if let Some(buffer) = self.buffers.get_mut(before).filter(|_| before != place) {
                buffer.free();
            }
        }
        self.change(self.current, stats, change);
        while self.n_bytes > MAX_WAITING {
            let Some(fullest) =
                (0..self.buffers.len()).max_by_key(|it| self.buffers[*it].n_bytes())
            else {
                return;
            };
            let before = self.n_bytes;
            let n_files = self.buffers.iter().filter(|buffer| buffer.has_spilled()).count();
            self.change(fullest, stats, |buffer, stats| {
                let n_bytes = buffer.n_bytes();
                // A spill that frees less than half of the memory would soon be followed by another.
                let is_freed = (n_files < MAX_FILES || buffer.has_spilled())
                    && n_bytes >= MIN_SPILL
                    && buffer.spill()
                    && buffer.n_bytes() <= n_bytes / 2;
                if !is_freed {
                    buffer.drain_all(stats);
                }
            });
            if self.n_bytes >= before {
                return;
            }
        }
    }

    fn change(
        &mut self,
        buffer_idx: usize,
        stats: &mut RestoreStats,
        change: impl FnOnce(&mut ReorderBuffer, &mut RestoreStats),
    ) {
        let buffer = &mut self.buffers[buffer_idx];
        let (before, n_ready) = (buffer.n_bytes(), buffer.n_ready());
        let was_unfinished = buffer.is_unfinished();
        change(buffer, stats);
        if buffer.is_unfinished() && !was_unfinished {
            self.unfinished.push_back(buffer_idx);
        }
        self.n_bytes = (self.n_bytes + buffer.n_bytes()).saturating_sub(before);
        match buffer.n_ready().saturating_sub(n_ready) {
            0 => {}
            n_items => self.ready.push_back((buffer_idx, n_items)),
        }
    }
}
