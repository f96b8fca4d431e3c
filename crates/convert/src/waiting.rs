//! Restored lines that wait until all that comes before them in the source is there.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::Range,
};

use crate::restore::{Item, Tally};

/// How much may wait for a line that comes late before it is taken to be gone.
const MAX_WAITING: usize = 16 * 1024 * 1024;

/// Items by their place in the source, and those whose turn it is.
#[derive(Debug)]
pub(crate) struct WaitingRoom {
    waiting: BTreeMap<(u64, u64), Waiting>,
    n_bytes: usize,
    next_seq: u64,
    last_offset: u64,
    /// Where the next source line must start; unknown after an edited line.
    expected: Option<u64>,
    /// Whether what was handed out last is a restored line, or a piece of one, without an end.
    is_open: bool,
    ready: VecDeque<Item>,
}

#[derive(Debug)]
enum Waiting {
    Item { item: Item, end: Option<u64> },
    Parts(Parts),
}

/// A source line that several written lines carry between them.
#[derive(Debug, Default)]
struct Parts {
    parts: BTreeMap<u64, Vec<u8>>,
    n_parts: u64,
    lines: Vec<PartLine>,
    is_broken: bool,
}

/// A written line that says a part of a source line.
#[derive(Debug)]
pub(crate) struct PartLine {
    /// The line without its carry, with its terminator.
    pub(crate) line: Vec<u8>,
    /// Where it starts in the file that it was read from.
    pub(crate) offset: u64,
    /// What its carry knows of the part, with gaps.
    pub(crate) skeleton: Vec<u8>,
}

/// Which part of which source line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartOf {
    pub(crate) offset: u64,
    pub(crate) part: u64,
    pub(crate) n_parts: u64,
}

impl WaitingRoom {
    /// Creates a room for lines of a source of which the first starts at an offset.
    pub(crate) fn new(start: u64) -> Self {
        Self {
            waiting: BTreeMap::new(),
            n_bytes: 0,
            next_seq: 0,
            last_offset: start,
            expected: Some(start),
            is_open: false,
            ready: VecDeque::new(),
        }
    }

    /// Returns the next item that is in its place.
    pub(crate) fn next_item(&mut self) -> Option<Item> {
        self.ready.pop_front()
    }

    /// Takes a source line.
    pub(crate) fn restored(&mut self, offset: u64, bytes: Vec<u8>, tally: &mut Tally) {
        self.n_bytes += bytes.len();
        let end = Some(offset + bytes.len() as u64);
        let item = Item::Restored { bytes, is_continued: false };
        self.wait(offset, Waiting::Item { item, end }, tally);
    }

    /// Takes an edited line, in the place of the source line at `offset`, or after the last one.
    pub(crate) fn edited(&mut self, offset: Option<u64>, item: Item, tally: &mut Tally) {
        let offset = offset.unwrap_or(self.last_offset);
        self.wait(offset, Waiting::Item { item, end: None }, tally);
    }

    /// Takes a line that has no place in the source: it comes now.
    pub(crate) fn added(&mut self, item: Item, tally: &mut Tally) {
        self.drain(true, tally);
        self.hand_out_other(item);
    }

    fn wait(&mut self, offset: u64, waiting: Waiting, tally: &mut Tally) {
        self.last_offset = offset;
        self.waiting.insert((offset, self.next_seq), waiting);
        self.next_seq += 1;
        self.drain(self.n_bytes > MAX_WAITING, tally);
    }

    /// Takes a part of a source line, and the written line that says it, if one does; `is_whole`
    /// says whether the part is what it was.
    pub(crate) fn part(
        &mut self,
        of: PartOf,
        bytes: Vec<u8>,
        line: Option<PartLine>,
        is_whole: bool,
        tally: &mut Tally,
    ) {
        self.last_offset = of.offset;
        let place: Range<(u64, u64)> = (of.offset, 0)..(of.offset, u64::MAX);
        let is_known =
            self.waiting.range(place.clone()).any(|(_, it)| matches!(it, Waiting::Parts(_)));
        if !is_known {
            self.waiting.insert((of.offset, self.next_seq), Waiting::Parts(Parts::default()));
            self.next_seq += 1;
        }
        self.n_bytes += bytes.len();
        let parts = self.waiting.range_mut(place).find_map(|(_, waiting)| match waiting {
            Waiting::Parts(parts) => Some(parts),
            Waiting::Item { .. } => None,
        });
        if let Some(parts) = parts {
            parts.n_parts = of.n_parts;
            parts.parts.insert(of.part, bytes);
            parts.is_broken |= !is_whole;
            parts.lines.extend(line);
        }
        self.drain(self.n_bytes > MAX_WAITING, tally);
    }

    /// Hands out what is in its place; if `all`, what waits for missing lines too.
    pub(crate) fn drain(&mut self, all: bool, tally: &mut Tally) {
        while let Some(entry) = self.waiting.first_entry() {
            let (offset, _) = *entry.key();
            let is_next = self.expected.is_none_or(|expected| offset <= expected);
            let is_complete = match entry.get() {
                Waiting::Item { .. } => true,
                Waiting::Parts(parts) => parts.parts.len() as u64 >= parts.n_parts,
            };
            if !(all || is_next && is_complete) {
                return;
            }
            tally.gaps += u64::from(!is_next);
            match entry.remove() {
                Waiting::Item { item: Item::Restored { bytes, .. }, .. } => {
                    self.n_bytes = self.n_bytes.saturating_sub(bytes.len());
                    self.hand_out(offset, bytes, tally);
                }
                Waiting::Item { item, end } => {
                    self.expected = end;
                    self.hand_out_other(item);
                }
                Waiting::Parts(parts) => self.hand_out_parts(offset, parts, is_complete, tally),
            }
        }
    }

    fn hand_out_parts(&mut self, offset: u64, parts: Parts, is_complete: bool, tally: &mut Tally) {
        let whole = parts.parts.into_values().collect::<Vec<_>>().concat();
        self.n_bytes = self.n_bytes.saturating_sub(whole.len());
        if is_complete && !parts.is_broken {
            return self.hand_out(offset, whole, tally);
        }
        tally.edited += 1;
        tally.gaps += u64::from(parts.lines.is_empty());
        self.expected = None;
        // Together the parts' skeletons are that of the source line: the first line keeps its place.
        let skeleton: Vec<u8> =
            parts.lines.iter().flat_map(|line| line.skeleton.iter().copied()).collect();
        let mut skeletons = vec![skeleton];
        for PartLine { line, offset, .. } in parts.lines {
            let skeletons = Some(std::mem::take(&mut skeletons));
            self.hand_out_other(Item::Converted { line, offset, skeletons });
        }
    }

    /// Hands out a source line, or a piece of one, which goes on with the one before it if that
    /// ended where this one starts.
    fn hand_out(&mut self, offset: u64, bytes: Vec<u8>, tally: &mut Tally) {
        tally.restored += 1;
        let is_continued = self.is_open && self.expected == Some(offset);
        self.expected = Some(offset + bytes.len() as u64);
        self.is_open = !bytes.ends_with(b"\n");
        self.ready.push_back(Item::Restored { bytes, is_continued });
    }

    fn hand_out_other(&mut self, item: Item) {
        self.is_open = false;
        self.ready.push_back(item);
    }
}
