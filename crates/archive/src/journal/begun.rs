//! The log of outputs that workers are about to name: one file for each worker.
//!
//! Workers share a folder, and none of them writes its journal. Each one appends these lines to a file of its own:
//!
//! ```text
//! append  .convert-receipts/begun/14610-9f3c0a7e.jsonl   {"v":1,"begun":"s1.jsonl",..}
//! fsync   .convert-receipts/begun/14610-9f3c0a7e.jsonl
//! rename  .s1.jsonl.tmp-14610-32b66833-09f5685f  s1.jsonl
//!
//! append  .convert-journal.jsonl                         {"v":1,"begun":"s1.jsonl",..}
//! remove  .convert-receipts/begun/14610-9f3c0a7e.jsonl
//! ```
//!
//! The file stays when the worker ends, because receipts are not flushed: after a power cut, its lines alone show that
//! the outputs are of this program. The next run over the folder, or `merge`, moves the lines into the journal.

use std::{
    collections::{HashMap, hash_map::RandomState},
    ffi::{OsStr, OsString},
    hash::BuildHasher,
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    process,
    sync::{Arc, Mutex},
};

use jsonl::Stream;
use storage::{FILE_MODE, Folder, JOURNAL, RECEIPTS, Replace};

use super::{
    JournalEntry, OutputRoot,
    entry::Candidate,
    index::{JournalIndex, own_of},
    writer::{LogFile, locked},
};

/// The folder of the workers' logs, below the receipts.
const BEGUN: &str = "begun";

/// Lines are moved in pieces of about this many bytes.
const MAX_MOVED: usize = 256 * 1024;

/// The lines that a worker appends, and the lines that it finds in its output folder.
#[derive(Debug)]
pub(crate) struct BegunLog {
    root: Arc<Folder>,
    own: Mutex<Option<OwnFile>>,
    found: Mutex<Found>,
}

/// The file of this worker.
#[derive(Debug)]
struct OwnFile {
    file: LogFile,
    /// The folders that must be flushed once, so that the file's name is on the disk.
    unsynced: Vec<Arc<Folder>>,
}

/// The lines of the journal and of all workers, as far as they were read.
#[derive(Debug, Default)]
struct Found {
    index: JournalIndex,
    has_journal: bool,
    /// The number of bytes that were read of each file.
    n_read: HashMap<OsString, u64>,
}

impl BegunLog {
    /// Creates the log of a worker. Its file is created with the first lines.
    pub(crate) fn below(root: Arc<Folder>) -> Self {
        Self { root, own: Mutex::default(), found: Mutex::default() }
    }

    /// Appends lines, in one write.
    pub(super) fn append(&self, lines: &[u8]) -> io::Result<()> {
        let mut own = locked(&self.own);
        let own = match &mut *own {
            Some(own) => own,
            none => none.insert(OwnFile::create(&self.root)?),
        };
        own.file.append(lines)
    }

    /// Syncs the lines to the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        let mut own = locked(&self.own);
        let Some(own) = &mut *own else { return Ok(()) };
        own.file.sync()?;
        own.unsynced.iter().try_for_each(|folder| folder.sync())?;
        own.unsynced.clear();
        Ok(())
    }

    /// Returns the rule for replacing a file, as [`super::Journal::own`] does, by the lines of the journal and of all
    /// workers.
    pub(super) fn own(
        &self,
        base: &OutputRoot,
        below: &Path,
        new: &JournalEntry,
    ) -> Option<Replace> {
        // Without a file, the logs need not be read.
        base.read(below).ok()?;
        // No lock is held while an output is hashed.
        let candidates = || locked(&self.found).index.candidates(below, new);
        let known = candidates();
        own_of(&known, base, below, new).or_else(|| {
            self.read_new();
            // The file was compared with the others above.
            let is_new = |it: &Candidate| known.iter().all(|old| old.content != it.content);
            let later: Vec<_> = candidates().into_iter().filter(is_new).collect();
            own_of(&later, base, below, new)
        })
    }

    /// Returns whether a file is there that an earlier run or worker wrote, or was about to.
    pub(super) fn has_written(&self, base: &OutputRoot, below: &Path) -> bool {
        // In most cases, there is no file.
        if base.read(below).is_err() {
            return false;
        }
        let is_known = || locked(&self.found).index.has_written(below);
        is_known() || {
            self.read_new();
            is_known()
        }
    }

    /// Reads the lines since the last call.
    fn read_new(&self) {
        locked(&self.found).read_new(&self.root);
    }
}

impl OwnFile {
    fn create(root: &Arc<Folder>) -> io::Result<Self> {
        let receipts = root.create_below(Path::new(RECEIPTS))?;
        let folder = receipts.create_below(Path::new(BEGUN))?;
        loop {
            // Each `RandomState` has new keys.
            let random = RandomState::new().hash_one(process::id()) as u32;
            let name = format!("{}-{random:08x}.jsonl", process::id());
            match folder.make(OsStr::new(&name), FILE_MODE) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                // Another worker may have created a folder and not flushed it.
                file => {
                    return Ok(Self {
                        file: LogFile::new(file?),
                        unsynced: vec![folder, receipts, root.clone()],
                    });
                }
            }
        }
    }
}

impl Found {
    /// Reads the journal once, and the new lines of all workers. A file that cannot be read has no lines: an output
    /// that nobody knows is not replaced.
    fn read_new(&mut self, root: &Arc<Folder>) {
        let mut index = JournalIndex::default();
        if !self.has_journal
            && let Ok(journal) = root.read(OsStr::new(JOURNAL))
            && index.take_lines(journal).is_ok()
        {
            (self.index, self.has_journal) = (index, true);
            // If the journal could not be read before, the lines of workers are in the old index.
            self.n_read.clear();
        }
        let Ok(Some(folder)) = folder(root) else { return };
        for name in names(&folder) {
            let n_read = self.n_read.entry(name.clone()).or_default();
            let lines = folder.read(&name).and_then(|mut file| {
                file.seek(SeekFrom::Start(*n_read))?;
                Ok(file)
            });
            *n_read += lines.and_then(|lines| self.index.take_lines(lines)).unwrap_or_default();
        }
    }
}

/// Moves the lines of all workers to the end of a journal, and into its index if there is one. The caller holds the lock
/// of the journal, so no worker appends lines. A file whose lines cannot be moved stays, for the next run.
pub(super) fn move_lines(
    root: &Arc<Folder>,
    journal: &mut LogFile,
    index: Option<&mut JournalIndex>,
) {
    let Ok(Some(folder)) = folder(root) else { return };
    if let Some(index) = index {
        read_lines(root, index);
    }
    let mut is_moved = |name: &OsString| folder.read(name).and_then(|it| copy_lines(it, journal));
    let moved: Vec<_> = names(&folder).into_iter().filter(|name| is_moved(name).is_ok()).collect();
    if journal.sync().is_ok() {
        for name in &moved {
            _ = folder.remove(name);
        }
        if let Ok(receipts) = root.below(Path::new(RECEIPTS)) {
            // A folder with files in it stays.
            _ = receipts.remove_folder(OsStr::new(BEGUN));
        }
    }
}

/// Adds the lines of all workers to the index of a journal.
pub(super) fn read_lines(root: &Arc<Folder>, index: &mut JournalIndex) {
    let Ok(Some(folder)) = folder(root) else { return };
    for name in names(&folder) {
        _ = folder.read(&name).and_then(|lines| index.take_lines(lines));
    }
}

/// Appends the whole lines of a file to a journal.
fn copy_lines(from: impl Read, journal: &mut LogFile) -> io::Result<()> {
    let (mut stream, mut lines) = (Stream::new(from), Vec::new());
    while let Some(line) = stream.next()?.filter(|line| line.is_terminated()) {
        lines.extend_from_slice(line.bytes());
        if lines.len() >= MAX_MOVED {
            journal.append(&lines)?;
            lines.clear();
        }
    }
    journal.append(&lines)
}

/// Opens the folder of the workers' logs; `None` if there is none.
fn folder(root: &Arc<Folder>) -> io::Result<Option<Arc<Folder>>> {
    match root.below(&PathBuf::from(RECEIPTS).join(BEGUN)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        folder => folder.map(Some),
    }
}

/// Returns the names of the workers' logs. Other files are not ours.
fn names(folder: &Folder) -> Vec<OsString> {
    let entries = folder.entries().unwrap_or_default().into_iter();
    let mut names: Vec<_> = entries.map(|entry| entry.name).filter(|name| is_log(name)).collect();
    names.sort_unstable();
    names
}

/// Returns whether a name is one that [`OwnFile::create`] gives.
fn is_log(name: &OsStr) -> bool {
    let parts = || name.to_str()?.strip_suffix(".jsonl")?.split_once('-');
    parts().is_some_and(|(pid, random)| {
        let is_random = random.len() == 8 && random.bytes().all(|it| it.is_ascii_hexdigit());
        pid.bytes().all(|it| it.is_ascii_digit()) && pid.parse::<u32>().is_ok() && is_random
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const LINE: &[u8] = b"{\"v\":1,\"begun\":\"s1.jsonl\",\"src\":\"/in/s1.jsonl\",\"size\":1,\"options\":\"\",\"dst_len\":1,\"dst_xxh3\":\"0000000000000001\"}\n";

    #[test]
    fn lines_of_workers_outlast_a_journal_that_is_read_later() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Folder::open(folder.path()).expect("opened");
        BegunLog::below(root.clone()).append(LINE).expect("appended");
        let mut found = Found::default();
        for has_journal in [false, true, true] {
            found.read_new(&root);
            assert_eq!(found.has_journal, has_journal);
            assert!(found.index.has_written(Path::new("s1.jsonl")));
            fs::write(folder.path().join(JOURNAL), "").expect("written");
        }
    }

    #[test]
    fn only_the_logs_of_workers_are_moved() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Folder::open(folder.path()).expect("opened");
        BegunLog::below(root.clone()).append(LINE).expect("appended");
        let begun = folder.path().join(RECEIPTS).join(BEGUN);
        let others = ["+1-9f3c0a7e.jsonl", "1-9f3c0a7.jsonl", "1-9f3c0a7e", "notes.jsonl"];
        for name in others {
            fs::write(begun.join(name), "mine\n").expect("written");
        }
        let path = folder.path().join(JOURNAL);
        let mut journal = LogFile::new(fs::File::create(&path).expect("created"));
        move_lines(&root, &mut journal, None);
        assert_eq!(fs::read(path).expect("read"), LINE);
        let left = fs::read_dir(&begun).expect("listed").flatten().map(|it| it.file_name());
        let mut left: Vec<_> = left.collect();
        left.sort_unstable();
        assert_eq!(left, others);
    }
}
