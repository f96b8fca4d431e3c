//! Checks calls and their results.
//!
//! In: a call without a result. Out: a problem, because the client sends the call alone, and the API
//! refuses that.

use std::collections::HashMap;

use core_model::{Findings, Place, Severity};

use crate::{
    gemini::record::{GeminiMessage, has_result},
    part::member,
};

/// The calls of a session, by their ids.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: HashMap<String, Call>,
}

#[derive(Debug)]
struct Call {
    place: Place,
    has_result: bool,
}

impl Calls {
    /// Adds the calls of a response. A later line with a known call completes it.
    pub(super) fn response(&mut self, message: &GeminiMessage<'_>, out: &mut Findings<'_>) {
        let place = out.place;
        for call in message.tool_calls.into_iter().flat_map(|calls| calls.items()) {
            if let Some(id) = member(call, "id") {
                self.add(&id.decode(), place, has_result(call));
            }
        }
        for call in message.parts().filter_map(|part| part.get("functionCall")) {
            if let Some(id) = member(call, "id") {
                self.add(&id.decode(), place, false);
            }
        }
    }

    fn add(&mut self, id: &str, place: Place, has_result: bool) {
        let call = self.calls.entry(id.to_owned()).or_insert(Call { place, has_result });
        call.has_result |= has_result;
    }

    /// Adds the results in a message of the user.
    pub(super) fn results(&mut self, message: &GeminiMessage<'_>, out: &mut Findings<'_>) {
        for response in message.parts().filter_map(|part| part.get("functionResponse")) {
            let id = member(response, "id");
            match id.and_then(|id| self.calls.get_mut(&*id.decode())) {
                Some(call) => call.has_result = true,
                None => out.warns(
                    "orphan-result",
                    "a result without a call before it: the API may refuse it; remove the part",
                ),
            }
        }
    }

    /// Reports calls without results.
    pub(super) fn finish(&self, out: &mut Findings<'_>) {
        let open = self.calls.values().filter(|call| !call.has_result);
        let mut places: Vec<Place> = open.map(|call| call.place).collect();
        places.sort_by_key(|place| place.offset);
        for place in places {
            let message = "a call without a result: the client sends the call alone, which the API may \
                refuse; add a `result`";
            out.add(place, Severity::Warns, "open-call", message.into());
        }
    }
}
