//! Counts lines by type.
//!
//! In: two `user` lines and a line without a type. Out: `user` 2, `unknown` 1.

use std::collections::BTreeMap;

use super::OTHERS;
use crate::{Body, Event, Role};

/// Numbers of lines by type.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TypeCounts {
    counts: BTreeMap<String, u64>,
    /// The number of lines of further types.
    n_others: u64,
}

/// Number of types with a count of their own. Clients write a few dozen.
const MAX_KINDS: usize = 1_000;

/// Length in bytes up to which a type has a count of its own.
const MAX_NAME: usize = 256;

impl TypeCounts {
    /// Adds an event.
    ///
    /// A line without a type counts under the kind of its event (dumps of the Agent SDK have no
    /// types), or under `unknown`.
    pub fn push(&mut self, event: &Event<'_>) {
        if event.nth > 0 {
            return;
        }
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

    /// Adds a line with a known type. After a thousand types, others count as `(others)`.
    pub fn push_kind(&mut self, kind: &str) {
        let is_full = self.counts.len() >= MAX_KINDS || kind.len() > MAX_NAME;
        match self.counts.get_mut(kind) {
            Some(count) => *count += 1,
            None if is_full => self.n_others += 1,
            None => _ = self.counts.insert(kind.to_owned(), 1),
        }
    }

    /// Returns the number of lines of each type, in the order of the types' names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        let others = (self.n_others > 0).then_some((OTHERS, self.n_others));
        let counts = self.counts.iter().map(|(kind, count)| (kind.as_str(), *count));
        others.into_iter().chain(counts)
    }

    /// Returns the number of lines of a type.
    pub fn of(&self, kind: &str) -> u64 {
        self.counts.get(kind).copied().unwrap_or(0)
    }

    /// Returns the number of all lines.
    pub fn total(&self) -> u64 {
        self.counts.values().sum::<u64>() + self.n_others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_for_each_line_is_counted_together() {
        let mut counts = TypeCounts::default();
        for n in 0..5_000 {
            counts.push_kind(&format!("type-{n}"));
            counts.push_kind("user");
        }
        counts.push_kind(&"x".repeat(MAX_NAME + 1));
        assert_eq!((counts.of("user"), counts.of("type-1"), counts.total()), (5_000, 1, 10_001));
        assert_eq!(counts.iter().next(), Some((OTHERS, 4_002)));
        assert_eq!(counts.iter().count(), MAX_KINDS + 1);
    }
}
