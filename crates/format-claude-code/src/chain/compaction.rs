//! Cuts a branch at its last compaction, as the client does (2.1): it keeps the boundary, the
//! summary, the messages that the boundary preserves, and everything after them.
//!
//! In: the branch `a b boundary summary c`, where the boundary preserves `b`. Out: `boundary
//! summary b c`.

use std::collections::HashMap;

use core_model::{Event, Hidden, Plan};

use super::{
    Chain,
    tree::{Branch, Tree},
};

/// Messages that a compaction boundary preserves.
#[derive(Debug)]
pub(super) struct Preserved {
    boundary: u32,
    /// Id of the line after which the messages are sent: the summary.
    anchor: Option<u64>,
    ids: Vec<u64>,
}

impl Chain {
    /// Reads `compactMetadata.preservedMessages` of a boundary.
    pub(super) fn preserved_by(&self, boundary: u32, event: &Event<'_>) -> Option<Preserved> {
        let preserved = event.value.get("compactMetadata")?.get("preservedMessages")?;
        let ids = preserved.get("uuids")?.items().filter_map(|id| id.text());
        let anchor = preserved.get("anchorUuid").and_then(|id| id.text());
        Some(Preserved {
            boundary,
            anchor: anchor.map(|id| self.hash(id)),
            ids: ids.map(|id| self.hash(id)).collect(),
        })
    }

    /// Returns the plan of the branch after its last compaction; `None` if there was no compaction
    /// or the options ask for the whole branch. `whole` is the branch from its first message on.
    pub(super) fn plan_from_last_compaction(&self, whole: &Branch) -> Option<Plan> {
        if !self.from_last_compaction {
            return None;
        }
        let tree = Tree::new(&self.nodes, true);
        let mut branch = tree.branch(self.branch);
        let start = *branch.path.first()?;
        let restart = self.nodes.get(start as usize).filter(|node| node.is_restart())?;
        self.preserve(&tree, start, &mut branch);
        self.recover(&tree, &mut branch.shown, start);
        let mut hidden: Vec<Hidden> = self
            .strays
            .iter()
            .take_while(|offset| **offset < restart.offset())
            .map(|&offset| Hidden { offset, field: "compacted" })
            .collect();
        let shown = branch.shown.iter().zip(&whole.shown);
        for (node, (is_shown, was_shown)) in self.nodes.iter().zip(shown) {
            let is_before = node.offset() < restart.offset();
            let is_hidden = node.role().is_some() || node.is_notice() && is_before;
            if is_hidden && tree.is_main(node) && !is_shown {
                let is_compacted = is_before && (*was_shown || node.is_notice());
                let field = if is_compacted { "compacted" } else { "branch" };
                hidden.push(Hidden { offset: node.offset(), field });
            }
        }
        hidden.sort_unstable_by_key(|hidden| hidden.offset);
        Some(Plan { hidden, late: self.late(&branch), ..Plan::default() })
    }

    /// Moves the messages that a boundary preserves behind its summary.
    fn preserve(&self, tree: &Tree<'_>, boundary: u32, branch: &mut Branch) {
        let Some(preserved) = self.preserved.iter().find(|it| it.boundary == boundary) else {
            return;
        };
        let is_anchor = |node_idx: &u32| {
            self.nodes.get(*node_idx as usize).map(|node| node.id) == preserved.anchor
        };
        let anchor = branch.path.iter().position(is_anchor).unwrap_or(0);
        let mut by_id = HashMap::new();
        for (node_idx, node) in self.nodes.iter().enumerate().take(boundary as usize) {
            if tree.is_main(node) && !tree.is_repeat(node_idx) {
                by_id.insert(node.id, node_idx as u32);
            }
        }
        let mut kept = Vec::new();
        for node_idx in preserved.ids.iter().filter_map(|id| by_id.get(id)) {
            if let Some(shown) = branch.shown.get_mut(*node_idx as usize).filter(|shown| !**shown) {
                *shown = true;
                kept.push(*node_idx);
            }
        }
        let behind = anchor.saturating_add(1);
        branch.path.splice(behind..behind, kept);
    }
}
