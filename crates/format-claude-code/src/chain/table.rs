//! Lines by their ids, in six bytes each.

use super::node::Node;

/// No line.
pub(super) const NONE: u32 = u32::MAX;

/// For each id the line that stands for it, found by the hash that the id is.
///
/// A slot holds the index of a node; lines whose slots are taken lie in the next free one. The ids
/// are hashes with a random seed, so that no file can choose their slots.
pub(super) struct Table {
    slots: Vec<u32>,
}

impl Table {
    /// Creates a table for so many lines.
    pub(super) fn new(n_nodes: usize) -> Self {
        Self { slots: vec![NONE; n_nodes.saturating_add(n_nodes / 2).saturating_add(1)] }
    }

    /// Returns the slot of an id: the one with its line, or the free one where that would be.
    fn find(&self, nodes: &[Node], id: u64) -> usize {
        // The high half of the product is below the number of slots.
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

    /// Returns the line that stands for an id, or `NONE`.
    pub(super) fn get(&self, nodes: &[Node], id: u64) -> u32 {
        self.slots.get(self.find(nodes, id)).copied().unwrap_or(NONE)
    }

    /// Returns the place of the line that stands for an id, which holds `NONE` if there is none.
    pub(super) fn entry(&mut self, nodes: &[Node], id: u64) -> Option<&mut u32> {
        let slot = self.find(nodes, id);
        self.slots.get_mut(slot)
    }
}
