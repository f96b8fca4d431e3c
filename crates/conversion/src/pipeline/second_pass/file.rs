//! A file of a source of several files, and its line count.

use crate::carry::{ManifestEntry, ManifestEntryKind};

/// A file of a source of several files.
pub(super) struct ReadFile {
    /// The offset of the file in the source.
    pub(super) start: u64,
    /// Whether the file is not a transcript and is carried as it is.
    pub(super) is_side: bool,
    /// The lines read so far.
    pub(super) n_lines: u64,
}

impl ReadFile {
    /// Creates the file of a manifest entry at an offset.
    pub(super) fn new(start: u64, entry: &ManifestEntry) -> Self {
        Self { start, is_side: entry.kind == ManifestEntryKind::Side, n_lines: 0 }
    }
}
