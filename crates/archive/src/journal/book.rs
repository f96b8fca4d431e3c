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
    /// To its file.
    File(Mutex<File>),
    /// To an object.
    #[cfg(feature = "cloud")]
    Object(Mutex<ObjectLog>),
    /// Nowhere yet: they become parts of receipts.
    Told(Mutex<Vec<JournalEntry>>),
}

impl JournalWriter {
    /// Takes a line, in one write.
    pub(super) fn append(&self, record: &JournalEntry, options: &OutputOptions) -> io::Result<()> {
        if let JournalWriter::Told(told) = self {
            locked(told).push(record.clone());
            return Ok(());
        }
        self.append_line(&record.line(options))
    }

    /// Takes a line as it stands, in one write; receipts take none.
    pub(super) fn append_line(&self, line: &[u8]) -> io::Result<()> {
        let mut file = match self {
            JournalWriter::File(file) => locked(file),
            #[cfg(feature = "cloud")]
            JournalWriter::Object(log) => {
                locked(log).append(line);
                return Ok(());
            }
            JournalWriter::Told(_) => return Ok(()),
        };
        let end = file.seek(SeekFrom::End(0))?;
        let written = match file.write(line) {
            Ok(n) if n == line.len() => Ok(()),
            Ok(_) => Err(io::ErrorKind::WriteZero.into()),
            Err(error) => Err(error),
        };
        if written.is_err() {
            // A torn line that stays is healed by the next run.
            _ = file.set_len(end);
        }
        written
    }

    /// Brings the lines to the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        match self {
            JournalWriter::File(file) => locked(file).sync_data(),
            #[cfg(feature = "cloud")]
            JournalWriter::Object(log) => locked(log).save_some(),
            JournalWriter::Told(_) => Ok(()),
        }
    }

    /// Brings the last lines to where all of them are.
    pub(super) fn close(&self) -> io::Result<()> {
        match self {
            #[cfg(feature = "cloud")]
            JournalWriter::Object(log) => locked(log).save(),
            JournalWriter::File(_) | JournalWriter::Told(_) => Ok(()),
        }
    }

    /// Returns what was told since this was asked last.
    pub(super) fn take_told(&self) -> Vec<JournalEntry> {
        match self {
            JournalWriter::File(_) => Vec::new(),
            #[cfg(feature = "cloud")]
            JournalWriter::Object(_) => Vec::new(),
            JournalWriter::Told(told) => std::mem::take(&mut *locked(told)),
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
