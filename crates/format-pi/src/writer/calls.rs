//! Tracks calls without a result, and replaces ids that the API would refuse.
//!
//! In: the tool use `call:1`. Out: a new id of letters, digits, `_` and `-`, because pi sends ids
//! unchanged and the API refuses the colon.

use std::{collections::BTreeMap, sync::Arc};

use core_model::{
    CallId, Event, Facts, IdSet, OpenCalls, Place, ToolNames, ToolUse, is_accepted_tool_id,
    replacement_tool_id,
};
use jsonl::Text;

use super::thread::Line;

/// Limit for results that wait for their calls. Any further one becomes a notice.
const MAX_EARLY: usize = 64;

/// A call without a result.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// The id in the output, if it differs from the source's.
    pub(super) written: Option<Box<str>>,
    /// The name of the tool, a JSON string.
    pub(super) name: Arc<str>,
    /// The number of the call in its response.
    pub(super) place: usize,
}

/// The calls of the session.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// The calls of the current response without a result, by their ids in the source.
    open: OpenCalls<Call>,
    names: ToolNames,
    written: IdSet,
    called: IdSet,
    /// Results whose calls come later, by the ids of the calls.
    early: BTreeMap<String, (Line, Place)>,
}

impl Calls {
    /// Returns a new id for a call, if the API would refuse its id or another call has it.
    pub(super) fn name(&mut self, id: &str, uuid: impl FnOnce() -> String) -> Option<String> {
        if is_accepted_tool_id(id) && id.len() <= 64 && self.written.insert(id) {
            return None;
        }
        let name = replacement_tool_id(&uuid());
        self.written.insert(&name);
        Some(name)
    }

    /// Returns the name of a tool as a JSON string.
    pub(super) fn tool_name(&mut self, name: &str) -> Arc<str> {
        self.names.json(name)
    }

    /// Starts a record at its first event.
    pub(super) fn start_record(&mut self, event: &Event<'_>) {
        self.open.start_record(event);
    }

    /// Adds a call.
    pub(super) fn add(&mut self, event: &Event<'_>, id: Text<'_>, call: Call, facts: &Facts) {
        self.called.insert(&id.decode());
        self.open.add(CallId::new(event, id, facts), call);
    }

    /// Adds a call that the API would refuse, so that a result of its record does not answer an earlier one.
    pub(super) fn add_unsendable(&mut self, event: &Event<'_>, id: Text<'_>, facts: &Facts) {
        self.open.add_other(CallId::new(event, id, facts));
    }

    /// Returns whether a call with an id was added.
    pub(super) fn is_called(&self, id: &str) -> bool {
        self.called.contains(id)
    }

    /// Notes a call that no result can answer.
    pub(super) fn note_other(&mut self, id: &str) {
        self.called.insert(id);
    }

    /// Adds a call of a resumed line.
    pub(super) fn resume(&mut self, event: &Event<'_>, tool: &ToolUse<'_>, facts: &Facts) {
        let id = tool.id.decode();
        self.written.insert(&id);
        let name = self.tool_name(&tool.name.decode());
        self.add(event, tool.id, Call { written: None, name, place: 0 }, facts);
    }

    /// Removes and returns the call that a result answers.
    pub(super) fn answer(
        &mut self,
        event: &Event<'_>,
        id: Text<'_>,
        facts: &Facts,
    ) -> Option<Call> {
        self.open.answer(CallId::new(event, id, facts))
    }

    /// Returns whether a later line may have a call with an id, and a result of it can wait.
    pub(super) fn comes_later(&self, id: &str, facts: &Facts) -> bool {
        !self.called.contains(id)
            && facts.is_called(id)
            && self.early.len() < MAX_EARLY
            && !self.early.contains_key(id)
    }

    /// Adds a result whose call comes later.
    pub(super) fn hold(&mut self, id: &str, line: Line, place: Place) {
        self.early.insert(id.to_owned(), (line, place));
    }

    /// Removes and returns the result that came before its call.
    pub(super) fn release(&mut self, id: &str) -> Option<Line> {
        self.early.remove(id).map(|(line, _)| line)
    }

    /// Removes and returns the results whose calls did not come, with their places.
    pub(super) fn take_early(&mut self) -> impl Iterator<Item = (Line, Place)> + use<> {
        std::mem::take(&mut self.early).into_values()
    }

    /// Returns whether the source has a later result for a call of the current response.
    pub(super) fn is_any_expected(&mut self, facts: &Facts) -> bool {
        self.open.is_any_expected(facts)
    }

    /// Forgets the calls of a response that is emitted.
    pub(super) fn close(&mut self) {
        self.open.clear();
    }
}
