//! A file of the source, and how far it has been read.

use crate::carry::{ManifestEntry, ManifestEntryKind};

/// A file of a source of several.
pub(super) struct ReadFile {
    /// Where it starts in the source.
    pub(super) start: u64,
    /// Whether it is no transcript, and carried as it is.
    pub(super) is_side: bool,
    /// The lines read so far.
    pub(super) n_lines: u64,
}

impl ReadFile {
    /// Creates the file of a volume that starts at an offset.
    pub(super) fn new(start: u64, volume: &ManifestEntry) -> Self {
        Self { start, is_side: volume.kind == ManifestEntryKind::Side, n_lines: 0 }
    }
}
