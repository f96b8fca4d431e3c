//! An entry: a line of a transcript with its event.
//!
//! In: `{"type":"user","timestamp":"2026-01-17T20:32:00.000Z",..}`. Out: an [`Entry`] with its
//! index, place, value and event.

use std::borrow::Cow;

use core_model::{Event, Place, event_millis};
use jsonl::{Raw, Value};

use crate::{Record, read};

/// A line of a transcript.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'l> {
    /// The number of entries before it.
    pub idx: usize,
    /// The line.
    pub place: Place,
    /// The line as scanned.
    pub value: Value<'l>,
    /// The event of the line, in the model that all formats share.
    pub event: Event<'l>,
}

impl<'l> Entry<'l> {
    pub(super) fn new(idx: usize, place: Place, value: Value<'l>) -> Self {
        Self { idx, place, value, event: read(value) }
    }

    /// Returns the members of the line.
    pub fn record(&self) -> Record<'l> {
        Record::new(self.value)
    }

    /// Returns the `type` of the line; `unknown` if it has none.
    pub fn kind(&self) -> Cow<'l, str> {
        let kind = self.value.get("type").and_then(|kind| kind.text());
        kind.map_or(Cow::Borrowed("unknown"), |kind| kind.decode())
    }

    /// Returns the time as written; for a snapshot, the time of the snapshot.
    pub fn timestamp(&self) -> Option<Raw<'l>> {
        self.event.context.time.or(self.event.context.recorded)
    }

    /// Returns the time in milliseconds since 1970.
    pub fn millis(&self) -> Option<i64> {
        event_millis(&self.event)
    }

    /// Returns the blocks of the message as written, if its content is an array.
    pub(super) fn raw_blocks(&self) -> impl Iterator<Item = Value<'l>> + use<'l> {
        let content = self.value.get("message").and_then(|message| message.get("content"));
        content.into_iter().flat_map(|content| content.items())
    }
}

/// Returns the decoded text of a string; any other value as written.
pub(super) fn plain(raw: Raw<'_>) -> String {
    raw.as_text().map_or_else(|| raw.as_str().to_owned(), |text| text.decode().into_owned())
}
