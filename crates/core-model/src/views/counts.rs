//! How many lines there are of each type.

use std::collections::BTreeMap;

use crate::{Body, Event, Role};

/// Counts lines by type.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TypeCounts {
    counts: BTreeMap<String, u64>,
}

impl TypeCounts {
    /// Takes note of an event.
    ///
    /// A line without a type counts as what it says (the dump of the Agent SDK has no types), or as
    /// `unknown` (seed 001).
    pub fn push(&mut self, event: &Event<'_>) {
        let kind = event.kind.map(|kind| kind.decode());
        let kind = kind.as_deref().unwrap_or(match &event.body {
            Body::Message(message) if message.role == Role::User => "user",
            Body::Message(_) => "assistant",
            Body::Start(_) | Body::Notice(_) => "system",
            Body::Outcome(_) => "result",
            _ => "unknown",
        });
        self.push_kind(kind);
    }

    /// Takes note of a line whose type is known.
    pub fn push_kind(&mut self, kind: &str) {
        match self.counts.get_mut(kind) {
            Some(count) => *count += 1,
            None => _ = self.counts.insert(kind.to_owned(), 1),
        }
    }

    /// Returns the number of lines of each type, in the order of the types' names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.counts.iter().map(|(kind, count)| (kind.as_str(), *count))
    }

    /// Returns the number of lines of a type.
    pub fn of(&self, kind: &str) -> u64 {
        self.counts.get(kind).copied().unwrap_or(0)
    }

    /// Returns the number of all lines.
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }
}
