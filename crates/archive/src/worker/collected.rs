//! The lines of the journal that a worker collected, by source, for receipts.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use crate::journal::{JournalEntry, OutputOptions};

/// Collected lines of the journal.
pub(super) struct CollectedEntries {
    records: HashMap<PathBuf, Vec<JournalEntry>>,
    options: OutputOptions,
}

impl CollectedEntries {
    /// Collects the lines of outputs with these options.
    pub(super) fn of(collected: Vec<JournalEntry>, options: OutputOptions) -> Self {
        let mut records: HashMap<PathBuf, Vec<JournalEntry>> = HashMap::new();
        for record in collected {
            records.entry(record.source.clone()).or_default().push(record);
        }
        Self { records, options }
    }

    /// Removes and returns the lines of a source; `None` if nothing was written.
    pub(super) fn take(&mut self, source: &Path) -> Option<Vec<Vec<u8>>> {
        let records = self.records.remove(source)?;
        let records = records.iter().filter(|record| record.written.is_some());
        let lines: Vec<_> =
            records.map(|it| it.line(&self.options).trim_ascii_end().to_vec()).collect();
        (!lines.is_empty()).then_some(lines)
    }
}
