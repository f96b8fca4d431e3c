//! Records that wait for the head of the document that is restored.
//!
//! In: an added record, the head, a restored record. Out: the head, the added record, the restored record.

use super::{Item, Restorer};

/// Limit on the bytes of records that wait for the head of a document.
const MAX_EARLY: usize = 1024 * 1024;

impl Restorer {
    /// Returns whether an added record of a document waits for the document's head. Before the head, it
    /// would get one of its own.
    pub(super) fn is_early(&mut self, item: &Item) -> bool {
        self.n_early += item.n_bytes();
        self.has_head |= self.n_early > MAX_EARLY;
        !self.has_head && self.format.framing.is_document()
    }

    /// Returns whether a released record of a document comes before the document's head, because it was moved, or
    /// the head is gone. It waits as an added one does.
    pub(super) fn is_before_head(&mut self, item: &Item) -> bool {
        self.has_head |= matches!(item, Item::Restored { is_start: true, .. });
        if self.has_head || !self.format.framing.is_document() {
            return false;
        }
        // Above the limit, the records that wait come before this one.
        self.is_early(item);
        true
    }

    /// Returns the next of the records that waited for the head of the document.
    pub(super) fn next_early(&mut self) -> Option<Item> {
        if self.has_head { self.early.pop_front() } else { None }
    }
}
