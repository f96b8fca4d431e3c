//! Checks calls and their outputs.
//!
//! In: an output whose call is missing. Out: a problem, because Codex does not send the output.

use std::collections::HashMap;

use core_model::{Findings, Place, Severity};

use crate::record::{Item, ItemKind};

/// The calls and outputs of a session.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
    /// Indices into `calls`, by their ids.
    by_id: HashMap<String, usize>,
    outputs: Vec<(Place, String, bool)>,
}

#[derive(Debug)]
struct Call {
    place: Place,
    is_custom: bool,
    n_outputs: usize,
    /// Whether an output of the other kind has its id.
    has_other: bool,
}

impl Calls {
    /// Adds an item, if it is a call or an output.
    pub(super) fn add(&mut self, item: &Item<'_>, out: &mut Findings<'_>) {
        let id = item.call_id().or_else(|| item.text("id"));
        let Some(id) = id.map(|id| id.decode().into_owned()) else { return };
        let is_custom = match item.kind {
            ItemKind::FunctionCall | ItemKind::LocalShellCall => false,
            ItemKind::CustomToolCall => true,
            ItemKind::FunctionCallOutput => return self.outputs.push((out.place, id, false)),
            ItemKind::CustomToolCallOutput => return self.outputs.push((out.place, id, true)),
            _ => return,
        };
        if id.chars().count() > 64 {
            out.warns("call-id", "the `call_id` has more than 64 characters: the API refuses it");
        }
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let name = item.text("name").map(|name| name.decode());
        if name.is_some_and(|name| name.is_empty() || !name.bytes().all(is_word)) {
            out.warns(
                "call-name",
                "the name of a tool has other characters than letters, digits, `_` and `-`: the \
                 API refuses it",
            );
        }
        if self.by_id.insert(id, self.calls.len()).is_some() {
            out.warns("duplicate-call", "another call has this `call_id`: Codex sends both");
        }
        self.calls.push(Call { place: out.place, is_custom, n_outputs: 0, has_other: false });
    }

    /// Starts again with the items of a compaction.
    pub(super) fn replace<'l>(
        &mut self,
        items: impl Iterator<Item = Item<'l>>,
        out: &mut Findings<'_>,
    ) {
        *self = Self::default();
        for item in items {
            self.add(&item, out);
        }
    }

    /// Reports outputs without calls and calls without outputs.
    pub(super) fn finish(&mut self, out: &mut Findings<'_>) {
        let mut warn = |place, rule, message: &'static str| {
            out.add(place, Severity::Warns, rule, message.into());
        };
        for (place, id, is_custom) in &self.outputs {
            let call = self.by_id.get(id).and_then(|call_idx| self.calls.get_mut(*call_idx));
            match call {
                Some(call) if call.is_custom == *is_custom => {
                    call.n_outputs = call.n_outputs.saturating_add(1);
                }
                Some(call) => {
                    call.has_other = true;
                    warn(
                        *place,
                        "output-kind",
                        "the output of another kind than its call: Codex does not send it",
                    );
                }
                None => warn(
                    *place,
                    "orphan-output",
                    "an output without a call: Codex does not send it; remove the line",
                ),
            }
        }
        for call in &self.calls {
            if call.n_outputs == 0 {
                warn(
                    call.place,
                    "open-call",
                    "a call without an output: Codex sends the output `aborted`",
                );
            } else if call.n_outputs > 1 {
                warn(call.place, "output-twice", "a call has two outputs: Codex sends both");
            }
        }
    }
}
