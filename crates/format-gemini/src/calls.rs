//! Tracks calls without a result, and replaces ids that an API would refuse.
//!
//! In: the tool use `call:1`. Out: a new id of letters, digits, `_` and `-`, because the clients send
//! ids unchanged and Anthropic's API refuses the colon.

use std::sync::Arc;

use core_model::{
    CallId, Event, Facts, IdSet, OpenCalls, ToolNames, ToolUse, is_accepted_tool_id,
    replacement_tool_id,
};
use jsonl::Text;

/// A call without a result.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The id in the output, if it differs from the source's.
    pub(crate) written: Option<Box<str>>,
    /// The name of the tool, a JSON string.
    pub(crate) name: Arc<str>,
    /// The number of the call in its response.
    pub(crate) place: usize,
}

/// The calls of the session.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// The calls of the current response without a result, by their ids in the source.
    open: OpenCalls<Call>,
    names: ToolNames,
    written: IdSet,
    called: IdSet,
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

    /// Returns the name of a tool as a JSON string.
    pub(crate) fn tool_name(&mut self, name: &str) -> Arc<str> {
        self.names.json(name)
    }

    /// Starts a record at its first event.
    pub(crate) fn start_record(&mut self, event: &Event<'_>) {
        self.open.start_record(event);
    }

    /// Adds a call.
    pub(crate) fn add(&mut self, event: &Event<'_>, id: Text<'_>, call: Call, facts: &Facts) {
        self.called.insert(&id.decode());
        self.open.add(CallId::new(event, id, facts), call);
    }

    /// Adds a call that the API would refuse, so that a result of its record does not answer an earlier one.
    pub(crate) fn add_unsendable(&mut self, event: &Event<'_>, id: Text<'_>, facts: &Facts) {
        self.open.add_other(CallId::new(event, id, facts));
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
    pub(crate) fn resume(&mut self, event: &Event<'_>, tool: &ToolUse<'_>, facts: &Facts) {
        let id = tool.id.decode();
        self.written.insert(&id);
        let name = self.tool_name(&tool.name.decode());
        self.add(event, tool.id, Call { written: None, name, place: 0 }, facts);
    }

    /// Removes and returns the call that a result answers.
    pub(crate) fn answer(
        &mut self,
        event: &Event<'_>,
        id: Text<'_>,
        facts: &Facts,
    ) -> Option<Call> {
        self.open.answer(CallId::new(event, id, facts))
    }

    /// Returns whether the source has a later result for a call of the current response.
    pub(crate) fn is_any_expected(&mut self, facts: &Facts) -> bool {
        self.open.is_any_expected(facts)
    }

    /// Forgets the calls of a response that is emitted.
    pub(crate) fn close(&mut self) {
        self.open.clear();
    }
}
