//! Tracks tool uses without a result, and replaces ids that the API would refuse.
//!
//! In: the tool use `call:1`. Out: a new id of letters, digits, `_` and `-`, because the API
//! refuses the colon.

use std::sync::Arc;

use core_model::{
    CallId, Event, Facts, IdSet, OpenCalls, is_accepted_tool_id, replacement_tool_id,
};
use jsonl::Text;

/// A tool use without a result.
#[derive(Debug)]
pub(super) struct Call {
    /// The id in the source.
    pub(super) id: Box<str>,
    /// The id in the output, if it differs.
    pub(super) written: Option<Box<str>>,
    /// The id of its entry, a JSON string.
    pub(super) entry: Arc<str>,
    /// The time of its entry in milliseconds since 1970.
    pub(super) at: i64,
}

/// The tool uses of the session.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: OpenCalls<Call>,
    /// The entry of the last call: a line may have many.
    entry: Arc<str>,
    written: IdSet,
    called: IdSet,
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

    /// Starts a record at its first event.
    pub(super) fn start_record(&mut self, event: &Event<'_>) {
        self.open.start_record(event);
    }

    /// Adds a tool use without a result.
    pub(super) fn add(&mut self, event: &Event<'_>, id: Text<'_>, call: Call, facts: &Facts) {
        self.called.insert(&call.id);
        self.open.add(CallId::new(event, id, facts), call);
    }

    /// Adds a tool use whose result was already written.
    pub(super) fn add_answered(&mut self, id: &str) {
        self.called.insert(id);
    }

    /// Adds a tool use of a resumed line.
    pub(super) fn resume(
        &mut self,
        event: &Event<'_>,
        id: Text<'_>,
        entry: &str,
        at: i64,
        facts: &Facts,
    ) {
        let written = id.decode();
        self.written.insert(&written);
        let entry = self.share_entry(entry);
        let call = Call { id: written.into(), written: None, entry, at };
        self.add(event, id, call, facts);
    }

    /// Returns the id of an entry, which the calls of the entry share.
    pub(super) fn share_entry(&mut self, entry: &str) -> Arc<str> {
        if *self.entry != *entry {
            self.entry = entry.into();
        }
        self.entry.clone()
    }

    /// Removes and returns the tool use that a result answers.
    pub(super) fn answer(
        &mut self,
        event: &Event<'_>,
        id: Text<'_>,
        facts: &Facts,
    ) -> Option<Call> {
        self.open.answer(CallId::new(event, id, facts))
    }

    /// Returns whether a tool use with an id was added, answered or not.
    pub(super) fn is_called(&self, id: &str) -> bool {
        self.called.contains(id)
    }

    /// Returns whether the source has a later result for an open tool use.
    pub(super) fn is_any_expected(&mut self, facts: &Facts) -> bool {
        self.open.is_any_expected(facts)
    }

    /// Removes and returns open tool uses: all of them, or those without a later result in the
    /// source.
    pub(super) fn give_up(&mut self, all: bool, facts: &Facts) -> Vec<Call> {
        match all {
            true => self.open.take_all(),
            false => self.open.take_unexpected(facts),
        }
    }
}
