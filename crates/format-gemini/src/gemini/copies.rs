//! Finds messages that the client wrote once more, under other ids.
//!
//! When Gemini CLI 0.61.0 masks long results, it writes the whole history again, each message with a new
//! id, and then a checkpoint with these ids alone.
//!
//! In: messages before with the parts `text A`, `call 1`, `result 1`, `text B`; then messages with the parts
//! `text A` and `call 1`, `result 1`, `text C`. Out: the first two are copies.

use core_model::IdHasher;
use jsonl::{Text, Value};

use super::{
    reader::is_context,
    record::{GeminiMessage, has_result},
};
use crate::part::member;

/// The parts of earlier messages, in order.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// The hash and the place of each part, sorted before the first search.
    places: Vec<(u64, usize)>,
    is_sorted: bool,
    /// The place behind the last part that was found.
    next: usize,
}

impl Parts {
    pub(super) fn extend(&mut self, parts: &[u64]) {
        let start = self.places.len();
        self.places.extend(parts.iter().zip(start..).map(|(part, place)| (*part, place)));
        self.is_sorted = false;
    }

    /// Searches for parts in this order, behind the part that was found last. Returns whether all are
    /// there.
    pub(super) fn find(&mut self, parts: &[u64]) -> bool {
        if !std::mem::replace(&mut self.is_sorted, true) {
            self.places.sort_unstable();
        }
        let mut next = self.next;
        for part in parts {
            let at = self.places.partition_point(|place| *place < (*part, next));
            let found = self.places.get(at).filter(|(hash, _)| hash == part);
            let Some((_, place)) = found else { return false };
            next = place.saturating_add(1);
        }
        self.next = next;
        true
    }
}

/// The kinds of parts, which make the hashes of a call and of its result differ.
const CALL: u64 = 1;
const RESULT: u64 = 2;

/// Returns a hash for each text, call, result and picture of a message. Thoughts and the client's own
/// context are left out. The hash of a result is that of its id, because the client masks the content. A part
/// that repeats the one before it is left out: before a prompt that follows a call, the client writes the result of
/// the call twice.
pub(super) fn parts_of(message: &GeminiMessage<'_>, hasher: &IdHasher) -> Vec<u64> {
    let id = |kind: u64, value: Value<'_>| {
        let id = member(value, "id").map(|id| id.decode());
        hasher.hash(id.as_deref().unwrap_or(value.raw().as_str())) ^ kind
    };
    let said = |text: Text<'_>| {
        let is_said = !text.is_blank() && !is_context(text);
        is_said.then(|| hasher.hash(text.decode().trim()))
    };
    let mut parts = Vec::new();
    for part in message.parts() {
        let [call, result, picture, text, thought] =
            part.get_all(["functionCall", "functionResponse", "inlineData", "text", "thought"]);
        if thought.and_then(|it| it.bool()) == Some(true) {
            continue;
        }
        parts.extend(call.map(|call| id(CALL, call)));
        parts.extend(result.map(|result| id(RESULT, result)));
        parts.extend(picture.map(|picture| hasher.hash(picture.raw().as_str())));
        parts.extend(part.text().or(text.and_then(|text| text.text())).and_then(said));
    }
    let calls = || message.tool_calls.into_iter().flat_map(|calls| calls.items());
    if !message.has_call_parts() {
        parts.extend(calls().map(|call| id(CALL, call)));
    }
    parts.extend(calls().filter(|call| has_result(*call)).map(|call| id(RESULT, call)));
    parts.dedup();
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_in_order_and_once() {
        let mut parts = Parts::default();
        parts.extend(&[1, 2, 1, 3]);
        parts.extend(&[4]);
        assert!(parts.find(&[1, 1]));
        assert!(!parts.find(&[2]), "it is before");
        assert!(!parts.find(&[3, 5]));
        assert!(parts.find(&[3, 4]));
        assert!(!parts.find(&[4]), "it was found");
        parts.extend(&[4]);
        assert!(parts.find(&[4]) && !parts.find(&[4]) && parts.find(&[]));
    }
}
