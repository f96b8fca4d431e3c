//! Which entries to look at: by type and by time.

use core_model::millis;
use jsonl::Text;

use super::{Entry, Transcript};

/// Which entries to look at; by default all.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Filter {
    /// The types to look at, `unknown` for none; empty for any.
    pub kinds: Vec<String>,
    /// The first time to look at, in milliseconds since 1970.
    pub from: Option<i64>,
    /// The first time not to look at any more, in milliseconds since 1970.
    pub to: Option<i64>,
}

impl Filter {
    /// Returns a time in ISO 8601, with a zone, in milliseconds since 1970; `None` if it is none.
    pub fn time(text: &str) -> Option<i64> {
        millis(Text::new(&format!("\"{text}\""))?.into())
    }

    /// Returns whether an entry is to be looked at. One without a time is in no range of time.
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
    /// Returns the indices of the entries that a filter lets through, in the order of the file.
    pub fn select(&self, filter: &Filter) -> Vec<usize> {
        let mut selected = Vec::new();
        self.for_each(|entry| selected.extend(filter.matches(entry).then_some(entry.idx)));
        selected
    }
}
