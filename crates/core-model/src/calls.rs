//! Tracks the tool calls in the output of a writer: their ids, and the calls without a result.
//!
//! In: the calls `call:1` and `t2`, and a result of `call:1`. Out: a new id for the first call, because the API
//! refuses the colon, and the same id for its result; `t2` is open.

use std::collections::BTreeMap;

use jsonl::Text;

use crate::{
    CallId, Event, Facts, Hashes, IdSet, OpenCalls, is_accepted_tool_id, replacement_tool_id,
};

/// The tool calls of an output. `C` is the writer's own record of a call, such as its id in the output.
///
/// ```
/// use core_model::{Calls, Event, Facts};
///
/// let mut scanner = jsonl::Scanner::default();
/// let record = scanner.scan_slice(br#"{"id":"call:1"}"#, 0)?;
/// let id = record.get("id").and_then(|id| id.text()).ok_or("no id")?;
/// let (event, facts) = (Event::other("toy", record), Facts::default());
///
/// let mut calls = Calls::default();
/// let uuid = || "9b0fc70b-6bde-5cba-8623-0929b490f72b".to_owned();
/// let written = calls.replacement("call:1", 64, uuid);
/// assert_eq!(written.as_deref(), Some("toolu_9b0fc70b6bde5cba86230929"));
/// calls.add(&event, id, written, &facts);
/// assert!(calls.is_called("call:1"));
/// assert!(calls.answer(&event, id, &facts).is_some());
/// assert!(calls.answer(&event, id, &facts).is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Calls<C> {
    /// The calls without a result, by their ids in the source.
    open: OpenCalls<C>,
    /// The ids in the output.
    written: IdSet,
    /// The ids in the source.
    called: IdSet,
    /// The hashes of the ids of calls with a result.
    answered: Hashes,
}

impl<C> Default for Calls<C> {
    fn default() -> Self {
        let (written, called) = (IdSet::default(), IdSet::default());
        Self { open: OpenCalls::default(), written, called, answered: Hashes::default() }
    }
}

impl<C> Calls<C> {
    /// Returns a new id for a call, made from `uuid`, if the API would refuse its id, the id has more than `max_len`
    /// bytes, or another call of the output has it; else `None`.
    pub fn replacement(
        &mut self,
        id: &str,
        max_len: usize,
        uuid: impl FnOnce() -> String,
    ) -> Option<String> {
        if is_accepted_tool_id(id) && id.len() <= max_len && self.written.insert(id) {
            return None;
        }
        let replacement = replacement_tool_id(&uuid());
        self.written.insert(&replacement);
        Some(replacement)
    }

    /// Starts a record at its first event.
    pub fn start_record(&mut self, event: &Event<'_>) {
        self.open.start_record(event);
    }

    /// Adds a call, which waits for its result.
    pub fn add(&mut self, event: &Event<'_>, id: Text<'_>, call: C, facts: &Facts) {
        self.called.insert(&id.decode());
        self.open.add(CallId::new(event, id, facts.hasher()), call);
    }

    /// Adds a call of a resumed record, whose id is in the output already.
    pub fn resume(&mut self, event: &Event<'_>, id: Text<'_>, call: C, facts: &Facts) {
        self.written.insert(&id.decode());
        self.add(event, id, call, facts);
    }

    /// Adds a call that waits for no result: it has one, or the provider answers it.
    pub fn add_closed(&mut self, id: &str) {
        self.called.insert(id);
    }

    /// Notes a call that is not in the output, so that a result of its record does not answer an earlier one.
    pub fn add_other(&mut self, event: &Event<'_>, id: Text<'_>, facts: &Facts) {
        self.open.add_other(CallId::new(event, id, facts.hasher()));
    }

    /// Removes and returns the call that a result answers.
    pub fn answer(&mut self, event: &Event<'_>, id: Text<'_>, facts: &Facts) -> Option<C> {
        let id = CallId::new(event, id, facts.hasher());
        self.answered.insert(id.hash);
        self.open.answer(id)
    }

    /// Returns whether a call with an id was added.
    pub fn is_called(&self, id: &str) -> bool {
        self.called.contains(id)
    }

    /// Returns whether a call with an id was added that the API accepts. It would refuse a second one.
    pub fn is_repeated(&self, id: Text<'_>) -> bool {
        let id = id.decode();
        self.is_called(&id) && is_accepted_tool_id(&id)
    }

    /// Returns whether the source has the call with an id, and it was not added yet.
    pub fn comes_later(&self, id: &str, facts: &Facts) -> bool {
        !self.is_called(id) && facts.is_called(id)
    }

    /// Returns whether the source has a later result for an open call. Facts that get a result later are refuted, and
    /// the conversion begins anew ([`Facts::is_refuted`]).
    pub fn is_any_expected(&mut self, facts: &Facts) -> bool {
        self.open.is_any_expected(|id| is_expected(&self.answered, id, facts))
    }

    /// Removes the open calls without a later result in the source, and returns them in order.
    pub fn take_unexpected(&mut self, facts: &Facts) -> Vec<C> {
        self.open.take_unexpected(|id| is_expected(&self.answered, id, facts))
    }

    /// Removes all open calls and returns them in order.
    pub fn take_all(&mut self) -> Vec<C> {
        self.open.take_all()
    }

    /// Removes all open calls. Later results do not answer them.
    pub fn close(&mut self) {
        self.open.clear();
    }
}

/// Returns whether the source has a result for a call, and it did not come yet. One result answers one call.
fn is_expected(answered: &Hashes, id: u64, facts: &Facts) -> bool {
    !answered.contains(&id) && facts.is_hash_answered(id)
}

/// Results that come before their calls, by the ids of the calls. `R` is a result, such as its unfinished line.
///
/// ```
/// let mut early = core_model::EarlyResults::default();
/// assert!(early.has_room("t1"));
/// early.hold("t1", 5);
/// assert!(!early.has_room("t1"));
/// assert_eq!((early.release("t1"), early.release("t1")), (Some(5), None));
/// ```
#[derive(Debug)]
pub struct EarlyResults<R>(BTreeMap<String, R>);

impl<R> Default for EarlyResults<R> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<R> EarlyResults<R> {
    /// Limit on the results that wait: they are in memory.
    const MAX: usize = 64;

    /// Returns whether a result of a call can wait: one of each call, and 64 at a time.
    pub fn has_room(&self, id: &str) -> bool {
        self.0.len() < Self::MAX && !self.0.contains_key(id)
    }

    /// Adds a result.
    pub fn hold(&mut self, id: &str, result: R) {
        self.0.insert(id.to_owned(), result);
    }

    /// Removes and returns the result of a call.
    pub fn release(&mut self, id: &str) -> Option<R> {
        self.0.remove(id)
    }

    /// Removes and returns all results, in the order of the ids.
    pub fn take_all(&mut self) -> impl Iterator<Item = R> + use<R> {
        std::mem::take(&mut self.0).into_values()
    }
}

#[cfg(test)]
mod tests {
    use jsonl::Value;

    use super::*;
    use crate::{Block, Body, Content, Field, Message, Role, ToolResult};

    /// Reads the id of a call as a result of it.
    fn result_of(value: Value<'_>) -> Block<'_> {
        let tool_use_id = value.text().expect("an id");
        Block::ToolResult(ToolResult::new(tool_use_id, Content::Absent, Field::Absent))
    }

    #[test]
    fn calls_without_a_later_result_are_taken() {
        let mut scanner = jsonl::Scanner::default();
        let ids = scanner.scan_slice(br#"["a","b"]"#, 0).expect("an array");
        let event = Event::other("toy", ids);
        let [a, b] = [0, 1].map(|n| ids.items().nth(n).and_then(|id| id.text()).expect("an id"));
        let (mut facts, mut calls) = (Facts::default(), Calls::default());
        for (n, id) in [b, a, b].into_iter().enumerate() {
            calls.add(&event, id, n, &facts);
        }
        assert!(!calls.is_any_expected(&facts));

        let mut scanner = jsonl::Scanner::default();
        let results = scanner.scan_slice(br#"["a"]"#, 0).expect("an array");
        let message = Message::new(Role::User, Content::new(Some(results), result_of));
        facts.observe(&Event { body: Body::Message(message), ..Event::other("toy", results) });
        calls.add(&event, a, 3, &facts);
        assert!(calls.is_any_expected(&facts));
        assert_eq!(calls.take_unexpected(&facts), [0, 2]);
        assert_eq!(calls.answer(&event, a, &facts), Some(1));
        assert!(!calls.is_any_expected(&facts), "one result answers one call");
        assert_eq!(calls.take_unexpected(&facts), [3]);
    }
}
