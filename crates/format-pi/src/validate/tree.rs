//! Checks the tree of entries: ids, parents, and the branch that pi sends.
//!
//! In: two entries whose parents are each other. Out: a problem that stops pi.

use core_model::{ByHash, Field, Findings, IdHasher, Place, Severity};

use crate::{Entry, Record};

/// The tree of entries.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// Whether each entry follows the one before, as in version 1.
    pub(super) is_linear: bool,
    nodes: Vec<Node>,
    by_id: ByHash<usize>,
    hasher: IdHasher,
}

#[derive(Debug)]
struct Node {
    place: Place,
    parent: Option<u64>,
    /// The hash of the first entry that a compaction keeps; `None` for other entries.
    kept: Option<Option<u64>>,
    speaker: Speaker,
}

/// The role in which an entry is sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Speaker {
    User,
    Assistant,
    None,
}

impl Speaker {
    fn of(entry: &Entry<'_>) -> Self {
        match entry {
            Entry::BranchSummary(_) | Entry::CustomMessage(_) => Speaker::User,
            Entry::Message(message) => {
                let is_failed = |it: jsonl::Text<'_>| it.is("error") || it.is("aborted");
                match message.role.map(|role| role.decode()).as_deref() {
                    Some("assistant") if message.stop_reason.is_some_and(is_failed) => {
                        Speaker::None
                    }
                    Some("assistant") => Speaker::Assistant,
                    Some("system") | None => Speaker::None,
                    Some(_) => Speaker::User,
                }
            }
            _ => Speaker::None,
        }
    }
}

impl Tree {
    /// Adds an entry and returns its index.
    pub(super) fn add(&mut self, record: &Record<'_>, out: &mut Findings<'_>) -> usize {
        let node_idx = self.nodes.len();
        let parent = match record.parent_id {
            Field::Value(parent) => Some(self.hasher.hash_text(parent)),
            Field::Null | Field::Absent => None,
        };
        let kept = match &record.entry {
            Entry::Compaction(compaction) => {
                let id = compaction.first_kept_entry_id;
                Some(id.map(|id| self.hasher.hash_text(id)))
            }
            _ => None,
        };
        let speaker = Speaker::of(&record.entry);
        self.nodes.push(Node { place: out.place, parent, kept, speaker });
        if self.is_linear {
            return node_idx;
        }
        match record.id.map(|id| self.hasher.hash_text(id)) {
            None => out.warns(
                "id",
                "an entry without a string `id`: if it is the last line, nothing before it is sent",
            ),
            Some(id) => {
                if self.by_id.insert(id, node_idx).is_some() {
                    let message = "an earlier entry has this `id`: pi takes this one for both; give \
                        one a new `id`";
                    out.warns("duplicate-id", message);
                }
            }
        }
        node_idx
    }

    fn parent(&self, node_idx: usize) -> Option<usize> {
        match self.is_linear {
            true => node_idx.checked_sub(1),
            false => self.by_id.get(&self.nodes.get(node_idx)?.parent?).copied(),
        }
    }

    /// Returns the entries that pi sends: for each entry, whether it is one of them.
    pub(super) fn sent(&self) -> Vec<bool> {
        let mut path = Vec::new();
        let mut sent = vec![false; self.nodes.len()];
        let mut at = self.nodes.len().checked_sub(1);
        while let Some(node_idx) = at {
            let Some(is_sent @ false) = sent.get_mut(node_idx) else { break };
            *is_sent = true;
            path.push(node_idx);
            at = self.parent(node_idx);
        }
        // From the leaf on, the path leads to the last compaction, and on to the first entry that
        // it keeps.
        let is_cut = |node_idx: &usize| self.node(*node_idx).is_some_and(|it| it.kept.is_some());
        let Some(cut) = path.iter().position(is_cut).filter(|_| !self.is_linear) else {
            return sent;
        };
        let kept = path.get(cut).and_then(|node_idx| self.node(*node_idx)?.kept?);
        let first_kept = kept.and_then(|id| self.by_id.get(&id));
        let last = path.iter().position(|it| Some(it) == first_kept).filter(|last| *last > cut);
        for node_idx in path.iter().skip(last.unwrap_or(cut).saturating_add(1)) {
            if let Some(is_sent) = sent.get_mut(*node_idx) {
                *is_sent = false;
            }
        }
        sent
    }

    fn node(&self, node_idx: usize) -> Option<&Node> {
        self.nodes.get(node_idx)
    }

    /// Returns the place of the first message that is sent, if it is the assistant's. The API
    /// refuses such a request.
    fn first_response(&self) -> Option<Place> {
        let sent = self.sent();
        let mut said = self
            .nodes
            .iter()
            .zip(&sent)
            .filter(|(node, is_sent)| **is_sent && node.speaker != Speaker::None);
        let (node, _) = said.next()?;
        let has_summary = self.nodes.iter().zip(&sent).any(|(it, sent)| *sent && it.kept.is_some());
        (node.speaker == Speaker::Assistant && !has_summary).then_some(node.place)
    }

    /// Reports circles of parents, and parents that are missing.
    pub(super) fn finish(&self, out: &mut Findings<'_>) {
        if let Some(place) = self.first_response() {
            let message = "the first message that is sent is the assistant's: the API refuses the \
                request; put a user's message before it";
            out.add(place, Severity::Warns, "assistant-first", message.into());
        }
        let mut is_done = vec![false; self.nodes.len()];
        for (node_idx, node) in self.nodes.iter().enumerate() {
            let mut add = |severity, rule, message: &'static str| {
                out.add(node.place, severity, rule, message.into());
            };
            if !self.is_linear && node.parent.is_some_and(|id| !self.by_id.contains_key(&id)) {
                add(
                    Severity::Warns,
                    "missing-parent",
                    "no entry has the `id` in `parentId`: pi sends nothing before this entry; name \
                     an earlier entry",
                );
            }
            if self.is_in_circle(node_idx, &mut is_done) {
                add(
                    Severity::Stops,
                    "circle",
                    "the parents lead in a circle: 0.87 ends, 0.74 hangs; give each entry its own \
                     `id`, and the `id` of an earlier entry as its `parentId`",
                );
            }
        }
    }

    /// Returns whether the parents of an entry lead in a circle that was not met before.
    fn is_in_circle(&self, node_idx: usize, is_done: &mut [bool]) -> bool {
        let mut steps = Vec::new();
        let mut at = Some(node_idx);
        let mut is_circle = false;
        while let Some(node_idx) = at {
            match is_done.get_mut(node_idx) {
                Some(is_done @ false) => *is_done = true,
                _ => {
                    is_circle = steps.contains(&node_idx);
                    break;
                }
            }
            steps.push(node_idx);
            at = self.parent(node_idx);
        }
        is_circle
    }
}
