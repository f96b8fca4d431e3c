//! The journal of a folder: what was written to it, from what, and how, a line for each file.
//!
//! `{"v":1,"tool":..,"options":..,"beside_xxh3":..,"src":..,"size":..,"mtime_ns":..,"ctime_ns":..,
//! "inode":..,"src_xxh3":..,"dst":..,"dst_len":..,"dst_xxh3":..,"status":..,"records":..,"lost":..,
//! "damaged":..}`: hashes in hexadecimal, `src` as an absolute path, `dst` below the folder, null
//! where nothing was written; `options` in words, `beside_xxh3` of the files beside the source, if the
//! output depends on any. A line is appended once the file that it tells of is on the disk under its
//! name; the last one of a `dst` counts. In a store there are `src_etag` and `dst_etag`, and neither
//! `ctime_ns` nor `inode`. Lines of version 0.1.0 have `opts_hash` in place of `options` and
//! `beside_xxh3`.

mod base;
mod book;
mod entry;
mod options;
mod past;
pub(crate) mod paths;
mod salt;

use std::{
    ffi::OsStr,
    hash::Hasher,
    io::{self, Read, Seek},
    os::unix::fs::MetadataExt,
    path::Path,
    ptr,
    sync::Mutex,
};

use jsonl::Scanner;
use storage::{FILE_MODE, Folder, JOURNAL, Lock, Replace, lock};
use twox_hash::XxHash3_64;

use self::{
    book::JournalWriter,
    entry::{Known, is_etag},
    past::JournalIndex,
    paths::path_body,
};
use crate::status::FileStatus;

pub(crate) use self::entry::{Origin, hex, source_of};
pub use self::{
    base::Base,
    options::{OutputOptions, Spelled},
};
pub(crate) use self::{
    entry::{JournalEntry, Written},
    salt::Salt,
};
#[cfg(feature = "cloud")]
use std::sync::Arc;
#[cfg(feature = "cloud")]
use storage::Bucket;
#[cfg(feature = "cloud")]
use storage::ObjectLog;

/// A source that was changed so shortly before its output was written may have been changed since,
/// and show the same time.
const RACY: i128 = 1_000_000_000;

/// How much of a file is read at a time, to be hashed.
const MAX_READ: u64 = 256 * 1024;

/// The journal of a folder, for as long as a run writes to the folder.
#[derive(Debug)]
pub struct Journal {
    book: JournalWriter,
    past: JournalIndex,
    options: OutputOptions,
    /// Whether nobody else writes to the folder.
    pub is_locked: bool,
}

/// Why a folder's journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// A process with this id has the lock.
    #[error("process {0} writes to this folder at the moment")]
    Busy(u32),
    /// A process that cannot be named has the lock.
    #[error("another run writes to this folder at the moment")]
    BusySomebody,
    /// The folder was written with these options.
    #[error(
        "what is there was written with other options ({0}); write to another folder, or convert \
         all anew with --force"
    )]
    OtherOptions(String),
    /// The folder or the store cannot be reached.
    #[error("{0}")]
    Place(io::Error),
    /// The journal cannot be read or written.
    #[error("{JOURNAL}: {0}")]
    Io(#[from] io::Error),
}

/// How an output stands before its source is converted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Standing {
    /// It is what the source would become again.
    UpToDate(FileStatus),
    /// It may be written, and this may happen to what is there.
    Open(Replace),
}

impl Journal {
    /// Opens the journal of a place, as [`Journal::open`] does that of a folder.
    ///
    /// # Errors
    ///
    /// As there; those of the store.
    pub fn of_base(base: &Base, options: OutputOptions) -> Result<Self, Unusable> {
        match base {
            Base::Folder(folder) => Self::open(folder, options),
            #[cfg(feature = "cloud")]
            Base::Prefix(bucket, path) => Ok(Self::of_prefix(bucket.clone(), path, options)?),
        }
    }

    /// Opens the journal of a folder, made if it is not there, and takes the lock on it.
    ///
    /// # Errors
    ///
    /// If another run has the lock; the system's own.
    pub fn open(folder: &Folder, options: OutputOptions) -> Result<Self, Unusable> {
        let mut file = folder.append(OsStr::new(JOURNAL), FILE_MODE)?;
        let is_locked = match lock(&file)? {
            Lock::Held => true,
            Lock::Unknown => false,
            Lock::Other(Some(pid)) => return Err(Unusable::Busy(pid)),
            Lock::Other(None) => return Err(Unusable::BusySomebody),
        };
        // Of a file with a second name nobody knows what it is.
        let metadata = file.metadata()?;
        if metadata.nlink() != 1 || !metadata.is_file() {
            return Err(io::Error::other("is no file of its own").into());
        }
        if metadata.len() == 0 {
            // Its name has to reach the disk, as those that it tells of do.
            folder.sync()?;
        }
        file.rewind()?;
        let (past, end) = JournalIndex::read(&mut file)?;
        if end < metadata.len() {
            // The last run was stopped in the middle of a line.
            file.set_len(end)?;
        }
        Ok(Self { book: JournalWriter::File(Mutex::new(file)), past, options, is_locked })
    }

    /// Reads the journal of a folder, if there is one, without a lock.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub fn peek(folder: &Folder, options: OutputOptions) -> io::Result<Option<Self>> {
        let mut file = match folder.read(OsStr::new(JOURNAL)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let (past, _) = JournalIndex::read(&mut file)?;
        let book = JournalWriter::File(Mutex::new(file));
        Ok(Some(Self { book, past, options, is_locked: false }))
    }

    /// Creates the journal of a worker: it knows the lines of receipts, and keeps what it is told for
    /// others.
    pub fn of_lines<'l>(lines: impl IntoIterator<Item = &'l [u8]>, options: OutputOptions) -> Self {
        let book = JournalWriter::Told(Mutex::default());
        Self { book, past: JournalIndex::of_lines(lines), options, is_locked: false }
    }

    /// Reads the journal below an URL, if there is one. Nobody can lock it: several runs append to it,
    /// and the store refuses to write an object twice.
    ///
    /// # Errors
    ///
    /// Those of the store.
    #[cfg(feature = "cloud")]
    pub fn of_prefix(
        bucket: Arc<Bucket>,
        prefix: &Path,
        options: OutputOptions,
    ) -> io::Result<Self> {
        let log = ObjectLog::open(bucket, &prefix.join(JOURNAL))?;
        let (past, _) = JournalIndex::read(log.saved())?;
        let book = JournalWriter::Object(Mutex::new(log));
        Ok(Self { book, past, options, is_locked: true })
    }

    /// Returns whether an earlier run wrote a file, by its path below the folder.
    pub fn has_written(&self, below: &Path) -> bool {
        self.past.of(&path_body(below)).is_some()
    }

    /// Returns how the output `below` a folder, and what else its source became with it, stand to a
    /// source.
    ///
    /// # Errors
    ///
    /// The system's own, of reading the source.
    pub fn standing(
        &self,
        base: &Base,
        below: &Path,
        origin: &mut Origin<'_>,
    ) -> io::Result<Standing> {
        let never = Standing::Open(Replace::Never);
        let Some(known) = self.past.of(&path_body(below)) else { return Ok(never) };
        let Some(modified) = known.is_there(base, below) else { return Ok(never) };
        let is_whole = self.past.of_source(&known.source).all(|other| {
            ptr::eq(other, known)
                || other.options != known.options
                || other.is_there(base, &other.below).is_some()
        });
        let is_of_it = *known.source == *path_body(origin.path);
        let is_racy = known.modified + RACY >= modified;
        let is_as_it_was = match &origin.stat.etag {
            Some(etag) => is_etag(&known.source_etag, Some(etag)),
            None => is_of_it && known.has_times_of(&origin.stat) && !is_racy,
        };
        let is_unchanged = known.size == origin.stat.length
            && (is_as_it_was || origin.hash()? == Some(known.source_hash));
        let is_same =
            is_unchanged && self.options.are(&known.options, origin.salt) && known.status.is_done();
        Ok(match is_of_it || is_unchanged {
            true if is_same && is_whole => Standing::UpToDate(known.status),
            // Clients compact transcripts on the disk: what is gone there stands here alone.
            true if is_whole && origin.stat.length < known.size => {
                Standing::Open(Replace::KeepEach)
            }
            true if is_whole => Standing::Open(Replace::Own),
            _ => never,
        })
    }

    /// Returns what becomes of a file `below` a folder, if it is as it was written of the same source as
    /// a new one.
    pub fn own(&self, base: &Base, below: &Path, new: &JournalEntry) -> Option<Replace> {
        let known = self.past.of(&path_body(below))?;
        let is_own = *known.source == *path_body(&new.source);
        (is_own && known.is_there(base, below).is_some()).then_some(())?;
        // As in `standing`: the older output alone says what the source said.
        Some(if new.stat.length < known.size { Replace::KeepEach } else { Replace::Own })
    }

    /// Appends a line, in one write, unless the last line of a source that failed says the same.
    ///
    /// # Errors
    ///
    /// The system's own; then the journal ends with the line before it.
    pub fn append(&self, record: &JournalEntry) -> io::Result<()> {
        match self.past.has_failure(record, &self.options) {
            true => Ok(()),
            false => self.book.append(record, &self.options),
        }
    }

    /// Appends a line of a receipt, unless it says what is known.
    ///
    /// # Errors
    ///
    /// As of [`Journal::append`].
    pub fn append_new(&self, line: &[u8], scanner: &mut Scanner) -> io::Result<()> {
        let new = scanner.scan_slice(line, 0).ok().and_then(Known::of);
        match new {
            Some((target, new)) if self.past.of(&target) != Some(&new) => {
                self.book.append_line(&[line, b"\n"].concat())
            }
            _ => Ok(()),
        }
    }

    /// Brings the lines to the disk.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub fn sync(&self) -> io::Result<()> {
        self.book.sync()
    }

    /// Brings the last lines to where all of them are.
    ///
    /// # Errors
    ///
    /// Those of writing there.
    pub fn close(&self) -> io::Result<()> {
        self.book.close()
    }

    /// Returns what a worker's journal was told since this was asked last.
    pub fn take_told(&self) -> Vec<JournalEntry> {
        self.book.take_told()
    }
}

/// Returns the XXH3 of a file of so many bytes.
fn hash_of(mut file: impl Read, length: u64) -> io::Result<u64> {
    let mut hash = XxHash3_64::new();
    let mut buffer = vec![0; length.clamp(1, MAX_READ) as usize];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hash.finish()),
            Ok(n) => hash.write(&buffer[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
