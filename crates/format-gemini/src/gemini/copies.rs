//! Finds messages that the client wrote once more, under other ids.
//!
//! When Gemini CLI 0.61.0 masks long results, it writes the whole history again, each message with a new
//! id, and then a checkpoint with these ids alone.
//!
//! In: messages before with the parts `text A`, `call 1`, `result 1`, `text B`; then messages with the parts
//! `text A` and `call 1`, `result 1`, `text C`. Out: the first two are copies.

use core_model::{ByHash, IdHasher};
use jsonl::{Text, Value};

use super::{
    reader::is_context,
    record::{GeminiMessage, has_result},
};
use crate::part::member;

/// The parts of earlier messages, in order.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// The places of each part, by its hash, in ascending order.
    places: ByHash<Vec<usize>>,
    n_parts: usize,
    /// The place behind the last part that was found.
    next: usize,
}

impl Parts {
    pub(super) fn extend(&mut self, parts: &[u64]) {
        for part in parts {
            self.places.entry(*part).or_default().push(self.n_parts);
            self.n_parts = self.n_parts.saturating_add(1);
        }
    }

    /// Returns whether parts come in their order, behind those that were found before.
    pub(super) fn find(&mut self, parts: &[u64]) -> bool {
        let mut next = self.next;
        for part in parts {
            let places = self.places.get(part).map(Vec::as_slice).unwrap_or_default();
            let at = places.partition_point(|place| *place < next);
            let Some(place) = places.get(at) else { return false };
            next = place.saturating_add(1);
        }
        self.next = next;
        true
    }
}

/// Returns the hashes of what a message says: its texts, its calls, and their results. Thoughts and the
/// client's own context are left out, and so are the words of results, which the client masks.
pub(super) fn parts_of(message: &GeminiMessage<'_>, hasher: &IdHasher) -> Vec<u64> {
    let hash = |kind: &str, text: &str| hasher.hash(format!("{kind} {text}"));
    let id = |kind: &str, value: Value<'_>| {
        let id = member(value, "id").map(|id| id.decode());
        hash(kind, id.as_deref().unwrap_or(value.raw().as_str()))
    };
    let said = |text: Text<'_>| {
        let is_said = !text.is_blank() && !is_context(text);
        is_said.then(|| hash("text", text.decode().trim()))
    };
    let mut parts = Vec::new();
    for part in message.parts() {
        let [call, result, picture, text, thought] =
            part.get_all(["functionCall", "functionResponse", "inlineData", "text", "thought"]);
        if thought.and_then(|it| it.bool()) == Some(true) {
            continue;
        }
        parts.extend(call.map(|call| id("call", call)));
        parts.extend(result.map(|result| id("result", result)));
        parts.extend(picture.map(|picture| hash("picture", picture.raw().as_str())));
        parts.extend(part.text().or(text.and_then(|text| text.text())).and_then(said));
    }
    let calls = || message.tool_calls.into_iter().flat_map(|calls| calls.items());
    if !message.has_call_parts() {
        parts.extend(calls().map(|call| id("call", call)));
    }
    parts.extend(calls().filter(|call| has_result(*call)).map(|call| id("result", call)));
    parts
}

#[test]
fn messages_whose_parts_come_in_order_are_copies() {
    let mut parts = Parts::default();
    parts.extend(&[1, 2, 1, 3]);
    parts.extend(&[4]);
    assert!(parts.find(&[1, 1]));
    assert!(!parts.find(&[2]), "it is before");
    assert!(!parts.find(&[3, 5]));
    assert!(parts.find(&[3, 4]));
    assert!(!parts.find(&[4]), "it was found");
    assert!(parts.find(&[]));
}
