//! Checks calls and their results.
//!
//! In: a result whose call is missing. Out: a problem, because Copilot does not send the result.

use std::collections::HashMap;

use core_model::{Findings, Place, Severity, is_accepted_tool_id};
use jsonl::{MAX_SERDE_DEPTH, Value, is_loadable};

use crate::record::text;

/// The calls of a session.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
    /// Indices into `calls`, by their ids.
    by_id: HashMap<String, usize>,
    results: Vec<(Place, String)>,
}

#[derive(Debug)]
struct Call {
    place: Place,
    n_results: usize,
}

impl Calls {
    /// Adds a call of a response.
    pub(super) fn call(&mut self, call: Value<'_>, out: &mut Findings<'_>) {
        let Some(id) = text(call, "toolCallId").map(|id| id.decode().into_owned()) else { return };
        let name = text(call, "name").map(|name| name.decode());
        if !is_accepted_tool_id(&id) || name.is_some_and(|name| !is_accepted_tool_id(&name)) {
            out.warns(
                "call-id",
                "the id or the name of a call has other characters than letters, digits, `_` and \
                 `-`: Copilot sends it, and the API refuses it",
            );
        }
        if call.get("arguments").is_some_and(|arguments| arguments.is_array()) {
            out.warns("arguments", "arguments that are no object: Copilot sends an empty object");
        }
        let is_odd = |arguments: Value<'_>| {
            let oddities = arguments.oddities();
            (oddities.wide_number || oddities.depth as usize > MAX_SERDE_DEPTH)
                && !is_loadable(arguments.raw().as_str(), MAX_SERDE_DEPTH)
        };
        if call.get("arguments").is_some_and(is_odd) {
            out.warns(
                "arguments",
                "arguments with a number beyond a double, for which Copilot drops the line, or with more \
                 than 127 levels, for which it sends an empty object",
            );
        }
        if self.by_id.insert(id, self.calls.len()).is_some() {
            out.warns("duplicate-call", "another call has this id: the API refuses both");
        }
        self.calls.push(Call { place: out.place, n_results: 0 });
    }

    /// Adds a result.
    pub(super) fn result(&mut self, data: Value<'_>, out: &mut Findings<'_>) {
        if let Some(id) = text(data, "toolCallId") {
            self.results.push((out.place, id.decode().into_owned()));
        }
    }

    /// Reports results without calls and calls without results.
    pub(super) fn finish(&mut self, out: &mut Findings<'_>) {
        let mut warn = |place, rule, message: &'static str| {
            out.add(place, Severity::Warns, rule, message.into());
        };
        for (place, id) in &self.results {
            let call = self.by_id.get(id).and_then(|call_idx| self.calls.get_mut(*call_idx));
            match call {
                Some(call) => {
                    call.n_results = call.n_results.saturating_add(1);
                    if call.n_results > 1 {
                        warn(
                            *place,
                            "result-twice",
                            "the second result of a call: Copilot sends the first one",
                        );
                    }
                }
                None => warn(
                    *place,
                    "orphan-result",
                    "a result without a call: Copilot does not send it; remove the line",
                ),
            }
        }
        for call in self.calls.iter().filter(|call| call.n_results == 0) {
            warn(
                call.place,
                "open-call",
                "a call without a result: Copilot sends that the tool was interrupted",
            );
        }
    }
}
