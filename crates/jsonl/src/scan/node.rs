//! The index of a line: the range of each value in it, and the limit on their number.
//!
//! In: `{"a":[1,2]}`. Out: the nodes `0..11 object`, `1..4 string`, `5..10 array`, `6..7 number`,
//! `8..9 number`.

use crate::{Kind, MAX_LINE};

/// The range of a value in its line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Node {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The index of the node after this one and its children, in the bits below the kind. So three
    /// nodes need the memory of two.
    next_and_kind: u32,
}

/// The lowest bit of the kind. The bits below it can index all nodes of a line of 4 GiB.
const KIND_SHIFT: u32 = 29;

const _: () = assert!(MAX_LINE / BYTES_PER_NODE < 1 << KIND_SHIFT);

impl Node {
    #[inline(always)]
    pub(crate) fn new(start: usize, end: usize, next: usize, kind: Kind) -> Self {
        let next_and_kind = next as u32 | (kind as u32) << KIND_SHIFT;
        Self { start: start as u32, end: end as u32, next_and_kind }
    }

    /// Sets the end of a container, which is unknown when its node is created.
    #[inline(always)]
    pub(crate) fn close(&mut self, end: usize, next: usize) {
        let kind = self.next_and_kind >> KIND_SHIFT << KIND_SHIFT;
        (self.end, self.next_and_kind) = (end as u32, kind | next as u32);
    }

    /// Returns the index of the node after this one and its children.
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

/// Number of nodes that any line may have. Beyond it, large containers are not indexed.
pub(crate) const MIN_LIMIT: usize = if cfg!(miri) { 1 << 9 } else { 1 << 20 };

/// Number of bytes per node in a longer line, of its first [`LONG`] bytes. So a message of OpenCode is indexed whose calls are
/// short: the shortest takes ten bytes a node.
pub(crate) const BYTES_PER_NODE: usize = 9;

/// Number of bytes per node in a line that is much longer. A node has 12 bytes, so the index is smaller than the line: a
/// conversion also holds the line's carry and its output, and may use three times the line.
const LONG_BYTES_PER_NODE: usize = 14;

/// The length in bytes up to which a line has a node for each [`BYTES_PER_NODE`] bytes.
const LONG: usize = 16 << 20;

/// Returns the number of nodes that a line of a length in bytes may have.
pub(crate) fn max_nodes(n_bytes: usize) -> usize {
    let first = n_bytes.min(LONG) / BYTES_PER_NODE;
    MIN_LIMIT.max(first).max(n_bytes / LONG_BYTES_PER_NODE)
}

/// An open container: the index of its node, and whether it is an object.
pub(crate) type Open = u32;

pub(crate) const OBJECT: Open = 1 << 31;

/// Index of a container without a node.
pub(crate) const NO_NODE: Open = OBJECT - 1;

/// The container around the outermost value.
pub(crate) const ROOT: Open = OBJECT - 2;

/// Number of unpacked containers before the outermost ones are packed.
const MAX_LEVELS: usize = if cfg!(miri) { 256 } else { 2048 };

/// Number of containers that are packed or unpacked at once.
const PACKED: usize = MAX_LEVELS / 2;

/// Number of packed containers in a word.
const BITS: usize = u64::BITS as usize;

/// The stack of open containers, without the innermost one.
///
/// Many containers without an index are packed to one bit each: a line of a hundred million `[`
/// takes an eighth of its length. The outermost containers are indexed and stored separately.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenStack {
    /// The innermost containers, from the outside in.
    pub(crate) levels: Vec<Open>,
    /// One bit for each packed container: whether it is an object. Packed containers are around the
    /// levels.
    packed: Vec<u64>,
    /// The outermost containers, if others are packed.
    outermost: Vec<Open>,
    /// The depth limit of the first call of [`OpenStack::pack`].
    depth_limit: usize,
    /// Whether the index had no room for some values.
    pub(crate) is_full: bool,
}

impl OpenStack {
    /// Removes all containers.
    pub(crate) fn clear(&mut self) {
        self.levels.clear();
        self.packed.clear();
        self.outermost.clear();
        self.is_full = false;
    }

    /// Returns the number of containers.
    pub(crate) fn depth(&self) -> usize {
        self.outermost.len() + self.packed.len() * BITS + self.levels.len()
    }

    /// Packs the outermost half of the levels if there are many. Returns the depth limit of the
    /// index: `depth_limit`, or 0 while containers are packed.
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

    /// Unpacks containers after the last level was closed. Returns the innermost one, and the depth
    /// limit of the index.
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

/// Removes the nodes inside the innermost open container that has a sixteenth of all nodes from
/// `first` on. Returns the depth around it; the rest of this container is not indexed either.
#[cold]
#[inline(never)]
pub(crate) fn keep_as_written(
    nodes: &mut Vec<Node>,
    first: usize,
    open: Open,
    outer: &mut OpenStack,
) -> usize {
    outer.is_full = true;
    let outer = &outer.levels;
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
