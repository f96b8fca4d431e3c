//! The journal of a folder: a line for each file that was written to it, with its source and
//! options.
//!
//! In: a file `s1.jsonl` of 485 bytes, converted from `/src/s1.jsonl`. Out: a line, here with
//! breaks:
//!
//! ```text
//! {"v":1,"tool":"convert 0.1.0",
//!  "options":"--to clido --carry inline --subagents files --sdk-version 0.2.187 carry-version=2",
//!  "src":"/src/s1.jsonl","size":146,"mtime_ns":1795416752162463418,
//!  "ctime_ns":1795416752162463418,"inode":10076305,"src_xxh3":"19d7ac9e56af7cc7",
//!  "dst":"s1.jsonl","dst_len":485,"dst_xxh3":"a39609844d2619cd",
//!  "status":"Done","records":1,"lost":0,"damaged":0}
//! ```
//!
//! Hashes are hexadecimal, `src` is absolute, `dst` is below the folder and null if nothing was
//! written. `beside_xxh3` hashes the files beside the source, if the output depends on any. In a
//! store there are `src_etag` and `dst_etag`, and neither `ctime_ns` nor `inode`. Lines of version
//! 0.1.0 have `opts_hash` instead of `options` and `beside_xxh3`. A line is appended after its file
//! is on the disk under its name; the last line of a `dst` wins.
//!
//! Before the file gets its name, a shorter line is appended, by which a file of a killed run is
//! known:
//!
//! ```text
//! {"v":1,"begun":"s1.jsonl",
//!  "options":"--to clido --carry inline --subagents files --sdk-version 0.2.187 carry-version=2",
//!  "src":"/src/s1.jsonl","size":146,"dst_len":485,"dst_xxh3":"a39609844d2619cd"}
//! ```
//!
//! An object in a store has its origin in its own metadata instead, which are written with it: the version, the XXH3
//! of its source's path, the source's size, and its own size and XXH3.
//!
//! ```text
//! convertorigin: 1 5f2d6c0e9b1a7734 146 485 a39609844d2619cd
//! ```

mod begun;
mod carries;
mod entry;
mod index;
mod kept;
mod options;
mod root;
mod salt;
mod writer;

use std::{
    ffi::OsStr,
    fs::File,
    hash::Hasher,
    io::{self, Read, Seek},
    path::Path,
    ptr,
    sync::{Arc, Mutex},
};

use core_model::system_words;
use storage::{FILE_MODE, Folder, JOURNAL, Lock, Replace, lock};
use twox_hash::XxHash3_64;

use self::{
    begun::{move_lines, read_lines},
    entry::{JournaledFile, is_etag},
    index::JournalIndex,
    writer::{JournalWriter, LogFile},
};
use crate::{paths::path_body, record, status::FileStatus};

pub(crate) use self::begun::BegunLog;
pub(crate) use self::entry::{JournalLine, Origin};
pub(crate) use self::{
    carries::{GoneFile, JournaledCarries},
    entry::{JournalEntry, Written},
    salt::{Salt, SaltOfFiles},
};
#[cfg(feature = "cloud")]
use self::{entry::Candidate, index::own_of};
pub use self::{
    kept::KeptCopies,
    options::{OutputOptions, Spelled},
    root::OutputRoot,
};
#[cfg(feature = "cloud")]
use storage::Bucket;
#[cfg(feature = "cloud")]
use storage::ObjectLog;

/// Age limit of a change, in nanoseconds: a source that changed so shortly before its output was
/// written may have changed again within the same tick of the clock, so it is hashed.
const RACY: i128 = 1_000_000_000;

/// The number of bytes that are read at a time to hash a file.
const MAX_READ: u64 = 256 * 1024;

/// The journal of a folder. It is locked for as long as a run writes to the folder.
///
/// # When a file is converted again
///
/// A run compares the last line of an output with the folder and the source:
///
/// | the output and its source | the action |
/// |---|---|
/// | source, options and all outputs are as the line says | It does nothing: the output is up to date |
/// | no line; or the output, or another one of the same source, is gone or was edited; or it is of another source with other bytes | It writes a new file. Another file at the path is kept: the file is refused with [`ConvertError::Exists`], or with `--force` kept as `NAME.bak` |
/// | source, options or status are not as the line says | It replaces the output, which is a file of this program |
/// | likewise, and the source is smaller than the line says | It keeps the old output as `NAME.bak`, `NAME.bak2` and so on, because only the old one has the removed records |
///
/// A source with the same size, times and inode is the same. If only the times differ, its bytes are
/// hashed: a source that was only touched is up to date.
///
/// [`ConvertError::Exists`]: crate::ConvertError::Exists
#[derive(Debug)]
pub struct Journal {
    writer: JournalWriter,
    index: JournalIndex,
    options: OutputOptions,
    /// Whether no other run can write to the folder.
    pub is_locked: bool,
}

/// The reason why a folder's journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// The process with this id holds the lock.
    #[error("process {0} writes to this folder at the moment")]
    Busy(u32),
    /// An unknown process holds the lock.
    #[error("another run writes to this folder at the moment")]
    BusySomebody,
    /// The folder was written with these options.
    #[error(
        "what is there was written with other options ({0}); write to another folder, or convert \
         all anew with --force"
    )]
    OtherOptions(String),
    /// The folder or the store cannot be reached.
    #[error("{}", system_words(.0))]
    Place(io::Error),
    /// The journal cannot be read or written.
    #[error("{JOURNAL}: {}", system_words(.0))]
    Io(#[from] io::Error),
}

/// The state of an output before its source is converted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum OutputState {
    /// The output is current: converting the source would write the same bytes.
    UpToDate(FileStatus),
    /// The output must be written. An existing file is treated by this rule.
    Open(Replace),
}

impl Journal {
    /// Opens the journal of a folder or of a prefix in a store, to append the lines of receipts. It does not know the
    /// files that workers were about to write.
    ///
    /// # Errors
    ///
    /// As for [`Journal::open`]; also returns an error if the store fails.
    pub fn of_base(base: &OutputRoot, options: OutputOptions) -> Result<Self, Unusable> {
        match base {
            OutputRoot::Folder(folder) => Self::open_with(folder, options, false),
            #[cfg(feature = "cloud")]
            OutputRoot::Prefix(bucket, path) => Ok(Self::of_prefix(bucket.clone(), path, options)?),
        }
    }

    /// Opens and locks the journal of a folder. Creates it if it does not exist, and moves the lines of workers into
    /// it.
    ///
    /// # Errors
    ///
    /// Returns an error if another run holds the lock, or if the system does.
    pub fn open(folder: &Arc<Folder>, options: OutputOptions) -> Result<Self, Unusable> {
        Self::open_with(folder, options, true)
    }

    fn open_with(
        folder: &Arc<Folder>,
        options: OutputOptions,
        knows_begun: bool,
    ) -> Result<Self, Unusable> {
        let file = folder.append(OsStr::new(JOURNAL), FILE_MODE)?;
        let is_locked = match lock(&file)? {
            Lock::Held => true,
            Lock::Unknown => false,
            Lock::Other(Some(pid)) => return Err(Unusable::Busy(pid)),
            Lock::Other(None) => return Err(Unusable::BusySomebody),
        };
        Self::of_file(folder, file, is_locked, options, knows_begun)
    }

    /// Reads the journal of a folder. Without a lock, it changes no line that is there.
    fn of_file(
        folder: &Arc<Folder>,
        mut file: File,
        is_locked: bool,
        options: OutputOptions,
        knows_begun: bool,
    ) -> Result<Self, Unusable> {
        let metadata = file.metadata()?;
        if metadata.len() == 0 {
            // Its name must be on the disk before the lines in it.
            folder.sync()?;
        }
        file.rewind()?;
        let (mut index, end) = JournalIndex::read(&mut file)?;
        let is_torn = end < metadata.len();
        let begun_index = knows_begun.then_some(&mut index);
        let file = if is_locked {
            if is_torn {
                // The last run died in the middle of a line.
                file.set_len(end)?;
            }
            let mut file = LogFile::new(file);
            move_lines(folder, &mut file, begun_index);
            file
        } else {
            // Workers, or another run, may append at this moment: their lines are only read.
            if let Some(index) = begun_index {
                read_lines(folder, index);
            }
            LogFile::shared(file, is_torn)
        };
        Ok(Self { writer: JournalWriter::File(Mutex::new(file)), index, options, is_locked })
    }

    /// Reads the journal of a folder without a lock; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn peek(folder: &Folder, options: OutputOptions) -> io::Result<Option<Self>> {
        let mut file = match folder.read(OsStr::new(JOURNAL)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let (index, _) = JournalIndex::read(&mut file)?;
        let writer = JournalWriter::File(Mutex::new(LogFile::new(file)));
        Ok(Some(Self { writer, index, options, is_locked: false }))
    }

    /// Adds the files that workers were about to write to a journal that was read without a lock.
    pub fn with_begun(mut self, folder: &Arc<Folder>) -> Self {
        read_lines(folder, &mut self.index);
        self
    }

    /// Creates the journal of a worker. It knows the lines of receipts, and collects new lines for
    /// others to write. `begun` has the lines of files that are about to get their names.
    pub(crate) fn of_lines<'l>(
        lines: impl IntoIterator<Item = &'l [u8]>,
        begun: Option<Arc<BegunLog>>,
        options: OutputOptions,
    ) -> Self {
        let writer = JournalWriter::Collected(Mutex::default(), begun);
        Self { writer, index: JournalIndex::of_lines(lines), options, is_locked: false }
    }

    /// Reads the journal below an URL; an empty one if there is none. There are no locks in a
    /// store: several runs append, and the store rejects a write that would lose lines of another
    /// run.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails.
    #[cfg(feature = "cloud")]
    pub fn of_prefix(
        bucket: Arc<Bucket>,
        prefix: &Path,
        options: OutputOptions,
    ) -> io::Result<Self> {
        let log = ObjectLog::open(bucket, &prefix.join(JOURNAL))?;
        let (index, _) = JournalIndex::read(log.saved())?;
        let writer = JournalWriter::Object(Mutex::new(log));
        Ok(Self { writer, index, options, is_locked: true })
    }

    /// Returns whether an earlier run wrote a file, or was about to, by its path below the folder.
    pub fn has_written(&self, base: &OutputRoot, below: &Path) -> bool {
        let is_found = || self.writer.begun_log().is_some_and(|log| log.has_written(base, below));
        let is_object = || match base {
            OutputRoot::Folder(_) => false,
            #[cfg(feature = "cloud")]
            OutputRoot::Prefix(bucket, prefix) => {
                bucket.origin(&prefix.join(below)).is_ok_and(|origin| origin.is_some())
            }
        };
        self.index.has_written(below) || is_found() || is_object()
    }

    /// Compares the last line of the output at `below` with the folder and the source. The table is
    /// at [`Journal`].
    ///
    /// # Errors
    ///
    /// Returns an error if the source cannot be read.
    pub(crate) fn output_state(
        &self,
        base: &OutputRoot,
        below: &Path,
        origin: &mut Origin<'_>,
    ) -> io::Result<OutputState> {
        let never = OutputState::Open(Replace::Never);
        let Some(known) = self.index.of(&path_body(below)) else { return Ok(never) };
        let Some(modified) = known.is_there(base, below) else { return Ok(never) };
        let is_whole = self.index.of_source(&known.source).all(|other| {
            ptr::eq(other, known)
                || other.options != known.options
                || other.is_there(base, &other.below).is_some()
        });
        let is_of_it = *known.source == *path_body(origin.path);
        let is_racy = known.modified + RACY >= modified;
        let is_as_it_was = match &origin.stat.etag {
            Some(etag) => is_etag(&known.source_etag, Some(etag)),
            None => {
                let has_times = origin.has_change_times && known.has_times_of(&origin.stat);
                is_of_it && has_times && !is_racy
            }
        };
        let is_unchanged = known.size == origin.stat.length
            && (is_as_it_was || origin.hash()? == Some(known.source_hash));
        let is_same =
            is_unchanged && self.options.are(&known.options, origin.salt) && known.status.is_done();
        Ok(match is_of_it || is_unchanged {
            true if is_same && is_whole => OutputState::UpToDate(known.status),
            // Clients compact transcripts on the disk: only the older output has the removed
            // records.
            true if is_whole && origin.stat.length < known.size => {
                OutputState::Open(Replace::KeepEach)
            }
            true if is_whole => OutputState::Open(Replace::Own),
            _ => never,
        })
    }

    /// Returns the rule for replacing the file at `below`, if it is unchanged and was written from
    /// the same source as `new`, perhaps by a run that was killed before it had a line; otherwise `None`. A worker also
    /// knows the files of the folder's journal and of other workers.
    pub fn own(&self, base: &OutputRoot, below: &Path, new: &JournalEntry) -> Option<Replace> {
        let own = self.index.own(base, below, new);
        let own = own.or_else(|| self.writer.begun_log()?.own(base, below, new));
        #[cfg(feature = "cloud")]
        let own = own.or_else(|| {
            let OutputRoot::Prefix(bucket, prefix) = base else { return None };
            let origin = bucket.origin(&prefix.join(below)).ok()??;
            own_of(&[Candidate::of_origin(&origin, &new.source)?], base, below, new)
        });
        own
    }

    /// Appends lines of files that are about to get their names, in one write. If the run is killed before their
    /// own lines are there, the next run knows by them that the files are its own. Skips lines of an earlier run, so
    /// that the journal does not grow with each run while a file of somebody else has the name. If `is_synced`, they are on the
    /// disk before the names, so that this also holds after a power cut.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn begin<'r>(
        &self,
        records: impl Iterator<Item = &'r JournalEntry>,
        is_synced: bool,
    ) -> io::Result<()> {
        let mut has_known = false;
        let new = records.filter(|record| {
            let is_known = self.index.has_begun(record, &self.options);
            has_known |= is_known;
            !is_known
        });
        let has_new = self.writer.begin(new, &self.options)?;
        // A killed run may have written the known lines without a sync.
        if (has_new || has_known) && is_synced { self.writer.sync_file() } else { Ok(()) }
    }

    /// Appends lines in one write. Skips a failure that equals the last line of its source.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does. The journal then ends as before.
    pub fn append<'r>(&self, records: impl Iterator<Item = &'r JournalEntry>) -> io::Result<()> {
        let is_new = |record: &&JournalEntry| !self.index.has_failure(record, &self.options);
        self.writer.append(records.filter(is_new), &self.options)
    }

    /// Appends a line of a receipt. Skips a line that equals the last line of its file.
    ///
    /// # Errors
    ///
    /// As for [`Journal::append`].
    pub fn append_new(&self, line: &[u8]) -> io::Result<()> {
        let Some(read) = record::read(line) else { return Ok(()) };
        let is_new =
            |(target, new): (Arc<str>, JournaledFile)| self.index.of(&target) != Some(&new);
        if JournaledFile::of(&read).is_some_and(is_new) {
            self.writer.append_line(&[line, b"\n"].concat())
        } else {
            Ok(())
        }
    }

    /// Syncs the lines to the disk.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn sync(&self) -> io::Result<()> {
        self.writer.sync()
    }

    /// Writes the last lines to the store.
    ///
    /// # Errors
    ///
    /// Returns an error if the store does.
    pub fn close(&self) -> io::Result<()> {
        self.writer.close()
    }

    /// Returns the lines of a worker's journal since the last call.
    pub fn take_collected(&self) -> Vec<JournalEntry> {
        self.writer.take_collected()
    }
}

/// Returns the XXH3 of the first `length` bytes of a file.
pub(crate) fn hash_of(mut file: impl Read, length: u64) -> io::Result<u64> {
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const LINE: &str = concat!(
        r#"{"v":1,"begun":"s1.jsonl","src":"/in/s1.jsonl","size":1,"options":"","#,
        r#""dst_len":1,"dst_xxh3":"0000000000000001"}"#,
        "\n"
    );

    #[test]
    fn a_file_that_is_refused_in_each_run_has_one_line() {
        let scratch = tempfile::tempdir().expect("a folder");
        let root = Folder::open(scratch.path()).expect("opened");
        let written = |length| Written {
            below: "s1.jsonl".into(),
            length,
            hash: 7,
            sha256: None,
            etag: None,
        };
        let entry = |length| JournalEntry {
            source: "/in/s1.jsonl".into(),
            stat: storage::Stat { length: 5, ..Default::default() },
            source_hash: 3,
            salt: Salt::default(),
            written: Some(written(length)),
            status: FileStatus::Done,
            records: 1,
            lost: 0,
            damaged: 0,
            carries: 0,
        };
        let n_lines = [(1, "--to clido"), (1, "--to clido"), (2, "--to clido"), (2, "--to pi")];
        let n_lines = n_lines.map(|(length, words)| {
            let journal = Journal::open(&root, OutputOptions::of_words(words, 9)).expect("opened");
            journal.begin([entry(length)].iter(), true).expect("appended");
            fs::read_to_string(scratch.path().join(JOURNAL)).expect("read").lines().count()
        });
        assert_eq!(n_lines, [1, 1, 2, 3]);
    }

    /// Another run or a worker may append to the journal, because the file system has no locks.
    #[test]
    fn without_a_lock_the_lines_of_others_are_known_and_stay() {
        let scratch = tempfile::tempdir().expect("a folder");
        let root = Folder::open(scratch.path()).expect("opened");
        let begun = scratch.path().join(storage::RECEIPTS).join("begun/1-9f3c0a7e.jsonl");
        fs::create_dir_all(begun.parent().expect("a folder")).expect("made");
        fs::write(&begun, LINE).expect("written");
        let path = scratch.path().join(JOURNAL);
        fs::write(&path, "{\"v\":1,\"beg").expect("written");
        let file = root.append(OsStr::new(JOURNAL), FILE_MODE).expect("opened");
        let options = OutputOptions::of_words("", 0);
        let journal = Journal::of_file(&root, file, false, options, true).expect("read");
        assert!(journal.index.has_written(Path::new("s1.jsonl")));
        assert_eq!(fs::read(&begun).expect("stays"), LINE.as_bytes());
        journal.writer.append_line(b"{}\n").expect("appended");
        assert_eq!(fs::read_to_string(&path).expect("read"), "{\"v\":1,\"beg\n{}\n");
    }
}
