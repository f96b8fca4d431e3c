//! Where the values of a line lie, and how many of them are noted.

use crate::{Kind, MAX_LINE};

/// A value's place in its line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Node {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The index of the node after this one and all that it holds, below the kind: a third node fits
    /// where two would.
    next_and_kind: u32,
}

/// Where the kind begins: a line of 4 GiB has no more nodes than an index below it tells.
const KIND_SHIFT: u32 = 29;

const _: () = assert!(MAX_LINE / BYTES_PER_NODE < 1 << KIND_SHIFT);

impl Node {
    #[inline(always)]
    pub(crate) fn new(start: usize, end: usize, next: usize, kind: Kind) -> Self {
        let next_and_kind = next as u32 | (kind as u32) << KIND_SHIFT;
        Self { start: start as u32, end: end as u32, next_and_kind }
    }

    /// Sets where a container ends, which was not known when its node was made.
    #[inline(always)]
    pub(crate) fn close(&mut self, end: usize, next: usize) {
        let kind = self.next_and_kind >> KIND_SHIFT << KIND_SHIFT;
        (self.end, self.next_and_kind) = (end as u32, kind | next as u32);
    }

    /// Returns the index of the node after this one and all that it holds.
    #[inline(always)]
    pub(crate) fn next(&self) -> u32 {
        self.next_and_kind & ((1 << KIND_SHIFT) - 1)
    }

    #[inline(always)]
    pub(crate) fn kind(&self) -> Kind {
        match self.next_and_kind >> KIND_SHIFT {
            0 => Kind::Null,
            1 => Kind::True,
            2 => Kind::False,
            3 => Kind::Number,
            4 => Kind::String,
            5 => Kind::Array,
            _ => Kind::Object,
        }
    }
}

/// How many nodes any line may have. Where there are more, a container of many values is kept as
/// written.
pub(crate) const MIN_LIMIT: usize = if cfg!(miri) { 1 << 9 } else { 1 << 20 };

/// Of a longer line, how many bytes there must be for each node: about as many as a node takes, which
/// leaves room for short blocks.
pub(crate) const BYTES_PER_NODE: usize = 14;

/// A container that is open: the index of its node, and whether it is an object.
pub(crate) type Open = u32;

pub(crate) const OBJECT: Open = 1 << 31;

/// Stands for the index of a node that is not kept.
pub(crate) const NO_NODE: Open = OBJECT - 1;

/// Stands for what is open outside of all containers.
pub(crate) const ROOT: Open = OBJECT - 2;

/// How many containers are kept as they are before the outermost of them are packed.
const MAX_LEVELS: usize = if cfg!(miri) { 256 } else { 2048 };

/// How many of them are packed at a time, or unpacked.
const PACKED: usize = MAX_LEVELS / 2;

/// The bits of a word of packed containers.
const BITS: usize = u64::BITS as usize;

/// The containers that are open around a place, without the innermost one.
///
/// Those that are not indexed are packed where there are many, a bit for each: a line of a hundred
/// million `[` takes an eighth of its length here. The outermost are indexed, and put aside.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenStack {
    /// The innermost containers, the outermost of them first.
    pub(crate) levels: Vec<Open>,
    /// For each packed container whether it is an object; they lie outside of the levels.
    packed: Vec<u64>,
    /// The outermost containers, if others are packed.
    outermost: Vec<Open>,
    /// What [`OpenStack::pack`] was told first.
    depth_limit: usize,
}

impl OpenStack {
    /// Forgets all containers.
    pub(crate) fn clear(&mut self) {
        self.levels.clear();
        self.packed.clear();
        self.outermost.clear();
    }

    /// Returns how many containers there are.
    pub(crate) fn depth(&self) -> usize {
        self.outermost.len() + self.packed.len() * BITS + self.levels.len()
    }

    /// Packs the outermost half of the levels if there are many; returns the number of levels below
    /// which the index goes on: `depth_limit`, or none while containers are packed.
    #[inline(always)]
    pub(crate) fn pack_many(&mut self, depth_limit: usize) -> usize {
        if self.levels.len() < MAX_LEVELS { depth_limit } else { self.pack(depth_limit) }
    }

    #[cold]
    #[inline(never)]
    fn pack(&mut self, depth_limit: usize) -> usize {
        let is_first = self.outermost.is_empty();
        let mut oldest = self.levels.drain(..PACKED);
        if is_first {
            self.depth_limit = depth_limit;
            self.outermost.extend(oldest.by_ref().take(BITS));
        }
        let oldest: Vec<Open> = oldest.collect();
        let bit = |open: &Open| u64::from(open & OBJECT != 0);
        let word =
            |levels: &[Open]| levels.iter().rev().fold(0, |word, open| word << 1 | bit(open));
        self.packed.extend(oldest.chunks(BITS).map(word));
        0
    }

    /// Unpacks containers after the last level was closed; returns the innermost of them, and the
    /// number of levels below which the index goes on.
    #[cold]
    #[inline(never)]
    pub(crate) fn unpack(&mut self) -> (Open, usize) {
        let start = self.packed.len().saturating_sub(PACKED / BITS);
        for word in self.packed.drain(start..) {
            let open = (0..BITS).map(|bit| NO_NODE | if word >> bit & 1 == 1 { OBJECT } else { 0 });
            self.levels.extend(open);
        }
        let is_all = self.levels.is_empty();
        if is_all {
            self.levels.append(&mut self.outermost);
        }
        (self.levels.pop().unwrap_or(ROOT), if is_all { self.depth_limit } else { 0 })
    }
}

/// Drops the nodes within the innermost open container that has a sixteenth of all those from
/// `first` on, and returns the
/// depth around it: what follows in it is not indexed either.
#[cold]
#[inline(never)]
pub(crate) fn keep_as_written(
    nodes: &mut Vec<Node>,
    first: usize,
    open: Open,
    outer: &[Open],
) -> usize {
    let n_many = (nodes.len() - first) / 16;
    let containers =
        outer.iter().copied().enumerate().skip(1).map(|(depth, open)| (depth - 1, open));
    let containers = containers.chain([(outer.len().saturating_sub(1), open)]);
    let mut kept = (0, first);
    for (depth, open) in containers {
        let node_idx = (open & !OBJECT) as usize;
        if nodes.len().saturating_sub(node_idx) >= n_many {
            kept = (depth, node_idx);
        }
    }
    nodes.truncate(kept.1 + 1);
    kept.0
}
