//! Tracks the kinds of calls, because an output of another kind does not answer a call.
//!
//! In: a call of `apply_patch` with plain text. Out: its result is a `custom_tool_call_output`.

use std::collections::HashMap;

use core_model::{Event, IdHasher};

use crate::record::{Entry, ItemKind, Record};

/// The kind of a call, which the kind of its output must match.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum CallKind {
    Function,
    Custom,
}

/// The calls and outputs of the session, by hashes of their ids.
#[derive(Debug, Default)]
pub(super) struct Calls {
    kinds: HashMap<u64, CallKind>,
    hasher: IdHasher,
}

impl Calls {
    /// Adds a call and returns its kind. An output or a call before it with the same id decides.
    pub(super) fn call(&mut self, id: &str, wanted: CallKind) -> CallKind {
        *self.kinds.entry(self.hasher.hash(id)).or_insert(wanted)
    }

    /// Returns the kind of an output. If its call comes later, the call gets the same kind.
    pub(super) fn answer(&mut self, id: &str) -> CallKind {
        *self.kinds.entry(self.hasher.hash(id)).or_insert(CallKind::Function)
    }

    /// Returns the kind of a call that was written.
    pub(super) fn kind(&self, id: &str) -> Option<CallKind> {
        self.kinds.get(&self.hasher.hash(id)).copied()
    }

    /// Adds the call of a resumed line.
    pub(super) fn resume(&mut self, event: &Event<'_>, id: &str) {
        let kind = match Record::decode(event.value).entry {
            Entry::Item(item) if item.kind == ItemKind::CustomToolCall => CallKind::Custom,
            _ => CallKind::Function,
        };
        self.kinds.insert(self.hasher.hash(id), kind);
    }
}
