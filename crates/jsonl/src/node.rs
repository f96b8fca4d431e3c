//! Where the values of a line lie, and how many of them are noted.

use crate::Kind;

/// A value's place in its line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Node {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The index of the node after this one and all that it holds.
    pub(crate) next: u32,
    pub(crate) kind: Kind,
}

/// How many nodes any line may have. Where there are more, a container of many values is kept as
/// written.
pub(crate) const MIN_LIMIT: usize = 1 << 20;

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
