//! Which lines of a transcript are its conversation: the active branch of the tree.
//!
//! The rule is the client's own (2.1): of the leaves, each walked back to the nearest message of
//! the main thread, the one last in the file; from there the parents up to the root, and the
//! parallel tool results that hang beside it. See `FORMAT.md` for where we hide less than it does.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
};

use core_model::{Block, Body, Content, Event, Field, Message, NoticeKind, Planner, Role};
use jsonl::Text;

const NONE: u32 = u32::MAX;

/// Finds the active branch of a transcript in a first pass over ids and offsets.
#[derive(Debug, Default)]
pub struct Chain {
    all_branches: bool,
    nodes: Vec<Node>,
    /// Ids of tool uses (of assistant nodes) and of results (of user nodes), in order of nodes.
    tools: Vec<(u32, u64)>,
    hasher: BuildHasherDefault<DefaultHasher>,
}

/// A line with an id.
#[derive(Clone, Copy, Debug)]
struct Node {
    offset: u64,
    id: u64,
    link: Link,
    message_id: u64,
    fingerprint: u64,
    role: Option<Role>,
    is_sidechain: bool,
}

/// What a line says of the line that it follows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Link {
    /// Nothing follows up: the history starts here.
    Root,
    /// It follows a line, or if that is not in the file, the line before it in the same thread.
    To(u64),
    /// It follows the line before it in the same thread.
    Before,
}

impl Chain {
    /// Creates a chain; if `all_branches`, nothing is hidden.
    pub fn new(all_branches: bool) -> Self {
        Self { all_branches, ..Self::default() }
    }

    fn hash(&self, text: Text<'_>) -> u64 {
        self.hasher.hash_one(&*text.decode())
    }

    fn link(&self, event: &Event<'_>) -> Link {
        let is_restart = match &event.body {
            Body::Notice(notice) => notice.kind == NoticeKind::Compaction,
            Body::Message(message) => message.is_summary,
            _ => false,
        };
        match event.context.parent {
            Field::Value(parent) => Link::To(self.hash(parent)),
            Field::Null if is_restart => {
                let logical = event.value.get("logicalParentUuid").and_then(|id| id.text());
                logical.map_or(Link::Before, |parent| Link::To(self.hash(parent)))
            }
            Field::Null => Link::Root,
            Field::Absent => Link::Before,
        }
    }

    /// Says what a repeat of a line has in common with it, without a look at all of it.
    fn fingerprint(&self, message: &Message<'_>) -> u64 {
        let content = match message.content {
            Content::Text(text) => text.as_str(),
            Content::Blocks(blocks) => blocks.raw().as_str(),
            Content::Other(raw) => raw.as_str(),
            Content::Absent => "",
        };
        let bytes = content.as_bytes();
        let head = bytes.get(..128).unwrap_or(bytes);
        let tail = bytes.get(bytes.len().saturating_sub(128)..).unwrap_or_default();
        self.hasher.hash_one((bytes.len(), head, tail))
    }
}

impl Planner for Chain {
    fn observe(&mut self, offset: u64, event: &Event<'_>) {
        let Some(uuid) = event.context.uuid.filter(|_| !self.all_branches) else { return };
        let message = event.message();
        let node = Node {
            offset,
            id: self.hash(uuid),
            link: self.link(event),
            message_id: message.and_then(|message| message.id).map_or(0, |id| self.hash(id)),
            fingerprint: message.map_or(0, |message| self.fingerprint(message)),
            role: message.map(|message| message.role),
            is_sidechain: event.context.is_sidechain,
        };
        let node_idx = self.nodes.len() as u32;
        self.nodes.push(node);
        for (block, _) in message.into_iter().flat_map(|message| message.blocks()) {
            let id = match (node.role, block) {
                (Some(Role::Assistant), Block::ToolUse(tool)) => tool.id,
                (Some(Role::User), Block::ToolResult(result)) => result.tool_use_id,
                _ => continue,
            };
            let id = self.hash(id);
            self.tools.push((node_idx, id));
        }
    }

    fn finish(self: Box<Self>) -> Vec<u64> {
        let tree = Tree::new(&self.nodes);
        let mut shown = tree.active_branch();
        self.recover(&tree, &mut shown);
        let is_hidden =
            |(node, shown): &(&Node, bool)| node.role.is_some() && tree.is_main(node) && !shown;
        self.nodes.iter().zip(shown).filter(is_hidden).map(|(node, _)| node.offset).collect()
    }
}

impl Chain {
    /// Shows what belongs to responses on the branch: their other lines, and results of their
    /// calls that no line on the branch answers (parallel tools fork the tree).
    fn recover(&self, tree: &Tree<'_>, shown: &mut [bool]) {
        let of_role = |node_idx: u32, role| self.node(node_idx).role == Some(role);
        let mut responses = HashSet::new();
        for (node, _) in self.nodes.iter().zip(&*shown).filter(|(_, shown)| **shown) {
            if node.role == Some(Role::Assistant) && node.message_id != 0 {
                responses.insert(node.message_id);
            }
        }
        for (node_idx, node) in self.nodes.iter().enumerate() {
            let is_sibling = node.role == Some(Role::Assistant)
                && tree.is_main(node)
                && !tree.is_repeat(node_idx)
                && responses.contains(&node.message_id);
            if let Some(shown) = shown.get_mut(node_idx).filter(|_| is_sibling) {
                *shown = true;
            }
        }
        let is_shown = |shown: &[bool], node_idx: u32| shown.get(node_idx as usize) == Some(&true);
        let (mut called, mut answered) = (HashSet::new(), HashSet::new());
        for &(node_idx, id) in self.tools.iter().filter(|(node_idx, _)| is_shown(shown, *node_idx))
        {
            if of_role(node_idx, Role::Assistant) { &mut called } else { &mut answered }.insert(id);
        }
        for &(node_idx, id) in &self.tools {
            let is_lost_result = of_role(node_idx, Role::User)
                && !is_shown(shown, node_idx)
                && tree.is_main(self.node(node_idx))
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

    fn node(&self, node_idx: u32) -> &Node {
        &self.nodes[node_idx as usize]
    }
}

/// The lines with their parents found.
struct Tree<'n> {
    nodes: &'n [Node],
    parents: Vec<u32>,
    /// For each line the last one in the file with the same id; `NONE` for those that it repeats.
    last: Vec<u32>,
    sidechain_is_main: bool,
}

impl<'n> Tree<'n> {
    fn new(nodes: &'n [Node]) -> Self {
        let mut last: Vec<u32> = (0..nodes.len() as u32).collect();
        let mut by_id: HashMap<u64, u32> = HashMap::with_capacity(nodes.len());
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
            parents.push(match node.link {
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
    fn is_main(&self, node: &Node) -> bool {
        self.sidechain_is_main || !node.is_sidechain
    }

    /// Returns whether another line with the same id stands for this one.
    fn is_repeat(&self, node_idx: usize) -> bool {
        self.last.get(node_idx) == Some(&NONE)
    }

    fn is_main_message(&self, node_idx: u32) -> bool {
        let node = &self.nodes[node_idx as usize];
        node.role.is_some() && self.is_main(node) && !self.is_repeat(node_idx as usize)
    }

    /// Returns which lines are on the way from the root to the leaf.
    fn active_branch(&self) -> Vec<bool> {
        let mut shown = vec![false; self.nodes.len()];
        let mut at = self.leaf().unwrap_or(NONE);
        while at != NONE && !shown[at as usize] {
            shown[at as usize] = true;
            at = self.parents[at as usize];
        }
        shown
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
