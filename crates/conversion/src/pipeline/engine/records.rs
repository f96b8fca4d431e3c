//! The entries of lines that are not written yet.
//!
//! In: the line `{"text":"a\u2028` that grows to `{"text":"a\u2028b"}`. Out: its entries, and that it has U+2028, after each
//! byte was searched once.

use core_model::LineId;

use crate::carry::{
    Skips,
    separators::{LONGEST, has_separators},
};

/// The entries of a line that has not been emitted yet.
#[derive(Default)]
pub(super) struct Records {
    pub(super) entries: Vec<u8>,
    pub(super) skips: Skips,
    pub(super) separators: Separators,
}

/// Whether a line has U+2028, U+2029 or an escape of one, as far as it was searched.
#[derive(Clone, Copy, Default)]
pub(super) struct Separators {
    is_found: bool,
    n_searched: usize,
}

impl Separators {
    /// Searches the bytes that are new in a line, and returns whether it has one.
    pub(super) fn search(&mut self, line: &[u8]) -> bool {
        if !self.is_found {
            self.is_found = has_separators(line.get(self.n_searched..).unwrap_or(line));
            self.n_searched = line.len().saturating_sub(LONGEST);
        }
        self.is_found
    }
}

/// Returns the entries of a line.
pub(super) fn slot(records: &mut Vec<Records>, id: LineId) -> &mut Records {
    if records.len() <= id.index() {
        records.resize_with(id.index() + 1, Records::default);
    }
    &mut records[id.index()]
}
