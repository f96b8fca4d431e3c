//! The tree of a file, and the branch of it that the client goes on with.

use super::{
    node::{Link, Node},
    table::{NONE, Table},
};

/// A way through the tree.
#[derive(Debug)]
pub(super) struct Branch {
    /// The lines on the way, from the root to the leaf.
    pub(super) path: Vec<u32>,
    /// For each line whether it is part of the conversation.
    pub(super) shown: Vec<bool>,
}

/// The lines with their parents found.
pub(super) struct Tree<'n> {
    nodes: &'n [Node],
    parents: Vec<u32>,
    /// For each line the last one in the file with the same id; `NONE` for those that it repeats.
    last: Vec<u32>,
    sidechain_is_main: bool,
}

impl<'n> Tree<'n> {
    /// Creates the tree; if `is_cut`, histories start at compactions, as the client has it.
    pub(super) fn new(nodes: &'n [Node], is_cut: bool) -> Self {
        let mut by_id = Table::new(nodes.len());
        let mut last = vec![NONE; nodes.len()];
        for (node_idx, node) in (0..).zip(nodes) {
            let Some(known_idx) = by_id.entry(nodes, node.id) else { continue };
            let known = nodes.get(*known_idx as usize);
            // A copy of the line changes nothing; another line in its place wins.
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

    /// Returns whether a line belongs to the conversation that the file is about.
    pub(super) fn is_main(&self, node: &Node) -> bool {
        self.sidechain_is_main || !node.is_sidechain()
    }

    /// Returns whether another line with the same id stands for this one.
    pub(super) fn is_repeat(&self, node_idx: usize) -> bool {
        self.last.get(node_idx) == Some(&NONE)
    }

    fn is_main_message(&self, node_idx: u32) -> bool {
        let is_main = |node: &Node| node.role().is_some() && self.is_main(node);
        self.nodes.get(node_idx as usize).is_some_and(is_main) && !self.is_repeat(node_idx as usize)
    }

    /// Returns the line that a line follows, or `NONE`.
    fn parent(&self, node_idx: u32) -> u32 {
        self.parents.get(node_idx as usize).copied().unwrap_or(NONE)
    }

    /// Returns the way from the root to the message at which the conversation ends.
    pub(super) fn active_branch(&self) -> Branch {
        let mut branch = Branch { path: Vec::new(), shown: vec![false; self.nodes.len()] };
        let mut at = self.leaf().unwrap_or(NONE);
        while let Some(shown @ false) = branch.shown.get_mut(at as usize) {
            *shown = true;
            branch.path.push(at);
            at = self.parent(at);
        }
        branch.path.reverse();
        branch
    }

    /// Returns the message at which the conversation ends.
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
        // Where every line has a child (a cycle), the last message ends the conversation.
        best.or_else(|| {
            let mut lines = (0..self.nodes.len() as u32).rev();
            lines.find(|&line| self.is_main_message(line))
        })
    }

    /// Returns the nearest message on the way from a line to its root, unless another line's way
    /// has come along there.
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
