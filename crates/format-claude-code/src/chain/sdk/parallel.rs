//! Adds parallel calls and their results to the SDK's conversation. Parallel calls fork the tree,
//! and the path from the leaf to the root has one branch only.
//!
//! In: the chain `call-1 result-1 reply`, where `call-1` and `call-2` are one response. Out:
//! `call-1 call-2 result-2 result-1 reply`.

use std::{
    collections::{HashMap, HashSet},
    slice,
};

use super::{SdkEntry, SdkTree};

/// Links between the lines of responses and the results of their calls.
#[derive(Default)]
struct Links<'e> {
    /// The assistant's lines, by response id.
    responses: HashMap<&'e str, Vec<&'e SdkEntry>>,
    /// The line of each call; `None` if two responses have the call.
    owners: HashMap<&'e str, Option<&'e SdkEntry>>,
    /// Candidate results for each line of the assistant, by its id.
    answers: HashMap<&'e str, Vec<&'e SdkEntry>>,
    /// For each result, by its place, the place of the first line with its id: the sort key.
    order: HashMap<usize, usize>,
}

impl<'e> SdkTree<'e> {
    /// Returns the chain with the missing calls and results of its responses, added after the last
    /// line of each response in the chain.
    pub(super) fn with_parallel_calls(
        &self,
        chain: Vec<&'e SdkEntry>,
        mut seen: HashSet<&'e str>,
    ) -> Vec<&'e SdkEntry> {
        let mut anchors = HashMap::new();
        let mut responses = Vec::new();
        for &entry in &chain {
            if let Some(message_id) = entry.message_id.as_deref()
                && anchors.insert(message_id, entry.place).is_none()
            {
                responses.push((message_id, entry));
            }
        }
        if responses.is_empty() {
            return chain;
        }
        let links = self.links();
        let on_the_way: HashSet<&str> = chain.iter().flat_map(|entry| entry.answers()).collect();
        let mut inserts: HashMap<usize, Vec<&SdkEntry>> = HashMap::new();
        for (message_id, first) in &responses {
            // With two lines of one id, the leaf may be the line that is not among the links.
            let group = links.responses.get(message_id).map(Vec::as_slice);
            let group = group.unwrap_or(slice::from_ref(first));
            let found = links.missing(group, &seen, &on_the_way);
            seen.extend(found.iter().map(|entry| entry.id.as_str()));
            if let (false, Some(&anchor)) = (found.is_empty(), anchors.get(message_id)) {
                inserts.insert(anchor, found);
            }
        }
        let mut whole = Vec::with_capacity(chain.len());
        for entry in chain {
            whole.push(entry);
            whole.extend(inserts.remove(&entry.place).unwrap_or_default());
        }
        whole
    }

    fn links(&self) -> Links<'e> {
        let mut links = Links::default();
        let mut results = Vec::new();
        for &entry in self.ids.iter().filter_map(|id| self.by_id.get(id)) {
            if let Some(message_id) = entry.message_id.as_deref() {
                links.responses.entry(message_id).or_default().push(entry);
                for call in &entry.calls {
                    let owner = links.owners.entry(call).or_insert(Some(entry));
                    let is_same = owner.is_some_and(|owner| owner.message_id == entry.message_id);
                    *owner = is_same.then_some(entry);
                }
            } else if entry.is_answer() {
                results.push(entry);
            }
        }
        for (order, result) in results.into_iter().enumerate() {
            links.order.insert(result.place, order);
            let parent = result.parent.as_deref();
            let source = result.source.as_deref().and_then(|id| self.by_id.get(id).copied());
            let owners = result.answers().filter_map(|call| links.owners.get(call).copied()?);
            let linked = source.into_iter().chain(owners);
            let linked = linked.filter(|entry| result.is_of_the_writer_of(entry));
            for id in parent.into_iter().chain(linked.map(|entry| entry.id.as_str())) {
                links.answers.entry(id).or_default().push(result);
            }
        }
        links
    }
}

impl<'e> Links<'e> {
    /// Returns the lines of a response, and the results of its calls, that are not in `seen`.
    fn missing(
        &self,
        group: &[&'e SdkEntry],
        seen: &HashSet<&str>,
        on_the_way: &HashSet<&str>,
    ) -> Vec<&'e SdkEntry> {
        let is_new = |entry: &&SdkEntry| !seen.contains(entry.id.as_str());
        let members: HashSet<&str> = group.iter().map(|entry| entry.id.as_str()).collect();
        let mut lines: Vec<&SdkEntry> = group.iter().copied().filter(is_new).collect();
        let (mut results, mut strays) = (Vec::new(), Vec::new());
        let mut collected = HashSet::new();
        for member in group {
            let answers = self.answers.get(member.id.as_str());
            for &result in answers.into_iter().flatten().filter(|result| is_new(result)) {
                if collected.insert(result.place) {
                    let parent = result.parent.as_deref();
                    let hangs_here = parent.is_some_and(|parent| members.contains(parent));
                    if hangs_here { &mut results } else { &mut strays }.push(result);
                }
            }
        }
        self.add_strays(strays, &members, on_the_way, &mut results);
        let by_time = |a: &&SdkEntry, b: &&SdkEntry| a.time.cmp(&b.time);
        lines.sort_by(by_time);
        results.sort_by(by_time);
        lines.extend(results);
        lines
    }

    /// Adds results with other parents, if they answer a call that has no answer yet.
    fn add_strays(
        &self,
        mut strays: Vec<&'e SdkEntry>,
        members: &HashSet<&str>,
        on_the_way: &HashSet<&str>,
        results: &mut Vec<&'e SdkEntry>,
    ) {
        if strays.is_empty() {
            return;
        }
        let mut answered: HashSet<&str> =
            results.iter().flat_map(|result| result.answers()).collect();
        strays.sort_by_key(|stray| self.order.get(&stray.place));
        for result in strays {
            let is_open = |call: &str| {
                let owner = self.owners.get(call).copied().flatten();
                !answered.contains(call)
                    && !on_the_way.contains(call)
                    && owner.is_some_and(|owner| members.contains(owner.id.as_str()))
            };
            if result.answers().any(is_open) {
                answered.extend(result.answers());
                results.push(result);
            }
        }
    }
}
