//! What the way from the leaf to the root misses: parallel calls fork the tree, and the way takes
//! one branch.

use std::collections::{HashMap, HashSet};

use super::{SdkChain, SdkEntry};

/// The lines of all responses and results, by what links them.
#[derive(Default)]
struct Links<'e> {
    /// The assistant's lines, by the id of the response.
    responses: HashMap<&'e str, Vec<usize>>,
    /// The line that made each call; `None` if two responses claim it.
    owners: HashMap<&'e str, Option<usize>>,
    /// The results that may belong to a line of the assistant, by its id.
    answers: HashMap<&'e str, Vec<usize>>,
    /// The results' places among all results, by their first lines.
    order: HashMap<usize, usize>,
}

impl SdkChain {
    /// Returns the chain with the calls and results of its responses that are on no way to the leaf,
    /// after the last line of each response that is.
    pub(super) fn with_parallel_calls<'e>(
        &'e self,
        chain: Vec<usize>,
        mut seen: HashSet<&'e str>,
    ) -> Vec<usize> {
        let mut anchors: HashMap<&str, usize> = HashMap::new();
        let mut responses = Vec::new();
        for &idx in &chain {
            if let Some(message_id) = self.entries[idx].message_id.as_deref()
                && anchors.insert(message_id, idx).is_none()
            {
                responses.push((message_id, [idx]));
            }
        }
        if responses.is_empty() {
            return chain;
        }
        let links = self.links();
        let on_the_way: HashSet<&str> = chain
            .iter()
            .flat_map(|&idx| self.entries[idx].answers.iter().map(String::as_str))
            .collect();
        let mut inserts: HashMap<usize, Vec<usize>> = HashMap::new();
        for (message_id, first) in responses {
            // Of two lines with one id the leaf may be the one that the links do not know.
            let group = links.responses.get(message_id).map_or(&first[..], Vec::as_slice);
            let found = self.missing(group, &links, &seen, &on_the_way);
            seen.extend(found.iter().map(|&idx| self.entries[idx].id.as_str()));
            if let (false, Some(&anchor)) = (found.is_empty(), anchors.get(message_id)) {
                inserts.insert(anchor, found);
            }
        }
        let mut whole = Vec::with_capacity(chain.len());
        for idx in chain {
            whole.push(idx);
            whole.extend(inserts.remove(&idx).unwrap_or_default());
        }
        whole
    }

    /// Returns the lines of a response, and the results of its calls, that have not been seen.
    fn missing(
        &self,
        group: &[usize],
        links: &Links<'_>,
        seen: &HashSet<&str>,
        on_the_way: &HashSet<&str>,
    ) -> Vec<usize> {
        let entry = |idx: usize| &self.entries[idx];
        let is_new = |idx: &usize| !seen.contains(entry(*idx).id.as_str());
        let members: HashSet<&str> = group.iter().map(|&idx| entry(idx).id.as_str()).collect();
        let mut lines: Vec<usize> = group.iter().copied().filter(is_new).collect();
        let (mut results, mut strays) = (Vec::new(), Vec::new());
        let mut collected = HashSet::new();
        for &member in group {
            let answers = links.answers.get(entry(member).id.as_str());
            for &result in answers.into_iter().flatten().filter(|result| is_new(result)) {
                if collected.insert(result) {
                    let parent = entry(result).parent.as_deref();
                    let hangs_here = parent.is_some_and(|parent| members.contains(parent));
                    if hangs_here { &mut results } else { &mut strays }.push(result);
                }
            }
        }
        self.add_strays(strays, &members, links, on_the_way, &mut results);
        let by_time = |a: &usize, b: &usize| entry(*a).time.cmp(&entry(*b).time);
        lines.sort_by(by_time);
        results.sort_by(by_time);
        lines.extend(results);
        lines
    }

    /// Adds results that hang elsewhere, if they answer a call that nothing else answers.
    fn add_strays(
        &self,
        mut strays: Vec<usize>,
        members: &HashSet<&str>,
        links: &Links<'_>,
        on_the_way: &HashSet<&str>,
        results: &mut Vec<usize>,
    ) {
        if strays.is_empty() {
            return;
        }
        let of = |idx: usize| self.entries[idx].answers.iter().map(String::as_str);
        let mut answered: HashSet<&str> = results.iter().flat_map(|&idx| of(idx)).collect();
        strays.sort_by_key(|stray| links.order.get(stray));
        for result in strays {
            let is_open = |call: &str| {
                let owner = links.owners.get(call).copied().flatten();
                !answered.contains(call)
                    && !on_the_way.contains(call)
                    && owner.is_some_and(|owner| members.contains(self.entries[owner].id.as_str()))
            };
            if of(result).any(is_open) {
                answered.extend(of(result));
                results.push(result);
            }
        }
    }

    fn links(&self) -> Links<'_> {
        let mut links = Links::default();
        let lines = self.ids.iter().filter_map(|id| self.by_id.get(id).copied());
        let mut results: Vec<(usize, &SdkEntry)> = Vec::new();
        for idx in lines {
            let entry = &self.entries[idx];
            if let Some(message_id) = entry.message_id.as_deref() {
                links.responses.entry(message_id).or_default().push(idx);
                for call in &entry.calls {
                    let owner = links.owners.entry(call).or_insert(Some(idx));
                    let is_same = owner
                        .is_some_and(|owner| self.entries[owner].message_id == entry.message_id);
                    *owner = is_same.then_some(idx);
                }
            } else if entry.is_answer() {
                results.push((idx, entry));
            }
        }
        for (order, (idx, result)) in results.into_iter().enumerate() {
            links.order.insert(idx, order);
            let parent = result.parent.as_deref();
            let source = result.source.as_deref().and_then(|id| self.by_id.get(id).copied());
            let owners = result.answers.iter();
            let owners = owners.filter_map(|call| links.owners.get(call.as_str()).copied()?);
            let linked = source.into_iter().chain(owners).map(|idx| &self.entries[idx]);
            let linked = linked.filter(|entry| result.is_of_the_writer_of(entry));
            for id in parent.into_iter().chain(linked.map(|entry| entry.id.as_str())) {
                links.answers.entry(id).or_default().push(idx);
            }
        }
        links
    }
}
