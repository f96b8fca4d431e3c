//! Finds the conversation that the SDK for Python shows (`get_session_messages`, 0.2.187).
//!
//! The SDK hides more than [`Chain`](super::Chain): history before a compaction or a gap, lines
//! with a team name, and `isMeta` lines. It moves parallel calls and their results to the end of
//! their response.

mod entries;
mod parallel;

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
};

use jsonl::Value;

use self::entries::SdkEntry;

/// Builder of the SDK's conversation, from ids alone.
#[derive(Debug, Default)]
pub(crate) struct SdkChain {
    entries: Vec<SdkEntry>,
}

impl SdkChain {
    /// Adds a line. `place` is a number that the caller chooses; it must grow with each line.
    pub(crate) fn push(&mut self, place: usize, line: Value<'_>) {
        self.entries.extend(SdkEntry::read(place, line));
    }

    /// Returns the places of the messages that the SDK shows, in its order.
    pub(crate) fn finish(self) -> Vec<usize> {
        let conversation = SdkTree::new(&self.entries).conversation().into_iter();
        conversation.filter(|entry| entry.is_visible()).map(|entry| entry.place).collect()
    }
}

/// The tree of lines that have an id.
struct SdkTree<'e> {
    entries: &'e [SdkEntry],
    /// The last entry with each id.
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

    /// Returns the lines from the root to the leaf, with parallel calls and results added.
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

    /// Returns the last message of the conversation: the leaf whose id is last in the file, of the
    /// main thread if it has one.
    fn leaf(&self) -> Option<&'e SdkEntry> {
        let parents: HashSet<&str> =
            self.entries.iter().filter_map(|entry| entry.parent.as_deref()).collect();
        let tips = self.entries.iter().filter(|entry| !parents.contains(entry.id.as_str()));
        // Paths from several leaves meet. The cache lets each line be visited once.
        let mut nearest = HashMap::new();
        let leaves: Vec<_> = tips.filter_map(|tip| self.nearest(tip, &mut nearest)).collect();
        let has_main = leaves.iter().any(|leaf| leaf.is_main());
        let last_place = |leaf: &SdkEntry| self.by_id.get(leaf.id.as_str()).map(|last| last.place);
        let leaves = leaves.into_iter().filter(|leaf| !has_main || leaf.is_main());
        // `min_by_key` returns the first of several leaves with one id, as the SDK does.
        leaves.min_by_key(|leaf| Reverse(last_place(leaf)))
    }

    /// Returns the nearest message on the path from a line to its root. `known` caches the result
    /// of each line by its place.
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
            // If the path is a circle, the second visit finds this entry and stops.
            known.insert(entry.place, None);
            way.push(entry.place);
            at = self.parent(entry);
        };
        known.extend(way.into_iter().map(|place| (place, found)));
        found
    }
}
