//! Resolves parents to lines and finds the active branch.
//!
//! In: nodes `1`, `2 -> 1`, `3 -> 1`. Out: the branch `1 3`, because `3` is the last leaf of the
//! file.

use super::{
    node::{Link, Node},
    table::{NONE, Table},
};

/// A path from the root to the leaf.
#[derive(Debug)]
pub(super) struct Branch {
    /// Indices of the lines on the path, the root first.
    pub(super) path: Vec<u32>,
    /// For each line of the file, whether it is shown.
    pub(super) shown: Vec<bool>,
}

/// The nodes of a file with the indices of their parents.
pub(super) struct Tree<'n> {
    nodes: &'n [Node],
    parents: Vec<u32>,
    /// For each line the index of the last line with its id; `NONE` for a line that repeats an
    /// earlier one.
    last: Vec<u32>,
    sidechain_is_main: bool,
}

impl<'n> Tree<'n> {
    /// Builds the tree. If `is_cut`, a compaction has no parent, as in the client.
    pub(super) fn new(nodes: &'n [Node], is_cut: bool) -> Self {
        let mut by_id = Table::new(nodes.len());
        let mut last = vec![NONE; nodes.len()];
        for (node_idx, node) in (0..).zip(nodes) {
            let Some(known_idx) = by_id.entry(nodes, node.id) else { continue };
            let known = nodes.get(*known_idx as usize);
            // A copy of the line changes nothing. A line with other content replaces it.
            if known.is_none_or(|known| known.fingerprint != node.fingerprint) {
                if let Some(last) = last.get_mut(*known_idx as usize) {
                    *last = NONE;
                }
                *known_idx = node_idx;
            }
            if let Some(last) = last.get_mut(*known_idx as usize) {
                *last = node_idx;
            }
        }
        let mut parents = Vec::with_capacity(nodes.len());
        let (mut before_main, mut before_sidechain) = (NONE, NONE);
        for (node_idx, (node, last)) in (0..).zip(nodes.iter().zip(&last)) {
            let before = if node.is_sidechain() { &mut before_sidechain } else { &mut before_main };
            let link = if is_cut && node.is_restart() { Link::Root } else { node.link() };
            parents.push(match link {
                Link::Root => NONE,
                Link::Before => *before,
                Link::To(id) => match by_id.get(nodes, id) {
                    NONE => *before,
                    known => known,
                },
            });
            if *last != NONE {
                *before = node_idx;
            }
        }
        let sidechain_is_main =
            !nodes.iter().any(|node| node.role().is_some() && !node.is_sidechain());
        Self { nodes, parents, last, sidechain_is_main }
    }

    /// Returns whether a line belongs to the main thread of the file.
    pub(super) fn is_main(&self, node: &Node) -> bool {
        self.sidechain_is_main || !node.is_sidechain()
    }

    /// Returns whether another line replaces this one, because both have the same id.
    pub(super) fn is_repeat(&self, node_idx: usize) -> bool {
        self.last.get(node_idx) == Some(&NONE)
    }

    fn is_main_message(&self, node_idx: u32) -> bool {
        let is_main = |node: &Node| node.role().is_some() && self.is_main(node);
        self.nodes.get(node_idx as usize).is_some_and(is_main) && !self.is_repeat(node_idx as usize)
    }

    /// Returns the index of a line's parent, or `NONE`.
    fn parent(&self, node_idx: u32) -> u32 {
        self.parents.get(node_idx as usize).copied().unwrap_or(NONE)
    }

    /// Returns the path from the root to the last message of the conversation, or of the branch with
    /// the message whose id has this hash. If there is no such message, it is the conversation.
    pub(super) fn branch(&self, id: Option<u64>) -> Branch {
        let mut branch = Branch { path: Vec::new(), shown: vec![false; self.nodes.len()] };
        let leaf = id.and_then(|id| self.leaf_after(id)).or_else(|| self.leaf());
        let mut at = leaf.unwrap_or(NONE);
        while let Some(shown @ false) = branch.shown.get_mut(at as usize) {
            *shown = true;
            branch.path.push(at);
            at = self.parent(at);
        }
        branch.path.reverse();
        branch
    }

    /// Returns the last message of the file whose path to the root has the line with this id.
    fn leaf_after(&self, id: u64) -> Option<u32> {
        let mut ids = self.nodes.iter().map(|node| node.id).zip(&self.last);
        let wanted = ids.position(|(it, &last)| it == id && last != NONE)?;
        let wanted = u32::try_from(wanted).ok()?;
        let mut visited = vec![false; self.nodes.len()];
        let mut lines = (0..self.nodes.len() as u32).rev().filter(|&it| self.is_main_message(it));
        lines.find(|&line| {
            let mut at = line;
            while at != wanted
                && let Some(visited @ false) = visited.get_mut(at as usize)
            {
                *visited = true;
                at = self.parent(at);
            }
            at == wanted
        })
    }

    /// Returns the last message of the conversation.
    fn leaf(&self) -> Option<u32> {
        let mut has_child = vec![false; self.nodes.len()];
        for ((node, &parent), &last) in self.nodes.iter().zip(&self.parents).zip(&self.last) {
            let parent = parent as usize;
            if let (Some(parent), Some(has_child)) =
                (self.nodes.get(parent), has_child.get_mut(parent))
                && self.is_main(parent) == self.is_main(node)
                && last != NONE
            {
                *has_child = true;
            }
        }
        let lines = (0..).zip(has_child.iter().zip(&self.last));
        let tips = lines.filter(|(_, (has_child, last))| !**has_child && **last != NONE);
        let mut visited = vec![false; self.nodes.len()];
        let leaves = tips
            .filter_map(|(tip, _)| self.nearest_message(tip, &mut visited))
            .filter(|&leaf| self.is_main_message(leaf));
        let best = leaves.max_by_key(|&leaf| (self.last.get(leaf as usize), leaf));
        // In a cycle every line has a child. Then the last message of the file ends the
        // conversation.
        best.or_else(|| {
            let mut lines = (0..self.nodes.len() as u32).rev();
            lines.find(|&line| self.is_main_message(line))
        })
    }

    /// Returns the nearest message on the path from a line to its root; `None` if the path meets a
    /// visited line.
    fn nearest_message(&self, tip: u32, visited: &mut [bool]) -> Option<u32> {
        let mut at = tip;
        while let Some(visited @ false) = visited.get_mut(at as usize) {
            *visited = true;
            if self.nodes.get(at as usize)?.role().is_some() {
                return Some(at);
            }
            at = self.parent(at);
        }
        None
    }
}
