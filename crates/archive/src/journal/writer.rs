//! The sink of journal lines: a file, an object, or a list for receipts.

use std::{
    fs::File,
    io::{self, Seek, SeekFrom, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{JournalEntry, OutputOptions, begun::BegunLog};

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
    /// A list, for receipts, and the log of files that are about to get their names.
    Collected(Mutex<Vec<JournalEntry>>, Option<Arc<BegunLog>>),
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

    /// Writes the lines of files that are about to get their names, in one write. Objects have none. Returns whether
    /// there are new lines.
    pub(super) fn begin<'r>(
        &self,
        records: impl Iterator<Item = &'r JournalEntry>,
        options: &OutputOptions,
    ) -> io::Result<bool> {
        match self {
            JournalWriter::Collected(_, None) => return Ok(false),
            #[cfg(feature = "cloud")]
            JournalWriter::Object(_) => return Ok(false),
            JournalWriter::File(_) | JournalWriter::Collected(_, Some(_)) => {}
        }
        let lines = records.filter_map(|record| record.begun_line(options));
        let lines = lines.collect::<Vec<_>>().concat();
        if lines.is_empty() {
            return Ok(false);
        }
        match self {
            JournalWriter::Collected(_, Some(log)) => log.append(&lines)?,
            _ => self.append_line(&lines)?,
        }
        Ok(true)
    }

    /// Returns the log of a worker.
    pub(super) fn begun_log(&self) -> Option<&BegunLog> {
        match self {
            JournalWriter::Collected(_, log) => log.as_deref(),
            JournalWriter::File(_) => None,
            #[cfg(feature = "cloud")]
            JournalWriter::Object(_) => None,
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
        append_whole(&mut file, line)
    }

    /// Syncs the lines of a file to the disk.
    pub(super) fn sync_file(&self) -> io::Result<()> {
        match self {
            JournalWriter::File(file) => locked(file).sync_data(),
            #[cfg(feature = "cloud")]
            JournalWriter::Object(_) => Ok(()),
            JournalWriter::Collected(_, log) => log.as_ref().map_or(Ok(()), |log| log.sync()),
        }
    }

    /// Syncs the lines to the disk, or to the store if there are many.
    pub(super) fn sync(&self) -> io::Result<()> {
        match self {
            #[cfg(feature = "cloud")]
            JournalWriter::Object(log) => locked(log).save_some(),
            JournalWriter::File(_) => self.sync_file(),
            // The lines of a list are synced before the names.
            JournalWriter::Collected(..) => Ok(()),
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

/// Appends lines to a file that is open for appending or that only this function writes: all of them or none.
pub(super) fn append_whole(file: &mut File, lines: &[u8]) -> io::Result<()> {
    let mut n = 0;
    let error = loop {
        match file.write(lines.get(n..).unwrap_or_default()) {
            // After a part was written, the system says why the rest cannot be.
            Ok(more) if more > 0 && n + more < lines.len() => n += more,
            Ok(0) if n < lines.len() => break io::ErrorKind::WriteZero.into(),
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break error,
        }
    };
    // If this fails, a torn line is left: the next run removes it from the journal, and a worker ends it.
    _ = file.seek(SeekFrom::End(0)).and_then(|end| file.set_len(end - n as u64));
    _ = file.seek(SeekFrom::End(0));
    Err(error)
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
