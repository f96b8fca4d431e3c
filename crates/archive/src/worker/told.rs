//! The lines of the journal that a worker collected, by source, for receipts.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use storage::RECEIPTS;

use crate::journal::{JournalEntry, OutputOptions};

/// Collected lines of the journal.
pub(super) struct Told {
    records: HashMap<PathBuf, Vec<JournalEntry>>,
    options: OutputOptions,
    root: PathBuf,
}

impl Told {
    /// Collects lines for files below a folder, with these options.
    pub(super) fn of(told: Vec<JournalEntry>, options: OutputOptions, root: &Path) -> Self {
        let mut records: HashMap<PathBuf, Vec<JournalEntry>> = HashMap::new();
        for record in told {
            records.entry(record.source.clone()).or_default().push(record);
        }
        Self { records, options, root: root.to_owned() }
    }

    /// Removes and returns the lines of a source; only the lines of `output`, if several pieces of
    /// the source were written.
    pub(super) fn take(&mut self, source: &Path, output: &Path) -> Option<Vec<Vec<u8>>> {
        let mut records = self.records.remove(source)?;
        let is_piece = |record: &JournalEntry| {
            record.written.as_ref().is_some_and(|it| self.root.join(&it.below) == output)
        };
        if output.starts_with(self.root.join(RECEIPTS)) {
            let others: Vec<JournalEntry> = records.extract_if(.., |it| !is_piece(it)).collect();
            if !others.is_empty() {
                self.records.insert(source.to_owned(), others);
            }
        }
        let records = records.iter().filter(|record| record.written.is_some());
        let lines: Vec<_> =
            records.map(|it| it.line(&self.options).trim_ascii_end().to_vec()).collect();
        (!lines.is_empty()).then_some(lines)
    }
}
