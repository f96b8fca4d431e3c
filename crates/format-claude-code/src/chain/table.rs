//! A hash table from ids to lines, with six bytes for each line.
//!
//! In: the ids of lines 0 and 1. Out: for the id of line 1, the index 1; for any other id,
//! [`NONE`].

use super::node::Node;

/// The index that means no line.
pub(super) const NONE: u32 = u32::MAX;

/// For each id the index of the line with that id.
///
/// Open addressing: a slot holds the index of a node, and a line whose slot is occupied goes to the
/// next free one. Ids are hashes with a random seed, so a file cannot be made to fill neighboring
/// slots.
pub(super) struct Table {
    slots: Vec<u32>,
}

impl Table {
    /// Creates a table for `n_nodes` lines, with half as many free slots.
    pub(super) fn new(n_nodes: usize) -> Self {
        Self { slots: vec![NONE; n_nodes.saturating_add(n_nodes / 2).saturating_add(1)] }
    }

    /// Returns the slot of an id: the slot that holds its line, or the free slot where it belongs.
    fn find(&self, nodes: &[Node], id: u64) -> usize {
        // The high half of the product is smaller than the number of slots.
        let mut slot = (u128::from(id).wrapping_mul(self.slots.len() as u128) >> 64) as usize;
        loop {
            let known = self.slots.get(slot).copied().unwrap_or(NONE);
            match nodes.get(known as usize) {
                Some(node) if node.id != id => {
                    let next = slot.saturating_add(1);
                    slot = if next == self.slots.len() { 0 } else { next };
                }
                _ => return slot,
            }
        }
    }

    /// Returns the index of the line with an id, or `NONE`.
    pub(super) fn get(&self, nodes: &[Node], id: u64) -> u32 {
        self.slots.get(self.find(nodes, id)).copied().unwrap_or(NONE)
    }

    /// Returns the slot of an id for writing. It holds `NONE` if there is no line with the id.
    pub(super) fn entry(&mut self, nodes: &[Node], id: u64) -> Option<&mut u32> {
        let slot = self.find(nodes, id);
        self.slots.get_mut(slot)
    }
}
