//! The tree of a file, and the branch of it that the client goes on with.

use std::collections::hash_map::Entry;

use core_model::ByHash;

use super::node::{Link, Node};

/// No line.
const NONE: u32 = u32::MAX;

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
        let mut last: Vec<u32> = (0..nodes.len() as u32).collect();
        let mut by_id = ByHash::default();
        by_id.reserve(nodes.len());
        for (node_idx, node) in nodes.iter().enumerate() {
            match by_id.entry(node.id) {
                Entry::Vacant(entry) => {
                    entry.insert(node_idx as u32);
                }
                Entry::Occupied(mut entry) => {
                    let first = *entry.get() as usize;
                    // A copy of the line changes nothing; another line in its place wins.
                    let is_copy = nodes[first].fingerprint == node.fingerprint;
                    let (kept, dropped) =
                        if is_copy { (first, node_idx) } else { (node_idx, first) };
                    last[kept] = node_idx as u32;
                    last[dropped] = NONE;
                    entry.insert(kept as u32);
                }
            }
        }
        let mut parents = Vec::with_capacity(nodes.len());
        let mut before = [NONE; 2];
        for (node_idx, node) in nodes.iter().enumerate() {
            let before = &mut before[usize::from(node.is_sidechain)];
            let link = if is_cut && node.is_restart { Link::Root } else { node.link };
            parents.push(match link {
                Link::Root => NONE,
                Link::Before => *before,
                Link::To(id) => by_id.get(&id).copied().unwrap_or(*before),
            });
            if last[node_idx] != NONE {
                *before = node_idx as u32;
            }
        }
        let sidechain_is_main = !nodes.iter().any(|node| node.role.is_some() && !node.is_sidechain);
        Self { nodes, parents, last, sidechain_is_main }
    }

    /// Returns whether a line belongs to the conversation that the file is about.
    pub(super) fn is_main(&self, node: &Node) -> bool {
        self.sidechain_is_main || !node.is_sidechain
    }

    /// Returns whether another line with the same id stands for this one.
    pub(super) fn is_repeat(&self, node_idx: usize) -> bool {
        self.last.get(node_idx) == Some(&NONE)
    }

    fn is_main_message(&self, node_idx: u32) -> bool {
        let node = &self.nodes[node_idx as usize];
        node.role.is_some() && self.is_main(node) && !self.is_repeat(node_idx as usize)
    }

    /// Returns the way from the root to the message at which the conversation ends.
    pub(super) fn active_branch(&self) -> Branch {
        let mut branch = Branch { path: Vec::new(), shown: vec![false; self.nodes.len()] };
        let mut at = self.leaf().unwrap_or(NONE);
        while at != NONE && !branch.shown[at as usize] {
            branch.shown[at as usize] = true;
            branch.path.push(at);
            at = self.parents[at as usize];
        }
        branch.path.reverse();
        branch
    }

    /// Returns the message at which the conversation ends.
    fn leaf(&self) -> Option<u32> {
        let mut has_child = vec![false; self.nodes.len()];
        for (node_idx, &parent) in self.parents.iter().enumerate() {
            let is_same_thread = self
                .nodes
                .get(parent as usize)
                .is_some_and(|parent| self.is_main(parent) == self.is_main(&self.nodes[node_idx]));
            if is_same_thread && !self.is_repeat(node_idx) {
                has_child[parent as usize] = true;
            }
        }
        let mut visited = vec![false; self.nodes.len()];
        let mut best = None;
        for tip in (0..self.nodes.len()).filter(|&tip| !has_child[tip] && !self.is_repeat(tip)) {
            let mut at = tip as u32;
            while at != NONE && !visited[at as usize] {
                visited[at as usize] = true;
                if self.nodes[at as usize].role.is_some() {
                    if self.is_main_message(at) {
                        best = best.max(Some((self.last[at as usize], at)));
                    }
                    break;
                }
                at = self.parents[at as usize];
            }
        }
        // Where every line has a child (a cycle), the last message ends the conversation.
        let last = || (0..self.nodes.len() as u32).rev().find(|&at| self.is_main_message(at));
        best.map(|(_, at)| at).or_else(last)
    }
}
