//! The sink of journal lines: a file, an object, or a list for receipts.

use std::{
    fs::File,
    io::{self, Seek, SeekFrom, Write},
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::{JournalEntry, OutputOptions};

#[cfg(feature = "cloud")]
use storage::ObjectLog;

/// The sink of journal lines.
#[derive(Debug)]
pub(super) enum JournalWriter {
    /// The journal's file.
    File(Mutex<File>),
    /// The journal's object.
    #[cfg(feature = "cloud")]
    Object(Mutex<ObjectLog>),
    /// A list, for receipts.
    Collected(Mutex<Vec<JournalEntry>>),
}

impl JournalWriter {
    /// Writes entries, in one write.
    pub(super) fn append<'r>(
        &self,
        records: impl Iterator<Item = &'r JournalEntry>,
        options: &OutputOptions,
    ) -> io::Result<()> {
        if let JournalWriter::Collected(collected) = self {
            locked(collected).extend(records.cloned());
            return Ok(());
        }
        let lines = records.map(|record| record.line(options)).collect::<Vec<_>>().concat();
        if lines.is_empty() { Ok(()) } else { self.append_line(&lines) }
    }

    /// Writes the lines of files that are about to get their names, in one write. Objects and lists have none.
    pub(super) fn begin<'r>(
        &self,
        records: impl Iterator<Item = &'r JournalEntry>,
        options: &OutputOptions,
    ) -> io::Result<()> {
        let JournalWriter::File(_) = self else { return Ok(()) };
        let lines = records.filter_map(|record| record.begun_line(options));
        let lines = lines.collect::<Vec<_>>().concat();
        if lines.is_empty() { Ok(()) } else { self.append_line(&lines) }
    }

    /// Writes a line, or several, in one write. Lists for receipts ignore it.
    pub(super) fn append_line(&self, line: &[u8]) -> io::Result<()> {
        let mut file = match self {
            JournalWriter::File(file) => locked(file),
            #[cfg(feature = "cloud")]
            JournalWriter::Object(log) => {
                locked(log).append(line);
                return Ok(());
            }
            JournalWriter::Collected(_) => return Ok(()),
        };
        // The file is open for appending.
        let n = file.write(line)?;
        if n < line.len() {
            // If this fails, the next run removes the torn line.
            _ = file.seek(SeekFrom::End(0)).and_then(|end| file.set_len(end - n as u64));
            return Err(io::ErrorKind::WriteZero.into());
        }
        Ok(())
    }

    /// Syncs the lines to the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        match self {
            JournalWriter::File(file) => locked(file).sync_data(),
            #[cfg(feature = "cloud")]
            JournalWriter::Object(log) => locked(log).save_some(),
            JournalWriter::Collected(_) => Ok(()),
        }
    }

    /// Writes the last lines to the store.
    pub(super) fn close(&self) -> io::Result<()> {
        match self {
            #[cfg(feature = "cloud")]
            JournalWriter::Object(log) => locked(log).save(),
            JournalWriter::File(_) | JournalWriter::Collected(_) => Ok(()),
        }
    }

    /// Returns the entries since the last call.
    pub(super) fn take_collected(&self) -> Vec<JournalEntry> {
        match self {
            JournalWriter::File(_) => Vec::new(),
            #[cfg(feature = "cloud")]
            JournalWriter::Object(_) => Vec::new(),
            JournalWriter::Collected(records) => std::mem::take(&mut *locked(records)),
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
