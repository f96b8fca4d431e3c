//! Tracks calls without a result, and replaces ids that an API would refuse.
//!
//! In: the tool use `call:1`. Out: a new id of letters, digits, `_` and `-`, because the clients send
//! ids unchanged and Anthropic's API refuses the colon.

use std::collections::{HashMap, VecDeque};

use core_model::{Facts, IdSet, ToolUse, is_accepted_tool_id, replacement_tool_id};
use jsonl::json_string;

/// A call without a result.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The id in the output, if it differs from the source's.
    pub(crate) written: Option<String>,
    /// The name of the tool, a JSON string.
    pub(crate) name: String,
    /// The number of the call in its response.
    pub(crate) place: usize,
}

/// The calls of the session.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// The calls of the current response without a result, by their ids in the source.
    open: HashMap<String, VecDeque<Call>>,
    written: IdSet,
    called: IdSet,
    answered: IdSet,
}

impl Calls {
    /// Returns a new id for a call, if the API would refuse its id or another call has it.
    pub(crate) fn name(&mut self, id: &str, uuid: impl FnOnce() -> String) -> Option<String> {
        if is_accepted_tool_id(id) && id.len() <= 64 && self.written.insert(id) {
            return None;
        }
        let name = replacement_tool_id(&uuid());
        self.written.insert(&name);
        Some(name)
    }

    /// Adds a call.
    pub(crate) fn add(&mut self, id: &str, call: Call) {
        self.called.insert(id);
        // Nearly all ids have one call.
        let waiting = self.open.entry(id.to_owned());
        waiting.or_insert_with(|| VecDeque::with_capacity(1)).push_back(call);
    }

    /// Returns whether a call with an id was added.
    pub(crate) fn is_called(&self, id: &str) -> bool {
        self.called.contains(id)
    }

    /// Notes a call that no result can answer.
    pub(crate) fn note_other(&mut self, id: &str) {
        self.called.insert(id);
    }

    /// Adds a call of a resumed line.
    pub(crate) fn resume(&mut self, tool: &ToolUse<'_>) {
        let id = tool.id.decode();
        self.written.insert(&id);
        let name = json_string(&tool.name.decode());
        self.add(&id, Call { written: None, name, place: 0 });
    }

    /// Removes and returns the call that a result answers.
    pub(crate) fn answer(&mut self, id: &str) -> Option<Call> {
        self.answered.insert(id);
        let waiting = self.open.get_mut(id)?;
        let call = waiting.pop_front();
        if waiting.is_empty() {
            self.open.remove(id);
        }
        call
    }

    /// Returns whether the source has a later result for a call of the current response.
    pub(crate) fn is_any_expected(&self, facts: &Facts) -> bool {
        self.open.keys().any(|id| facts.is_answered(id) && !self.answered.contains(id))
    }

    /// Forgets the calls of a response that is emitted.
    pub(crate) fn close(&mut self) {
        self.open.clear();
    }
}
