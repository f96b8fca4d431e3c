//! Checks calls and their results.
//!
//! In: a call without a result. Out: a problem, because the client sends words of its own as the
//! result.

use std::collections::HashMap;

use core_model::{Block, Findings, Place, Severity, is_accepted_tool_id};
use jsonl::Value;

use crate::part::read_part;

/// The calls and results of a session.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
    /// Indices into `calls`, by their ids.
    by_id: HashMap<String, usize>,
    /// The results without a call before them.
    orphans: Vec<(u64, Place)>,
}

#[derive(Debug)]
struct Call {
    offset: u64,
    place: Place,
    has_result: bool,
}

impl Calls {
    /// Adds the calls and results of a message.
    pub(super) fn message(&mut self, parts: Value<'_>, offset: u64, out: &mut Findings<'_>) {
        for part in parts.items() {
            match read_part(part) {
                Block::ToolUse(tool) => {
                    let id = tool.id.decode().into_owned();
                    if !is_accepted_tool_id(&id) {
                        let message = "the `id` of a call has other characters than letters, digits, \
                            `_` and `-`: Anthropic's API refuses it";
                        out.warns("call-id", message);
                    }
                    if self.by_id.insert(id, self.calls.len()).is_some() {
                        out.warns("duplicate-call", "another call has this `id`");
                    }
                    self.calls.push(Call { offset, place: out.place, has_result: false });
                }
                Block::ToolResult(result) => {
                    let call = self.by_id.get(&*result.tool_use_id.decode()).copied();
                    match call.and_then(|call| self.calls.get_mut(call)) {
                        Some(call) => call.has_result = true,
                        None => self.orphans.push((offset, out.place)),
                    }
                }
                _ => {}
            }
        }
    }

    /// Reports results without calls and calls without results, of lines that are sent.
    pub(super) fn finish(&self, is_sent: &dyn Fn(u64) -> bool, out: &mut Findings<'_>) {
        let mut warn = |place, rule, message: &'static str| {
            out.add(place, Severity::Warns, rule, message.into());
        };
        for (_, place) in self.orphans.iter().filter(|(offset, _)| is_sent(*offset)) {
            warn(
                *place,
                "orphan-result",
                "a result without a call before it: the client does not send it; remove the line",
            );
        }
        for call in self.calls.iter().filter(|call| !call.has_result && is_sent(call.offset)) {
            warn(
                call.place,
                "open-call",
                "a call without a result: the client sends that the result was not recorded",
            );
        }
    }
}
