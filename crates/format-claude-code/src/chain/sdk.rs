//! The conversation as the SDK for Python shows it (`get_session_messages`, 0.2.187).
//!
//! It hides more than [`Chain`](super::Chain) does: what lies before a compaction or a gap, what
//! names a team, what the client wrote on its own. It puts parallel calls and their results back at
//! the end of their response.

mod entries;
mod parallel;

use std::collections::{HashMap, HashSet};

use jsonl::Value;

use self::entries::SdkEntry;

/// Finds the conversation of a transcript by the SDK's rule, from ids alone.
#[derive(Debug, Default)]
pub(crate) struct SdkChain {
    entries: Vec<SdkEntry>,
    /// The last entry of each id.
    by_id: HashMap<String, usize>,
    /// The ids in the order of their first entries.
    ids: Vec<String>,
}

impl SdkChain {
    /// Takes note of a line, which is the caller's number `place`.
    pub(crate) fn push(&mut self, place: usize, line: Value<'_>) {
        let Some(entry) = SdkEntry::read(place, line) else { return };
        if self.by_id.insert(entry.id.clone(), self.entries.len()).is_none() {
            self.ids.push(entry.id.clone());
        }
        self.entries.push(entry);
    }

    /// Returns the numbers of the messages that the SDK shows, in its order.
    pub(crate) fn finish(self) -> Vec<usize> {
        let Some(leaf) = self.leaf() else { return Vec::new() };
        let mut seen = HashSet::new();
        let mut chain = Vec::new();
        let mut at = Some(leaf);
        while let Some(idx) = at {
            if !seen.insert(self.entries[idx].id.as_str()) {
                break;
            }
            chain.push(idx);
            at = self.parent(idx);
        }
        chain.reverse();
        let chain = self.with_parallel_calls(chain, seen);
        let visible = chain.into_iter().map(|idx| &self.entries[idx]);
        visible.filter(|entry| entry.is_visible()).map(|entry| entry.place).collect()
    }

    fn parent(&self, idx: usize) -> Option<usize> {
        self.by_id.get(self.entries[idx].parent.as_deref()?).copied()
    }

    /// Returns the message at which the conversation ends.
    fn leaf(&self) -> Option<usize> {
        let parents: HashSet<&str> =
            self.entries.iter().filter_map(|entry| entry.parent.as_deref()).collect();
        let tips =
            (0..self.entries.len()).filter(|&idx| !parents.contains(self.entries[idx].id.as_str()));
        // Walks that meet end at the same message: each line is walked once.
        let mut nearest: Vec<Option<Option<usize>>> = vec![None; self.entries.len()];
        let leaves: Vec<usize> = tips.filter_map(|tip| self.nearest(tip, &mut nearest)).collect();
        let is_main = |idx: &&usize| self.entries[**idx].is_main();
        let has_main = leaves.iter().any(|idx| is_main(&idx));
        let mut best: Option<(usize, usize)> = None;
        for idx in leaves.iter().filter(|idx| !has_main || is_main(idx)) {
            let position = self.by_id.get(&self.entries[*idx].id).copied().unwrap_or(0);
            if best.is_none_or(|(best, _)| position > best) {
                best = Some((position, *idx));
            }
        }
        best.map(|(_, idx)| idx)
    }

    /// Returns the nearest message on the way from a line to its root.
    fn nearest(&self, tip: usize, known: &mut [Option<Option<usize>>]) -> Option<usize> {
        let mut way = Vec::new();
        let mut at = Some(tip);
        let found = loop {
            let Some(idx) = at else { break None };
            if let Some(found) = known[idx] {
                break found;
            }
            if self.entries[idx].role.is_some() {
                break Some(idx);
            }
            // A circle leads nowhere.
            known[idx] = Some(None);
            way.push(idx);
            at = self.parent(idx);
        };
        for idx in way {
            known[idx] = Some(found);
        }
        found
    }
}
