//! Tracks tool uses without a result, and replaces ids that the API would refuse.
//!
//! In: the tool use `call:1`. Out: a new id of letters, digits, `_` and `-`, because the API
//! refuses the colon.

use std::collections::{BTreeMap, HashMap, VecDeque};

use core_model::{Facts, IdSet, is_accepted_tool_id, replacement_tool_id};

/// A tool use without a result.
#[derive(Debug, Default)]
pub(super) struct Call {
    /// The id in the source.
    pub(super) id: String,
    /// The id in the output, if it differs.
    pub(super) written: Option<String>,
    /// The id of its entry, a JSON string.
    pub(super) entry: String,
    /// The time of its entry in milliseconds since 1970.
    pub(super) at: i64,
}

/// The tool uses of the session.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: BTreeMap<u64, Call>,
    by_id: HashMap<String, VecDeque<u64>>,
    written: IdSet,
    called: IdSet,
    answered: IdSet,
    n_calls: u64,
}

impl Calls {
    /// Returns a new id for a tool use, if the API would refuse its id or another tool use has it;
    /// else `None`.
    pub(super) fn name(&mut self, id: &str, uuid: impl FnOnce() -> String) -> Option<String> {
        let is_valid = is_accepted_tool_id(id) && self.written.insert(id);
        if is_valid {
            return None;
        }
        let name = replacement_tool_id(&uuid());
        self.written.insert(&name);
        Some(name)
    }

    /// Adds a tool use without a result.
    pub(super) fn add(&mut self, call: Call) {
        self.n_calls = self.n_calls.saturating_add(1);
        self.called.insert(&call.id);
        // Nearly all ids have one call.
        let waiting = self.by_id.entry(call.id.clone());
        waiting.or_insert_with(|| VecDeque::with_capacity(1)).push_back(self.n_calls);
        self.open.insert(self.n_calls, call);
    }

    /// Adds a tool use whose result was already written.
    pub(super) fn add_answered(&mut self, id: &str) {
        self.called.insert(id);
    }

    /// Adds a tool use of a resumed line.
    pub(super) fn resume(&mut self, id: String, entry: &str, at: i64) {
        self.written.insert(&id);
        self.add(Call { id, written: None, entry: entry.to_owned(), at });
    }

    /// Removes and returns the tool use that a result answers.
    pub(super) fn answer(&mut self, id: &str) -> Option<Call> {
        self.answered.insert(id);
        let waiting = self.by_id.get_mut(id)?;
        let call = waiting.pop_front();
        if waiting.is_empty() {
            self.by_id.remove(id);
        }
        self.open.remove(&call?)
    }

    /// Returns whether a tool use with an id was added, answered or not.
    pub(super) fn is_called(&self, id: &str) -> bool {
        self.called.contains(id)
    }

    /// Returns whether the source has a later result for an open tool use.
    pub(super) fn is_any_expected(&self, facts: &Facts) -> bool {
        self.open.values().any(|call| self.is_expected(call, facts))
    }

    fn is_expected(&self, call: &Call, facts: &Facts) -> bool {
        !self.answered.contains(&call.id) && facts.is_answered(&call.id)
    }

    /// Removes and returns open tool uses: all of them, or those without a later result in the
    /// source.
    pub(super) fn give_up(&mut self, all: bool, facts: &Facts) -> Vec<Call> {
        let mut given_up = Vec::new();
        for (n, call) in std::mem::take(&mut self.open) {
            if !all && self.is_expected(&call, facts) {
                self.open.insert(n, call);
                continue;
            }
            if let Some(waiting) = self.by_id.get_mut(&call.id) {
                waiting.retain(|other| *other != n);
                if waiting.is_empty() {
                    self.by_id.remove(&call.id);
                }
            }
            given_up.push(call);
        }
        given_up
    }
}
