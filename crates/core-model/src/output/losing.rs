//! Counts the losses of the output.

use super::Output;
use crate::{
    Event, LossKind, Place,
    members::{Shape, add_blocks, list_blocks, record_name},
};

impl Output {
    /// Counts a loss at the current source line: `field` has no place in the target. The count is in the
    /// report of the conversion, `Report::losses` of the crate `conversion`, with the first lines.
    pub fn lose(&mut self, kind: LossKind, field: &'static str) {
        let place = self.place();
        self.losses.add(kind, field, place);
    }

    /// Counts a loss at the current source line, under a name that comes from the record.
    pub fn lose_named(&mut self, kind: LossKind, name: &str) {
        let place = self.place();
        self.losses.add_named(kind, name, place);
    }

    /// Counts a written record that the client hides, because the user undid the session before it. The count is in the
    /// report of the conversion, `Report::n_hidden` of the crate `conversion`.
    pub fn count_hidden(&mut self) {
        self.n_hidden = self.n_hidden.saturating_add(1);
    }

    /// Returns the number of written records that the client hides.
    pub fn n_hidden(&self) -> u64 {
        self.n_hidden
    }

    /// Counts the members of a record that its event does not hold, so that no writer can write them. A
    /// writer calls it once for each event that it writes.
    #[inline]
    pub fn lose_members(&mut self, event: &Event<'_>) {
        let mut shape = (event.vocabulary.shape)(event);
        if let Some(message) = event.message() {
            add_blocks(&mut shape, message);
        }
        if !shape.is_empty() {
            let place = self.place();
            self.losses.add_shape(shape, place, |found| {
                (event.vocabulary.list)(event, found);
                if let Some(message) = event.message() {
                    list_blocks(message, found);
                }
            });
        }
    }

    /// Counts a record that is in no written line, under the name of its kind.
    pub fn lose_record(&mut self, event: &Event<'_>) {
        let place = self.place();
        self.lose_record_at(event, place);
    }

    /// Counts a record at any source line that is in no written line, under the name of its kind.
    pub fn lose_record_at(&mut self, event: &Event<'_>, place: Place) {
        let words = (event.vocabulary.record)(event);
        let mut shape = Shape::default();
        shape.add_name(b"record");
        words.iter().flatten().for_each(|word| shape.add_name(word.body().as_bytes()));
        self.losses.add_shape(shape, place, |found| found(&record_name(words)));
    }

    /// Returns the place of the current source line.
    pub fn place(&self) -> Place {
        Place { line: self.source.number, offset: self.source.offset }
    }

    /// Counts a loss at any source line.
    pub fn lose_at(&mut self, kind: LossKind, field: &'static str, place: Place) {
        self.losses.add(kind, field, place);
    }
}
