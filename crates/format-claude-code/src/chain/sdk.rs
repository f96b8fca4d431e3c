//! The conversation as the SDK for Python shows it (`get_session_messages`, 0.2.187).
//!
//! It hides more than [`Chain`](super::Chain) does: what lies before a compaction or a gap, what
//! names a team, what the client wrote on its own. It puts parallel calls and their results back at
//! the end of their response.

mod entries;
mod parallel;

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
};

use jsonl::Value;

use self::entries::SdkEntry;

/// Finds the conversation of a transcript by the SDK's rule, from ids alone.
#[derive(Debug, Default)]
pub(crate) struct SdkChain {
    entries: Vec<SdkEntry>,
}

impl SdkChain {
    /// Takes note of a line, which is the caller's number `place`, larger than those before.
    pub(crate) fn push(&mut self, place: usize, line: Value<'_>) {
        self.entries.extend(SdkEntry::read(place, line));
    }

    /// Returns the numbers of the messages that the SDK shows, in its order.
    pub(crate) fn finish(self) -> Vec<usize> {
        let conversation = SdkTree::new(&self.entries).conversation().into_iter();
        conversation.filter(|entry| entry.is_visible()).map(|entry| entry.place).collect()
    }
}

/// The lines, by what links them.
struct SdkTree<'e> {
    entries: &'e [SdkEntry],
    /// The last entry of each id.
    by_id: HashMap<&'e str, &'e SdkEntry>,
    /// The ids in the order of their first entries.
    ids: Vec<&'e str>,
}

impl<'e> SdkTree<'e> {
    fn new(entries: &'e [SdkEntry]) -> Self {
        let (mut by_id, mut ids) = (HashMap::new(), Vec::new());
        for entry in entries {
            if by_id.insert(entry.id.as_str(), entry).is_none() {
                ids.push(entry.id.as_str());
            }
        }
        Self { entries, by_id, ids }
    }

    /// Returns the lines from the root to the leaf, with the parallel calls beside them.
    fn conversation(&self) -> Vec<&'e SdkEntry> {
        let mut seen = HashSet::new();
        let mut chain = Vec::new();
        let mut at = self.leaf();
        while let Some(entry) = at.filter(|entry| seen.insert(entry.id.as_str())) {
            chain.push(entry);
            at = self.parent(entry);
        }
        chain.reverse();
        self.with_parallel_calls(chain, seen)
    }

    fn parent(&self, entry: &SdkEntry) -> Option<&'e SdkEntry> {
        self.by_id.get(entry.parent.as_deref()?).copied()
    }

    /// Returns the message at which the conversation ends: of the main ones, if there are any, that
    /// whose id comes last.
    fn leaf(&self) -> Option<&'e SdkEntry> {
        let parents: HashSet<&str> =
            self.entries.iter().filter_map(|entry| entry.parent.as_deref()).collect();
        let tips = self.entries.iter().filter(|entry| !parents.contains(entry.id.as_str()));
        // Walks that meet end at the same message: each line is walked once.
        let mut nearest = HashMap::new();
        let leaves: Vec<_> = tips.filter_map(|tip| self.nearest(tip, &mut nearest)).collect();
        let has_main = leaves.iter().any(|leaf| leaf.is_main());
        let last_place = |leaf: &SdkEntry| self.by_id.get(leaf.id.as_str()).map(|last| last.place);
        let leaves = leaves.into_iter().filter(|leaf| !has_main || leaf.is_main());
        // Of leaves with one id it is the first.
        leaves.min_by_key(|leaf| Reverse(last_place(leaf)))
    }

    /// Returns the nearest message on the way from a line to its root; `known` has that of lines by
    /// their places.
    fn nearest(
        &self,
        tip: &'e SdkEntry,
        known: &mut HashMap<usize, Option<&'e SdkEntry>>,
    ) -> Option<&'e SdkEntry> {
        let mut way = Vec::new();
        let mut at = Some(tip);
        let found = loop {
            let Some(entry) = at else { break None };
            if let Some(found) = known.get(&entry.place) {
                break *found;
            }
            if entry.role.is_some() {
                break Some(entry);
            }
            // A circle leads nowhere.
            known.insert(entry.place, None);
            way.push(entry.place);
            at = self.parent(entry);
        };
        known.extend(way.into_iter().map(|place| (place, found)));
        found
    }
}
