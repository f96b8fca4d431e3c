//! Finds the messages that are the session: the client reads the lines in order, and each changes it.
//!
//! In: the ids and offsets of all lines. Out: a [`Plan`] with the offsets to hide and the lines to move.
//!
//! ```text
//! {"id":"a","type":"user",..}                         shown
//! {"id":"b","type":"gemini",..}                       hidden: replaced by the next line
//! {"id":"b","type":"gemini",..,"toolCalls":[..]}      shown, with the results of the calls
//! {"id":"c","type":"user","content":[{"functionResponse":..}]}   hidden: repeats the results
//! {"$set":{"messages":[{"id":"a",..},..]}}            hidden: repeats known messages
//! {"$rewindTo":"b"}                                   from here on, b and c are hidden
//! {"id":"d","type":"user",..}, like a                  hidden by the next line: a copy
//! {"$set":{"messages":[{"id":"d",..}]}}                hidden: the history under other ids
//! ```
//!
//! FORMAT.md, "The messages of a session", lists the cases in which we hide less than the client.

use std::collections::HashSet;

use core_model::{ByHash, Event, Hidden, IdHasher, Late, Options, Plan, Planner};
use jsonl::{Text, Value};

use super::{
    copies::{Parts, parts_of},
    reader::{is_compaction, is_context},
    record::{GeminiMessage, GeminiRecord},
};
use crate::part::member;

/// Builder of the [`Plan`] of a session, in a first pass over ids and offsets.
#[derive(Debug, Default)]
pub struct GeminiBranch {
    all_branches: bool,
    from_last_compaction: bool,
    /// The hash of the id of a message on the wanted branch; `None` for the active branch.
    wanted: Option<u64>,
    nodes: Vec<Node>,
    /// The ids, results and parts of the nodes, as hashes.
    lists: Vec<u64>,
    /// The index of the last message of the session so far.
    leaf: Option<usize>,
    /// All messages so far, by the hashes of their ids.
    known: ByHash<Known>,
    /// The hashes of the ids of calls whose results are with them.
    answered: ByHash<()>,
    /// The parts of all messages so far.
    n_parts: usize,
    /// The messages in checkpoints so far, and the messages and parts that were searched for them.
    n_listed: usize,
    n_searched: usize,
    /// Lines that are no part of the session whatever follows.
    hidden: Vec<Hidden>,
    hasher: IdHasher,
}

/// A message with a known id.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Its index, or `NONE` if it is not in the session.
    node: u32,
    /// Whether it is a response, so that the client may repeat the results of its calls under an id of its own.
    is_response: bool,
}

impl Default for Known {
    fn default() -> Self {
        Self { node: NONE, is_response: false }
    }
}

/// The end of the id that the client gives to the results of a response's calls when it repeats them.
const OF_RESULTS: &str = "_response";

/// A message, or a checkpoint with messages.
#[derive(Debug, Default)]
struct Node {
    /// The offset of its last line.
    offset: u64,
    /// The hashes of the ids of its messages.
    ids: List,
    /// The hashes of the ids of calls, if the message has only their results.
    results: List,
    /// The hashes of its texts, calls, results and pictures.
    parts: List,
    /// The index of the message before it, or `NONE`.
    parent: u32,
    is_checkpoint: bool,
    /// Whether it replaces all that is before it.
    is_cut: bool,
    /// Whether the message is in the session before, under another id.
    is_copy: bool,
}

/// A range of the lists of hashes: a session may have hundreds of thousands of short ones.
#[derive(Clone, Copy, Debug, Default)]
struct List {
    start: u32,
    end: u32,
}

/// In place of the index of a message: there is none.
const NONE: u32 = u32::MAX;

impl Node {
    fn parent(&self) -> Option<usize> {
        (self.parent != NONE).then_some(self.parent as usize)
    }
}

/// Limits on the messages and parts that are searched for copies, for each message in a checkpoint and in a file. So a
/// file of many small checkpoints takes linear time.
const MAX_SEARCHED: usize = 64;
const FREE_SEARCHED: usize = 1 << 20;

impl GeminiBranch {
    /// Creates a builder. Options decide whether branches and compacted history are hidden.
    pub fn new(options: &Options) -> Self {
        let Options { all_branches, from_last_compaction, .. } = *options;
        let hasher = IdHasher::default();
        let wanted = options.branch.as_ref().map(|id| hasher.hash(id));
        Self { all_branches, from_last_compaction, wanted, hasher, ..Self::default() }
    }

    /// Keeps hashes. More than four billion of them would be 32 GiB.
    fn keep(&mut self, hashes: &[u64]) -> List {
        let start = self.lists.len();
        let end = start.saturating_add(hashes.len());
        let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(end)) else {
            return List::default();
        };
        self.lists.extend_from_slice(hashes);
        List { start, end }
    }

    fn list(&self, List { start, end }: List) -> &[u64] {
        self.lists.get(start as usize..end as usize).unwrap_or_default()
    }

    /// Returns the index of a message of the session so far.
    fn alive(&self, id: u64) -> Option<usize> {
        let at = self.known.get(&id)?.node;
        (at != NONE).then_some(at as usize)
    }

    fn push(&mut self, offset: u64, ids: &[u64], node: Node) {
        let node_idx = self.nodes.len();
        let number = u32::try_from(node_idx).unwrap_or(NONE);
        for id in ids {
            let known = self.known.entry(*id).or_default();
            if known.node == NONE {
                known.node = number;
            }
        }
        let parent = self.leaf.and_then(|leaf| u32::try_from(leaf).ok()).unwrap_or(NONE);
        let ids = self.keep(ids);
        self.leaf = Some(node_idx);
        self.nodes.push(Node { offset, ids, parent, ..node });
    }

    /// Notes that the id of a message is known. Returns its hash.
    fn note(&mut self, message: &GeminiMessage<'_>) -> u64 {
        let id = self.hasher.hash_text(message.id);
        self.known.entry(id).or_default().is_response |= message.is("gemini");
        id
    }

    /// Returns whether an id, with this hash, is of a message so far, or of the results of one.
    fn is_known(&self, id: Text<'_>, hash: u64) -> bool {
        if self.known.contains_key(&hash) {
            return true;
        }
        let id = id.decode();
        let response = id.strip_suffix(OF_RESULTS).map(|id| self.hasher.hash(id));
        response.and_then(|id| self.known.get(&id)).is_some_and(|known| known.is_response)
    }

    fn add_message(&mut self, offset: u64, message: &GeminiMessage<'_>) {
        let id = self.note(message);
        for call in message.answered() {
            if let Some(call) = member(call, "id") {
                self.answered.insert(self.hasher.hash_text(call), ());
            }
        }
        let (results, parts) = (self.results_of(message), parts_of(message, &self.hasher));
        self.n_parts = self.n_parts.saturating_add(parts.len());
        let (results, parts) = (self.keep(&results), self.keep(&parts));
        let same = self.alive(id).and_then(|at| self.nodes.get_mut(at));
        if let Some(node) = same.filter(|node| !node.is_checkpoint) {
            self.hidden.push(Hidden { offset: node.offset, field: "replaced" });
            (node.offset, node.results, node.parts) = (offset, results, parts);
            return;
        }
        self.push(offset, &[id], Node { results, parts, ..Node::default() });
    }

    /// Returns the hashes of the ids of calls whose results are all that a message of the user has,
    /// besides pictures.
    fn results_of(&self, message: &GeminiMessage<'_>) -> Vec<u64> {
        let mut results = Vec::new();
        if !message.is("user") {
            return results;
        }
        for part in message.parts() {
            let [response, picture] = part.get_all(["functionResponse", "inlineData"]);
            match response.and_then(|response| member(response, "id")) {
                Some(id) => results.push(self.hasher.hash_text(id)),
                None if picture.is_some() => {}
                None => return Vec::new(),
            }
        }
        results
    }

    fn add_checkpoint(&mut self, offset: u64, messages: Value<'_>) {
        let (mut ids, mut is_new) = (Vec::new(), false);
        for message in messages.items().filter_map(GeminiMessage::decode) {
            let id = self.hasher.hash_text(message.id);
            is_new |= !self.is_known(message.id, id) && !is_start(&message);
            ids.push(id);
        }
        if is_new {
            let is_cut = is_compaction(messages);
            self.push(offset, &ids, Node { is_checkpoint: true, is_cut, ..Node::default() });
        } else if !ids.is_empty() {
            self.hidden.push(Hidden { offset, field: "checkpoint" });
            self.find_copies(&ids);
        }
        messages.items().filter_map(GeminiMessage::decode).for_each(|message| {
            self.note(&message);
        });
    }

    /// Finds the messages of a checkpoint that are in the session before, under other ids. They are copies
    /// if at least half of the checkpoint is.
    fn find_copies(&mut self, ids: &[u64]) {
        let n_searched =
            self.n_searched.saturating_add(self.nodes.len()).saturating_add(self.n_parts);
        self.n_listed = self.n_listed.saturating_add(ids.len());
        if n_searched > FREE_SEARCHED.saturating_add(self.n_listed.saturating_mul(MAX_SEARCHED)) {
            return;
        }
        self.n_searched = n_searched;
        let listed: HashSet<u64> = ids.iter().copied().collect();
        let (mut parts, mut later) = (Parts::default(), Vec::new());
        for at in self.path() {
            let Some(node) = self.nodes.get(at).filter(|node| !node.is_checkpoint) else {
                continue;
            };
            match self.list(node.ids).iter().any(|id| listed.contains(id)) {
                true => later.push(at),
                false if later.is_empty() => parts.extend(self.list(node.parts)),
                false => {}
            }
        }
        let n_listed = later.len();
        later.retain(|at| {
            // A message of thoughts alone has no parts, and is no copy.
            let found = self.nodes.get(*at).map(|node| self.list(node.parts));
            found.is_some_and(|found| !found.is_empty() && parts.find(found))
        });
        if later.len().saturating_mul(2) < n_listed {
            return;
        }
        for at in later {
            if let Some(node) = self.nodes.get_mut(at) {
                node.is_copy = true;
            }
        }
    }

    /// Removes a message and all after it from the session. An unknown id changes nothing.
    fn rewind(&mut self, id: Text<'_>) {
        let Some(first) = self.alive(self.hasher.hash_text(id)) else { return };
        while let Some(at) = self.leaf {
            let Some(node) = self.nodes.get(at) else { return };
            if at == first && node.is_checkpoint {
                // A part of a line cannot be hidden.
                return;
            }
            let List { start, end } = node.ids;
            for id in self.lists.get(start as usize..end as usize).unwrap_or_default() {
                if let Some(known) = self.known.get_mut(id).filter(|it| it.node as usize == at) {
                    known.node = NONE;
                }
            }
            self.leaf = node.parent();
            if at == first {
                return;
            }
        }
    }

    /// Returns the last message that follows the wanted one, or is it.
    fn wanted_leaf(&self) -> Option<usize> {
        let wanted = self.wanted?;
        let mut follows = vec![false; self.nodes.len()];
        let mut last = None;
        for (at, node) in self.nodes.iter().enumerate() {
            // A parent is before its children.
            let is_after = node.parent().and_then(|parent| follows.get(parent)).copied();
            let is_it = self.list(node.ids).contains(&wanted) || is_after == Some(true);
            if let Some(follows) = follows.get_mut(at) {
                *follows = is_it;
            }
            last = if is_it { Some(at) } else { last };
        }
        last
    }

    /// Returns the indices of the messages of the session, in order.
    fn path(&self) -> Vec<usize> {
        if self.all_branches {
            return (0..self.nodes.len()).collect();
        }
        let mut path = Vec::new();
        let mut at = self.wanted_leaf().or(self.leaf);
        while let Some((node_idx, node)) = at.and_then(|at| Some((at, self.nodes.get(at)?))) {
            path.push(node_idx);
            at = node.parent();
        }
        path.reverse();
        path
    }

    /// Returns whether a message is a copy, or only repeats results that are with their calls.
    fn is_repeated(&self, node: &Node) -> bool {
        let results = self.list(node.results);
        node.is_copy
            || !results.is_empty() && results.iter().all(|call| self.answered.contains_key(call))
    }
}

/// Returns whether a message is the client's own, which it makes anew at each start.
fn is_start(message: &GeminiMessage<'_>) -> bool {
    let mut parts = message.parts();
    let first = parts.next().and_then(|part| part.text().or_else(|| member(part, "text")));
    message.is("user") && first.is_some_and(is_context) && parts.next().is_none()
}

impl Planner for GeminiBranch {
    fn observe(&mut self, offset: u64, event: &Event<'_>) {
        // A line has one effect, however many events it has.
        if event.nth > 0 {
            return;
        }
        let record = GeminiRecord::decode(event.value);
        match &record {
            GeminiRecord::Message(message) => self.add_message(offset, message),
            GeminiRecord::Rewind(id) => self.rewind(*id),
            GeminiRecord::Header(_) | GeminiRecord::Set(_) => {
                if let Some(messages) = record.messages() {
                    self.add_checkpoint(offset, messages);
                }
            }
            GeminiRecord::Other => {}
        }
    }

    fn finish(self: Box<Self>) -> Plan {
        let path = self.path();
        let is_cut = |at: &usize| self.nodes.get(*at).is_some_and(|node| node.is_cut);
        let cut = path.iter().rposition(is_cut).filter(|_| self.from_last_compaction);
        let mut reasons = vec![Some("branch"); self.nodes.len()];
        for (n, at) in path.iter().enumerate() {
            let is_compacted = cut.is_some_and(|cut| n < cut);
            let is_repeated = self.nodes.get(*at).is_some_and(|node| self.is_repeated(node));
            if let Some(reason) = reasons.get_mut(*at) {
                *reason = match (is_compacted, is_repeated) {
                    (true, _) => Some("compacted"),
                    (false, true) => Some("repeated"),
                    (false, false) => None,
                };
            }
        }
        let mut late = Vec::new();
        let mut last = 0;
        for at in path {
            let (Some(node), Some(None)) = (self.nodes.get(at), reasons.get(at)) else { continue };
            if node.offset < last {
                late.push(Late { offset: node.offset, after: last });
            }
            last = last.max(node.offset);
        }
        let lines = self.nodes.iter().zip(&reasons);
        let mut hidden: Vec<Hidden> = lines
            .filter_map(|(node, reason)| Some(Hidden { offset: node.offset, field: (*reason)? }))
            .chain(self.hidden.iter().copied())
            .collect();
        hidden.sort_by_key(|hidden| hidden.offset);
        hidden.dedup_by_key(|hidden| hidden.offset);
        Plan { hidden, late, ..Plan::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_takes_little_memory() {
        assert!(size_of::<Node>() <= 40, "{}", size_of::<Node>());
        // Of each message, one id is in the table, which doubles.
        assert!(size_of::<(u64, Known)>() <= 16, "{}", size_of::<(u64, Known)>());
    }
}
