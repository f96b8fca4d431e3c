//! The carry whose entries are being read, and its record.

use std::{borrow::Cow, collections::VecDeque, ops::Deref, sync::Arc};

use super::OwnRecord;
use crate::carry::EntryCursor;

/// A carry whose entries are being read, and its record.
#[derive(Debug)]
pub(super) struct Current {
    pub(super) carry: Arc<String>,
    /// The record as it was written, without the carry; empty if the record is gone, or if no entry needs it.
    pub(super) visible: String,
    /// The record as it was read, without the carry and its newline, if that differs from `visible`.
    /// A long record is in memory once.
    pub(super) read: Option<String>,
    /// Whether a newline follows the record.
    pub(super) is_terminated: bool,
    pub(super) offset: u64,
    /// The first entry, and the next one.
    pub(super) start: EntryCursor,
    pub(super) cursor: EntryCursor,
    pub(super) phase: Phase,
    /// The highest source offset of its own entries; `u64::MAX` without one.
    pub(super) last_own: u64,
    pub(super) is_moved: bool,
    /// Whether the record is gone.
    pub(super) is_gone: bool,
    /// Whether the record is unedited and all its own entries can be restored.
    pub(super) is_whole: bool,
    /// Whether one of its own entries is a part of a source record.
    pub(super) has_parts: bool,
    /// The number of source records among its own entries.
    pub(super) n_sources: u64,
    /// Whether the record names the folder of the session.
    pub(super) is_start: bool,
    /// The first source records that it shows, restored.
    pub(super) own: VecDeque<OwnRecord>,
    /// Whether these are all of them, and no carry of the source's own sidecar belongs to them: their entries
    /// are not read once more.
    pub(super) is_restored: bool,
    /// Whether the record itself was passed on.
    pub(super) is_placed: bool,
}

impl Current {
    /// Returns the record as it was read, without the carry.
    pub(super) fn record(&self) -> ReadRecord<'_> {
        let text = self.read.as_ref().unwrap_or(&self.visible);
        ReadRecord { text, is_terminated: self.is_terminated }
    }
}

/// The text of a record's carry.
pub(super) enum CarryText<'c> {
    /// From the member in the record.
    OfRecord(Cow<'c, str>),
    OfSidecar(Arc<String>),
}

impl CarryText<'_> {
    pub(super) fn into_shared(self) -> Arc<String> {
        match self {
            CarryText::OfRecord(text) => Arc::new(text.into_owned()),
            CarryText::OfSidecar(text) => text,
        }
    }
}

impl Deref for CarryText<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            CarryText::OfRecord(text) => text,
            CarryText::OfSidecar(text) => text,
        }
    }
}

/// A record as it was read, without its carry.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadRecord<'r> {
    pub(super) text: &'r str,
    /// Whether a newline follows the text.
    pub(super) is_terminated: bool,
}

impl ReadRecord<'_> {
    pub(super) fn len(self) -> usize {
        self.text.len() + usize::from(self.is_terminated)
    }

    pub(super) fn to_vec(self) -> Vec<u8> {
        let terminator: &[u8] = if self.is_terminated { b"\n" } else { b"" };
        [self.text.as_bytes(), terminator].concat()
    }
}

/// A record without its carry.
pub(super) struct Visible {
    /// The record as it was written, if that differs from the record as it was read.
    pub(super) written: Option<String>,
    /// Whether its content is unedited.
    pub(super) is_intact: bool,
}

/// The entries of a carry that are read next. Entries that come after the record's own in the source
/// follow them, or else all of them would wait in memory for the record's own.
#[derive(Clone, Copy, Debug)]
pub(super) enum Phase {
    /// Entries that no record shows and that come before the last of the record's own, and the carries
    /// of the source's own sidecar for them.
    HeldBefore,
    /// The record's own entries, and the first of the entries that come after them.
    Own(Option<EntryCursor>),
    /// Entries that no record shows and that come after all of the record's own.
    HeldAfter,
}
