//! The sink of journal lines: a file, an object, or a list for receipts.

use std::{
    fs::File,
    io::{self, Seek, SeekFrom, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{JournalEntry, OutputOptions, begun::BegunLog};

#[cfg(feature = "cloud")]
use storage::ObjectLog;

/// Length in bytes from which lines are written before the next ones are made.
const MAX_APPENDED: usize = 256 * 1024;

/// The sink of journal lines.
#[derive(Debug)]
pub(super) enum JournalWriter {
    /// The journal's file.
    File(Mutex<LogFile>),
    /// The journal's object.
    #[cfg(feature = "cloud")]
    Object(Mutex<ObjectLog>),
    /// A list, for receipts, and the log of files that are about to get their names.
    Collected(Mutex<Vec<JournalEntry>>, Option<Arc<BegunLog>>),
}

impl JournalWriter {
    /// Writes entries, many of them in one write.
    pub(super) fn append<'r>(
        &self,
        records: impl Iterator<Item = &'r JournalEntry>,
        options: &OutputOptions,
    ) -> io::Result<()> {
        if let JournalWriter::Collected(collected, _) = self {
            locked(collected).extend(records.cloned());
            return Ok(());
        }
        append_in_parts(records.map(|record| record.line(options)), &|lines| {
            self.append_line(lines)
        })?;
        Ok(())
    }

    /// Writes the lines of files that are about to get their names, many of them in one write. Objects have
    /// none. Returns whether there are new lines.
    pub(super) fn begin<'r>(
        &self,
        records: impl Iterator<Item = &'r JournalEntry>,
        options: &OutputOptions,
    ) -> io::Result<bool> {
        let append: &dyn Fn(&[u8]) -> io::Result<()> = match self {
            JournalWriter::File(file) => &|lines| locked(file).append(lines),
            JournalWriter::Collected(_, Some(log)) => &|lines| log.append(lines),
            JournalWriter::Collected(_, None) => return Ok(false),
            #[cfg(feature = "cloud")]
            JournalWriter::Object(_) => return Ok(false),
        };
        append_in_parts(records.filter_map(|record| record.begun_line(options)), append)
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
        file.append(line)
    }

    /// Syncs the lines of a file to the disk.
    pub(super) fn sync_file(&self) -> io::Result<()> {
        match self {
            JournalWriter::File(file) => locked(file).sync(),
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

/// A file to which lines are appended, open for appending or written by this program alone.
#[derive(Debug)]
pub(super) struct LogFile {
    file: File,
    /// Whether the file may end in the middle of a line.
    is_torn: bool,
    /// Whether other programs may append to the file at the same time.
    is_shared: bool,
}

impl LogFile {
    /// Takes a file that ends with a whole line, and that no other program writes.
    pub(super) fn new(file: File) -> Self {
        Self { file, is_torn: false, is_shared: false }
    }

    /// Takes a file that other programs may write, and that may end in the middle of a line.
    pub(super) fn shared(file: File, is_torn: bool) -> Self {
        Self { file, is_torn, is_shared: true }
    }

    /// Appends lines: all of them or none. An unfinished line at the end of the file is ended first, so that it spoils
    /// no other.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does. If the lines cannot be removed again either, the next ones end the
    /// unfinished line.
    pub(super) fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let written = match self.is_torn {
            true => write_whole(&mut self.file, &[b"\n", lines].concat()),
            false => write_whole(&mut self.file, lines),
        };
        match written {
            Ok(()) => self.is_torn = false,
            Err((0, error)) => return Err(error),
            Err((n, error)) => {
                // In a shared file, the last bytes may be another program's.
                let is_removed = !self.is_shared && remove_last(&mut self.file, n).is_ok();
                self.is_torn |= !is_removed;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Syncs the lines to the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// Appends whole lines, as many in one write as are not long together: a session may have tens of thousands of files.
/// Returns whether there were any.
fn append_in_parts(
    lines: impl Iterator<Item = Vec<u8>>,
    append: &dyn Fn(&[u8]) -> io::Result<()>,
) -> io::Result<bool> {
    let (mut part, mut has_lines) = (Vec::new(), false);
    for line in lines {
        has_lines = true;
        part.extend_from_slice(&line);
        if part.len() >= MAX_APPENDED {
            append(&part)?;
            part.clear();
        }
    }
    if !part.is_empty() {
        append(&part)?;
    }
    Ok(has_lines)
}

/// Writes bytes. On an error, also returns the number of bytes that were written.
fn write_whole(file: &mut impl Write, bytes: &[u8]) -> Result<(), (u64, io::Error)> {
    let mut n = 0;
    while let Some(rest) = bytes.get(n..).filter(|rest| !rest.is_empty()) {
        match file.write(rest) {
            Ok(0) => return Err((n as u64, io::ErrorKind::WriteZero.into())),
            // After a part was written, the system says why the rest cannot be.
            Ok(more) => n += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err((n as u64, error)),
        }
    }
    Ok(())
}

/// Removes the last `n` bytes of a file.
fn remove_last(file: &mut File, n: u64) -> io::Result<()> {
    let end = file.seek(SeekFrom::End(0))?;
    file.set_len(end.saturating_sub(n))?;
    file.seek(SeekFrom::End(0)).map(|_| ())
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_torn_line_spoils_no_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lines");
        fs::write(&path, "{\"v\":1").expect("written");
        let open = || File::options().append(true).open(&path).expect("opened");
        let mut lines = LogFile::shared(open(), true);
        lines.append(b"").expect("nothing");
        lines.append(b"{}\n").expect("appended");
        lines.append(b"{}\n").expect("appended");
        assert_eq!(fs::read_to_string(&path).expect("read"), "{\"v\":1\n{}\n{}\n");
    }

    #[test]
    fn many_lines_are_written_in_parts() {
        let parts = std::cell::RefCell::new(Vec::new());
        let append = |lines: &[u8]| {
            parts.borrow_mut().push(lines.to_vec());
            Ok(())
        };
        let line = [b"x".repeat(999), b"\n".to_vec()].concat();
        assert!(
            append_in_parts(std::iter::repeat_n(line.clone(), 1000), &append).expect("written")
        );
        assert!(!append_in_parts(std::iter::empty(), &append).expect("nothing"));
        let parts = parts.into_inner();
        assert_eq!(parts.len(), 4);
        assert!(
            parts.iter().all(|it| it.ends_with(b"\n") && it.len() <= MAX_APPENDED + line.len())
        );
        assert!(parts.concat() == line.repeat(1000));
    }

    #[test]
    fn the_end_of_a_failed_write_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lines");
        fs::write(&path, "{}\n{\"v\"").expect("written");
        let mut file = File::options().append(true).open(&path).expect("opened");
        remove_last(&mut file, 4).expect("removed");
        LogFile::new(file).append(b"[]\n").expect("appended");
        assert_eq!(fs::read_to_string(&path).expect("read"), "{}\n[]\n");
    }

    #[test]
    fn a_failed_write_says_how_much_was_written() {
        let mut bytes = [0; 3];
        let written = write_whole(&mut &mut bytes[..], b"12345");
        assert_eq!(
            written.map_err(|(n, error)| (n, error.kind())),
            Err((3, io::ErrorKind::WriteZero))
        );
    }
}
