//! Checks calls, their results, and the tokens of the last response.
//!
//! In: a result whose call was aborted. Out: a problem, because pi sends the result without its
//! call and the API refuses it.

use std::collections::HashMap;

use core_model::{Findings, Place, Severity, is_accepted_tool_id};

use crate::PiMessage;

/// The calls and results of a session.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
    /// Indices into `calls`, by their ids.
    by_id: HashMap<String, usize>,
    results: Vec<Outcome>,
    /// The last response, if it lacks its tokens.
    no_usage: Option<(Place, &'static str)>,
}

#[derive(Debug)]
struct Call {
    place: Place,
    node_idx: usize,
    is_failed: bool,
    is_valid: bool,
    n_results: usize,
}

#[derive(Debug)]
struct Outcome {
    place: Place,
    node_idx: usize,
    call: Option<usize>,
}

impl Calls {
    /// Adds a response.
    pub(super) fn response(
        &mut self,
        message: &PiMessage<'_>,
        node_idx: usize,
        out: &mut Findings<'_>,
    ) {
        let is_failed = message.stop_reason.is_some_and(|it| it.is("error") || it.is("aborted"));
        for block in message.content.into_iter().flat_map(|content| content.items()) {
            if !block.get("type").and_then(|kind| kind.text()).is_some_and(|it| it.is("toolCall")) {
                continue;
            }
            let Some(id) = block.get("id").and_then(|id| id.text()) else { continue };
            let id = id.decode().into_owned();
            let is_valid = is_accepted_tool_id(&id);
            let call = Call { place: out.place, node_idx, is_failed, is_valid, n_results: 0 };
            if self.by_id.insert(id, self.calls.len()).is_some() {
                out.warns("duplicate-call", "another call has this `id`: the API refuses both");
            }
            self.calls.push(call);
        }
    }

    /// Adds a result.
    pub(super) fn result(
        &mut self,
        message: &PiMessage<'_>,
        node_idx: usize,
        out: &mut Findings<'_>,
    ) {
        let Some(id) = message.tool_call_id else {
            return out.warns("result-call", "a result without `toolCallId`: the API refuses it");
        };
        let call = self.by_id.get(&*id.decode()).copied();
        if let Some(call) = call.and_then(|call| self.calls.get_mut(call)) {
            call.n_results = call.n_results.saturating_add(1);
        }
        self.results.push(Outcome { place: out.place, node_idx, call });
    }

    /// Notes that the last response lacks its tokens.
    pub(super) fn no_usage(&mut self, message: &'static str, out: &Findings<'_>) {
        self.no_usage = Some((out.place, message));
    }

    /// Notes that the last response has its tokens.
    pub(super) fn has_usage(&mut self) {
        self.no_usage = None;
    }

    /// Reports results without calls and calls without results. `sent` says for each entry whether
    /// pi sends it.
    pub(super) fn finish(&self, sent: &[bool], out: &mut Findings<'_>) {
        let is_sent = |node_idx: usize| sent.get(node_idx) == Some(&true);
        let mut warn = |place, rule, message: &'static str| {
            out.add(place, Severity::Warns, rule, message.into());
        };
        for result in self.results.iter().filter(|result| is_sent(result.node_idx)) {
            let call = result.call.and_then(|call| self.calls.get(call));
            match call.filter(|call| is_sent(call.node_idx)) {
                None => warn(
                    result.place,
                    "orphan-result",
                    "a result without a call before it: pi sends it, and the API refuses the \
                     request; remove the line",
                ),
                Some(call) if call.is_failed => warn(
                    result.place,
                    "failed-call",
                    "a result of a response that stopped with `error` or `aborted`: pi sends the \
                     result alone, and the API refuses the request; set its `stopReason` to \
                     `toolUse`, or remove the result",
                ),
                Some(_) => {}
            }
        }
        for call in self.calls.iter().filter(|call| is_sent(call.node_idx) && !call.is_failed) {
            if call.n_results == 0 {
                warn(
                    call.place,
                    "open-call",
                    "a call without a result: pi sends the error `No result provided`",
                );
            } else if call.n_results > 1 {
                warn(call.place, "result-twice", "a call has two results: pi sends both");
            }
            if !call.is_valid {
                warn(
                    call.place,
                    "call-id",
                    "the `id` of a call has other characters than letters, digits, `_` and `-`: \
                     with the same model pi sends it, and the API refuses it",
                );
            }
        }
        if let Some((place, message)) = self.no_usage {
            out.add(place, Severity::Stops, "usage", message.into());
        }
    }
}
