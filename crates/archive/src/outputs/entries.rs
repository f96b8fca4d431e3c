//! The journal entries of outputs, for the journal or for receipts.

use std::io;

use sessions::Input;
use storage::{Finished, Opened, Stat};

use super::{RunOutputs, dir::OutputDir, restored::HashedSource};
use crate::{
    journal::{JournalEntry, Salt, Written},
    status::FileStatus,
};

impl RunOutputs {
    /// Returns the journal entries of the files that an input became, and of its images.
    ///
    /// # Errors
    ///
    /// Returns an error if the input cannot be read.
    pub(crate) fn records(
        &self,
        input: &Input,
        opened: &mut Opened,
        (files, images): (&[Finished], &[Finished]),
        salt: Salt,
    ) -> io::Result<Vec<JournalEntry>> {
        let Some(root) = &self.root else { return Ok(Vec::new()) };
        let (source, salt) = match self.restored_from(input) {
            Some(from) => (from.source, from.salt),
            None => (HashedSource::of(input, opened)?, salt),
        };
        let Some(HashedSource { path: source, stat, hash: source_hash }) = source else {
            return Ok(Vec::new());
        };
        let record = |file: &Finished| JournalEntry {
            source: source.clone(),
            stat: stat.clone(),
            source_hash,
            salt,
            written: Some(Written {
                below: root.strip(&file.path()).to_owned(),
                length: file.length(),
                hash: file.hash(),
                sha256: file.sha256(),
                etag: None,
            }),
            status: FileStatus::Done,
            records: 0,
            lost: 0,
            damaged: 0,
            carries: 0,
        };
        Ok(files.iter().chain(images).map(record).collect())
    }

    /// Appends a failure to the journal.
    pub(crate) fn note_failure(&self, input: &Input, status: FileStatus) {
        let (Some(root), Ok(Some(source))) = (&self.root, input.absolute()) else { return };
        let record = JournalEntry {
            source,
            stat: Stat { length: input.size(), ..Stat::default() },
            source_hash: 0,
            salt: Salt::default(),
            written: None,
            status,
            records: 0,
            lost: 0,
            damaged: 0,
            carries: 0,
        };
        // Without the entry, the next run tries again, as it would with it.
        _ = root.append([&record].into_iter());
    }

    /// Returns a worker's journal entries for files that were published since the last call.
    pub(crate) fn take_collected(&self) -> Vec<JournalEntry> {
        self.root.as_ref().map(OutputDir::take_collected).unwrap_or_default()
    }
}
