//! The bytes of a session that is repaired, which are read again by their place.
//!
//! In: a file of 3 GB, and the offset and the length of a record. Out: the bytes of the record. Neither the file nor the
//! records that were changed are in memory.

use std::io::{self, Read, Seek, SeekFrom, Write};

use tempfile::SpooledTempFile;

/// The bytes that are read at a time, and limit on the bytes of temporary files in memory.
const CHUNK: usize = 256 * 1024;

/// A file with a window of it in memory.
pub(super) struct Windowed<R> {
    file: R,
    window: Vec<u8>,
    /// The offset of the window.
    start: u64,
}

impl<R: Read + Seek> Windowed<R> {
    pub(super) fn new(file: R) -> Self {
        Self { file, window: Vec::new(), start: 0 }
    }

    /// Replaces a buffer by a range of the file.
    ///
    /// # Errors
    ///
    /// Returns an error if the range cannot be read.
    pub(super) fn read(&mut self, offset: u64, n_bytes: u64, to: &mut Vec<u8>) -> io::Result<()> {
        let n_bytes = usize::try_from(n_bytes).map_err(io::Error::other)?;
        to.clear();
        // A long record before this one needs its memory no more. A newline is added to most records.
        to.shrink_to(n_bytes.max(CHUNK));
        to.reserve_exact(n_bytes.saturating_add(1));
        if let Some(held) = self.held(offset, n_bytes) {
            to.extend_from_slice(held);
            return Ok(());
        }
        if n_bytes >= CHUNK / 2 {
            self.file.seek(SeekFrom::Start(offset))?;
            let n_read = self.file.by_ref().take(n_bytes as u64).read_to_end(to)?;
            return if n_read == n_bytes { Ok(()) } else { Err(cut()) };
        }
        // Records are read forwards, or backwards from one to its parents.
        let back = if offset < self.start { CHUNK / 2 } else { 0 };
        self.start = offset.saturating_sub(back as u64);
        self.window.clear();
        self.file.seek(SeekFrom::Start(self.start))?;
        self.file.by_ref().take(CHUNK as u64).read_to_end(&mut self.window)?;
        to.extend_from_slice(self.held(offset, n_bytes).ok_or_else(cut)?);
        Ok(())
    }

    /// Returns the file, at its start.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read from its start.
    pub(super) fn rewound(&mut self) -> io::Result<&mut R> {
        self.window.clear();
        self.file.rewind()?;
        Ok(&mut self.file)
    }

    fn held(&self, offset: u64, n_bytes: usize) -> Option<&[u8]> {
        let start = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        self.window.get(start..start.checked_add(n_bytes)?)
    }
}

fn cut() -> io::Error {
    io::Error::other("it was cut while it was read; repair it again")
}

/// Bytes that were added to a temporary file.
pub(super) struct Added {
    file: Windowed<SpooledTempFile>,
    end: u64,
}

impl Default for Added {
    fn default() -> Self {
        Self { file: Windowed::new(SpooledTempFile::new(CHUNK)), end: 0 }
    }
}

impl Added {
    /// Adds bytes, and returns their offset.
    ///
    /// # Errors
    ///
    /// Returns an error if the temporary file cannot be written.
    pub(super) fn push(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let offset = self.end;
        self.file.window.clear();
        self.file.file.seek(SeekFrom::Start(offset))?;
        self.file.file.write_all(bytes)?;
        self.end += bytes.len() as u64;
        Ok(offset)
    }

    /// Replaces a buffer by added bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the temporary file cannot be read.
    pub(super) fn read(&mut self, offset: u64, n_bytes: u64, to: &mut Vec<u8>) -> io::Result<()> {
        self.file.read(offset, n_bytes, to)
    }

    /// Returns the file, at its start.
    ///
    /// # Errors
    ///
    /// Returns an error if the temporary file cannot be read.
    pub(super) fn into_file(self) -> io::Result<SpooledTempFile> {
        let mut file = self.file.file;
        file.rewind()?;
        Ok(file)
    }
}
