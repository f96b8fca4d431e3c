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
