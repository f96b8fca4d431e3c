//! Waiting rooms, one for each file of the source: what comes early in one does not wait for another.

use std::collections::VecDeque;

use crate::carry::{
    Contents,
    restore::{Item, Tally},
    waiting::{PartLine, PartOf, WaitingRoom},
};

/// The waiting rooms of a source of one or more files.
#[derive(Debug)]
pub(crate) struct Rooms {
    /// Where each file starts in the source.
    starts: Vec<u64>,
    rooms: Vec<WaitingRoom>,
    /// The room that was used last.
    current: usize,
    ready: VecDeque<(usize, Item)>,
}

impl Default for Rooms {
    fn default() -> Self {
        let rooms = vec![WaitingRoom::new(0)];
        Self { starts: vec![0], rooms, current: 0, ready: VecDeque::new() }
    }
}

impl Rooms {
    /// Opens a room for each file of the source, if that has not been done.
    pub(crate) fn open(&mut self, contents: &Contents) {
        if self.rooms.len() == 1 && contents.volumes.len() > 1 {
            self.starts = contents.starts();
            let more = self.starts.iter().skip(1).map(|start| WaitingRoom::new(*start));
            self.rooms.extend(more);
        }
    }

    /// Returns the next item that is in its place, and the number of its file.
    pub(crate) fn next_item(&mut self) -> Option<(usize, Item)> {
        self.ready.pop_front()
    }

    /// Takes a source line.
    pub(crate) fn restored(&mut self, offset: u64, bytes: Vec<u8>, tally: &mut Tally) {
        self.enter(offset).restored(offset, bytes, tally);
        self.leave();
    }

    /// Takes an edited line, in the place of the source line at `offset`, or after the last one.
    pub(crate) fn edited(&mut self, offset: Option<u64>, item: Item, tally: &mut Tally) {
        if let Some(offset) = offset {
            self.enter(offset);
        }
        self.rooms[self.current].edited(offset, item, tally);
        self.leave();
    }

    /// Takes a part of a source line; see [`WaitingRoom::part`].
    pub(crate) fn part(
        &mut self,
        of: PartOf,
        bytes: Vec<u8>,
        line: Option<PartLine>,
        is_whole: bool,
        tally: &mut Tally,
    ) {
        self.enter(of.offset).part(of, bytes, line, is_whole, tally);
        self.leave();
    }

    /// Takes a line that has no place in the source: it comes now, in the main file.
    pub(crate) fn added(&mut self, item: Item, tally: &mut Tally) {
        self.enter(0).added(item, tally);
        self.leave();
    }

    /// Hands out everything that waits.
    pub(crate) fn drain(&mut self, tally: &mut Tally) {
        for room_idx in 0..self.rooms.len() {
            self.current = room_idx;
            self.rooms[room_idx].drain(true, tally);
            self.leave();
        }
    }

    /// Goes to the room of the file that a line of the source stands in.
    fn enter(&mut self, offset: u64) -> &mut WaitingRoom {
        if self.rooms.len() > 1 {
            // Of files that start at the same place, all but the last are empty.
            self.current = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        }
        &mut self.rooms[self.current]
    }

    fn leave(&mut self) {
        while let Some(item) = self.rooms[self.current].next_item() {
            self.ready.push_back((self.current, item));
        }
    }
}
