//! Pairs calls with results, as clido does when it makes messages from lines.
//!
//! In: a response with the calls `a` and `b`, a result of `a`, a prompt. Out: the warning that `b`
//! has no result.

use std::collections::HashMap;

use core_model::{Findings, Place, Severity};
use jsonl::Value;

/// The calls of the last response and the results so far.
#[derive(Debug, Default)]
pub(super) struct History {
    /// Calls that may still be answered, with their lines.
    open: HashMap<String, Place>,
    /// Results on lines of their own since the last message.
    answers: HashMap<String, Place>,
}

impl History {
    pub(super) fn line(&mut self, kind: &str, value: Value<'_>, out: &mut Findings<'_>) {
        let content = || value.get("content").into_iter().flat_map(|content| content.items());
        match kind {
            "assistant_message" => {
                self.close(out);
                for block in content() {
                    if let Some(id) = id_of(block, "tool_use", "id") {
                        self.open.insert(id, out.place);
                    }
                }
            }
            "user_message" => {
                for block in content() {
                    if let Some(id) = id_of(block, "tool_result", "tool_use_id") {
                        self.answer(id, out);
                    }
                }
            }
            "tool_result" => {
                if let Some(id) = value.get("tool_use_id").and_then(|id| id.text()) {
                    self.answer(id.decode().into_owned(), out);
                }
            }
            _ => {}
        }
    }

    pub(super) fn finish(&mut self, out: &mut Findings<'_>) {
        self.close(out);
    }

    fn answer(&mut self, id: String, out: &mut Findings<'_>) {
        if self.answers.contains_key(&id) {
            return out.warns("result-twice", "a call is answered twice: the model sees both");
        }
        if self.open.remove(&id).is_none() {
            out.warns(
                "orphan-result",
                "answers no call of the response before it: a provider may refuse it",
            );
        }
        self.answers.insert(id, out.place);
    }

    /// Closes the last response. Its open calls stay unanswered.
    fn close(&mut self, out: &mut Findings<'_>) {
        self.answers.clear();
        let mut places: Vec<Place> = self.open.drain().map(|(_, place)| place).collect();
        places.sort_by_key(|place| place.offset);
        for place in places {
            let message = "a call has no result before the next response: clido makes one up";
            out.add(place, Severity::Warns, "open-call", message.into());
        }
    }
}

fn id_of(block: Value<'_>, kind: &str, member: &str) -> Option<String> {
    block.get("type")?.text().filter(|it| it.is(kind))?;
    Some(block.get(member)?.text()?.decode().into_owned())
}
