//! Adds parallel tool calls and their results to the active branch. The client writes each parallel
//! result as a child of its own call, so that the walk from the leaf to the root meets one of them
//! only.
//!
//! In: the branch `call-1 result-1` of a response with two calls. Out: `call-1 call-2 result-1
//! result-2`.

use core_model::{Hashes, Role};

use super::{Chain, node::Node, tree::Tree};

impl Chain {
    /// Shows the other lines of responses on the branch, and results of their calls that no line on
    /// the branch answers. Lines before `start` keep their state.
    pub(super) fn recover(&self, tree: &Tree<'_>, shown: &mut [bool], start: u32) {
        let mut responses = Hashes::default();
        for (node, _) in self.nodes.iter().zip(&*shown).filter(|(_, shown)| **shown) {
            if node.role() == Some(Role::Assistant) && node.message_id != 0 {
                responses.insert(node.message_id);
            }
        }
        for (node_idx, node) in self.nodes.iter().enumerate().skip(start as usize) {
            let is_sibling = node.role() == Some(Role::Assistant)
                && tree.is_main(node)
                && !tree.is_repeat(node_idx)
                && responses.contains(&node.message_id);
            if let Some(shown) = shown.get_mut(node_idx).filter(|_| is_sibling) {
                *shown = true;
            }
        }
        let is_shown = |shown: &[bool], node_idx: u32| shown.get(node_idx as usize) == Some(&true);
        let (mut called, mut answered) = (Hashes::default(), Hashes::default());
        for (_, node, id) in self.tools().filter(|(node_idx, ..)| is_shown(shown, *node_idx)) {
            let is_call = node.role() == Some(Role::Assistant);
            if is_call { &mut called } else { &mut answered }.insert(id);
        }
        for (node_idx, node, id) in self.tools() {
            let is_lost_result = node_idx >= start
                && node.role() == Some(Role::User)
                && !is_shown(shown, node_idx)
                && tree.is_main(node)
                && !tree.is_repeat(node_idx as usize);
            if is_lost_result
                && called.contains(&id)
                && answered.insert(id)
                && let Some(shown) = shown.get_mut(node_idx as usize)
            {
                *shown = true;
            }
        }
    }

    /// Returns the ids of tool uses and results, each with the index and the node of its line.
    fn tools(&self) -> impl Iterator<Item = (u32, &Node, u64)> {
        let node = |node_idx: u32| self.nodes.get(node_idx as usize);
        self.tools.iter().filter_map(move |&(node_idx, id)| Some((node_idx, node(node_idx)?, id)))
    }
}
