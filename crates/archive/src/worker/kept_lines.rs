//! Lines of a file that are read again by their places.
//!
//! In: the plan, or receipts, as a file or on standard input. Out: each line when it is needed, so that none of them is
//! kept in memory.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use jsonl::Stream;
use sessions::Bytes;
use tempfile::SpooledTempFile;

use super::{explained, metered, named, open};

/// Limit on the bytes of standard input in memory.
const MAX_IN_MEMORY: usize = 1024 * 1024;

/// The place of a line. Most plans have a line for each of many sessions, so that it takes 12 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(super) struct LinePlace {
    offset: u64,
    n_bytes: u32,
}

impl LinePlace {
    /// Returns the place of a line; `None` if the line has 4 GiB.
    fn of(line: &jsonl::Line<'_>) -> Option<Self> {
        Some(Self { offset: line.offset(), n_bytes: u32::try_from(line.bytes().len()).ok()? })
    }
}

/// The lines of a file.
pub(super) struct KeptLines {
    file: Box<dyn Bytes>,
    /// The offset behind the line that was read last.
    at: Option<u64>,
}

impl KeptLines {
    /// Opens a file, or standard input for `-`.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be read, or if a temporary file cannot be written.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let is_file = path.as_os_str() != "-" && path.metadata().is_ok_and(|it| it.is_file());
        let file: Box<dyn Bytes> = if is_file {
            Box::new(File::open(path).map_err(|error| named(error, path))?)
        } else {
            // Standard input and pipes can be read only once.
            let copied = Self::copied(&mut open(path)?);
            Box::new(copied.map_err(|error| named(error, path))?)
        };
        Ok(Self { file, at: None })
    }

    fn copied(bytes: &mut dyn Read) -> io::Result<SpooledTempFile> {
        let mut copied = SpooledTempFile::new(MAX_IN_MEMORY);
        io::copy(&mut metered(bytes), &mut copied).map_err(explained)?;
        Ok(copied)
    }

    /// Calls `each` with each line that is not blank, its number and its place, until it returns false.
    ///
    /// # Errors
    ///
    /// Returns an error if the lines cannot be read, or if a line is too long.
    pub(super) fn each(
        &mut self,
        each: &mut dyn FnMut(u64, LinePlace, &[u8]) -> bool,
    ) -> io::Result<()> {
        self.file.rewind()?;
        self.at = None;
        let mut stream = Stream::new(metered(&mut self.file));
        while let Some((number, line)) = stream.next_filled().map_err(explained)? {
            let Some(place) = LinePlace::of(&line) else {
                return Err(io::Error::other(format!("line {number} is longer than 4 GiB")));
            };
            if !each(number, place, line.bytes()) {
                break;
            }
        }
        Ok(())
    }

    /// Replaces a buffer by the line at a place.
    ///
    /// # Errors
    ///
    /// Returns an error if the line cannot be read any more.
    pub(super) fn read(&mut self, place: LinePlace, line: &mut Vec<u8>) -> io::Result<()> {
        let LinePlace { offset, n_bytes } = place;
        if self.at != Some(offset) {
            self.file.seek(SeekFrom::Start(offset))?;
        }
        line.clear();
        let n_read = self.file.by_ref().take(n_bytes.into()).read_to_end(line)?;
        self.at = Some(offset + n_read as u64);
        if n_read == n_bytes as usize {
            return Ok(());
        }
        Err(io::Error::other("it was cut while it was read"))
    }
}
