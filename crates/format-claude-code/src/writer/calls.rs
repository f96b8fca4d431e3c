//! A tool use in the output that waits for its result.

use std::sync::Arc;

/// A tool use without a result.
#[derive(Debug)]
pub(super) struct Call {
    /// The id in the source.
    pub(super) id: Box<str>,
    /// The id in the output, if it differs.
    pub(super) written: Option<Box<str>>,
    /// The id of its entry, a JSON string.
    pub(super) entry: Arc<str>,
    /// The time of its entry in milliseconds since 1970.
    pub(super) at: i64,
}

/// The id of the last entry with a tool use, a JSON string: an entry may have many.
#[derive(Debug, Default)]
pub(super) struct SharedEntry(Arc<str>);

impl SharedEntry {
    /// Returns the id of an entry, which the tool uses of the entry share.
    pub(super) fn share(&mut self, entry: &str) -> Arc<str> {
        if *self.0 != *entry {
            self.0 = entry.into();
        }
        self.0.clone()
    }
}
