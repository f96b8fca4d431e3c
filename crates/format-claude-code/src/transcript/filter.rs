//! Filters entries by type and by time.
//!
//! In: the types `user` and `assistant`, and the times from 20:00 on. Out: the indices of such
//! entries.

use core_model::millis;
use jsonl::Text;

use super::{Entry, Transcript};

/// Filter for entries. The default matches all.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Filter {
    /// Types to match, `unknown` for entries without a type; empty for any type.
    pub kinds: Vec<String>,
    /// The earliest time to match, in milliseconds since 1970.
    pub from: Option<i64>,
    /// The time at and after which entries do not match, in milliseconds since 1970.
    pub to: Option<i64>,
}

impl Filter {
    /// Converts an ISO 8601 time with a zone to milliseconds since 1970; `None` for any other text.
    pub fn time(text: &str) -> Option<i64> {
        millis(Text::new(&format!("\"{text}\""))?.into())
    }

    /// Returns whether an entry matches. An entry without a time matches no range of times.
    pub fn matches(&self, entry: &Entry<'_>) -> bool {
        let is_kind = self.kinds.is_empty() || self.kinds.iter().any(|kind| *kind == entry.kind());
        let is_timely = || {
            let time = entry.millis();
            self.from.is_none_or(|from| time.is_some_and(|time| time >= from))
                && self.to.is_none_or(|to| time.is_some_and(|time| time < to))
        };
        is_kind && is_timely()
    }
}

impl Transcript<'_> {
    /// Returns the indices of the entries that match, in the order of the file.
    pub fn select(&self, filter: &Filter) -> Vec<usize> {
        let mut selected = Vec::new();
        self.for_each(|entry| selected.extend(filter.matches(entry).then_some(entry.idx)));
        selected
    }
}
