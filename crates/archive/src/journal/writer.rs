//! The sink of journal lines: a file, an object, or a list for receipts.

use std::{
    fmt,
    fs::File,
    io::{self, Seek, SeekFrom, Write},
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
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
    /// A list, for receipts, and the store of the lines of files that are about to get their names.
    Collected(Mutex<Vec<JournalEntry>>, Option<Arc<dyn BegunStore>>),
}

/// Stores the lines of files that are about to get their names, for workers, which write no journal.
pub(crate) trait BegunStore: fmt::Debug + Send + Sync {
    /// Stores lines of files of a source.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    fn begin(&self, source: &Path, lines: &[u8]) -> io::Result<()>;
}

impl JournalWriter {
    /// Writes entries, in one write.
    pub(super) fn append<'r>(
        &self,
        records: impl Iterator<Item = &'r JournalEntry>,
        options: &OutputOptions,
    ) -> io::Result<()> {
        if let JournalWriter::Collected(collected, _) = self {
            locked(collected).extend(records.cloned());
            return Ok(());
        }
        let lines = records.map(|record| record.line(options)).collect::<Vec<_>>().concat();
        if lines.is_empty() { Ok(()) } else { self.append_line(&lines) }
    }

    /// Writes the lines of files that are about to get their names: to a file in one write, and to the store of a list
    /// in one write for each source. Objects have none. Returns whether the file has new lines.
    pub(super) fn begin<'r>(
        &self,
        records: impl Iterator<Item = &'r JournalEntry>,
        options: &OutputOptions,
    ) -> io::Result<bool> {
        match self {
            JournalWriter::File(_) => {
                let lines = records.filter_map(|record| record.begun_line(options));
                let lines = lines.collect::<Vec<_>>().concat();
                if !lines.is_empty() {
                    self.append_line(&lines)?;
                }
                Ok(!lines.is_empty())
            }
            JournalWriter::Collected(_, Some(store)) => {
                let records: Vec<_> = records.collect();
                for records in records.chunk_by(|one, other| one.source == other.source) {
                    let lines = records.iter().filter_map(|record| record.begun_line(options));
                    let lines = lines.collect::<Vec<_>>().concat();
                    if let (Some(first), false) = (records.first(), lines.is_empty()) {
                        store.begin(&first.source, &lines)?;
                    }
                }
                Ok(false)
            }
            JournalWriter::Collected(_, None) => Ok(false),
            #[cfg(feature = "cloud")]
            JournalWriter::Object(_) => Ok(false),
        }
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
            JournalWriter::Collected(..) => return Ok(()),
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

    /// Syncs the lines of a file to the disk.
    pub(super) fn sync_file(&self) -> io::Result<()> {
        match self {
            JournalWriter::File(file) => locked(file).sync_data(),
            #[cfg(feature = "cloud")]
            JournalWriter::Object(_) => Ok(()),
            JournalWriter::Collected(..) => Ok(()),
        }
    }

    /// Syncs the lines to the disk, or to the store if there are many.
    pub(super) fn sync(&self) -> io::Result<()> {
        match self {
            #[cfg(feature = "cloud")]
            JournalWriter::Object(log) => locked(log).save_some(),
            JournalWriter::File(_) | JournalWriter::Collected(..) => self.sync_file(),
        }
    }

    /// Writes the last lines to the store.
    pub(super) fn close(&self) -> io::Result<()> {
        match self {
            #[cfg(feature = "cloud")]
            JournalWriter::Object(log) => locked(log).save(),
            JournalWriter::File(_) | JournalWriter::Collected(..) => Ok(()),
        }
    }

    /// Returns the entries since the last call.
    pub(super) fn take_collected(&self) -> Vec<JournalEntry> {
        match self {
            JournalWriter::File(_) => Vec::new(),
            #[cfg(feature = "cloud")]
            JournalWriter::Object(_) => Vec::new(),
            JournalWriter::Collected(records, _) => std::mem::take(&mut *locked(records)),
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
