//! The folders of files that may have lost their sidecar, read once for all files of a folder.
//!
//! In: the path of a file without a carry. Out: whether the journal of its folder lists its sidecar, and the sidecars in
//! the folder whose files are not there.

use std::{
    collections::HashMap,
    ffi::OsStr,
    fs::File,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use storage::{Compression, Folder, JOURNAL, SIDECAR, list};

use crate::journal::{GoneFile, JournaledCarries, hash_of};

/// Limit on the sidecars of one folder that are compared with a file.
const MAX_STRAYS: usize = 16;

/// Limit in bytes for the journal of a folder. Anyone may leave a larger one in a folder above the files.
const MAX_JOURNAL: u64 = 64 * 1024 * 1024;

/// Limit on the folders that are kept. Files come folder by folder.
const MAX_FOLDERS: usize = 1_024;

/// A converted file that is gone, or its sidecar, which is there.
#[derive(Clone, Debug)]
pub struct Gone {
    /// Its name.
    pub label: String,
    /// The consequence.
    pub(crate) why: &'static str,
}

/// The folders of files without a carry: their journals, and their sidecars without a file.
#[derive(Debug, Default)]
pub(crate) struct CarryFolders {
    journals: Mutex<HashMap<PathBuf, Option<Arc<JournaledCarries>>>>,
    strays: Mutex<HashMap<PathBuf, Arc<[PathBuf]>>>,
}

impl CarryFolders {
    /// Returns whether the nearest journal says that a file was written with a sidecar.
    pub(crate) fn had_sidecar(&self, path: &Path) -> bool {
        self.in_nearest(path, |journal, below| journal.has(below)).unwrap_or_default()
    }

    /// Returns whether the nearest journal says that a file was written with carries, in another format than `to`.
    pub(crate) fn had_carries(&self, path: &Path, to: &str) -> bool {
        self.in_nearest(path, |journal, below| journal.has_carries(below, to)).unwrap_or_default()
    }

    /// Returns whether a file has the bytes that the nearest journal lists; `None` if it lists none, or the file cannot be
    /// read.
    pub(crate) fn is_as_listed(&self, path: &Path) -> Option<bool> {
        let (length, hash) = self.in_nearest(path, JournaledCarries::content)??;
        let file = File::open(path).ok()?;
        let is_it = file.metadata().ok()?.len() == length;
        Some(is_it && hash_of(file, length).ok()? == hash)
    }

    /// Returns the files with carries, in another format than `to`, that the journal of a folder lists and that are gone.
    pub(crate) fn gone(&self, folder: &Path, to: &str) -> Vec<GoneFile> {
        let found = self.journal(folder).zip(open_journal(folder));
        let gone = found.and_then(|(journal, file)| journal.gone(file, folder, to).ok());
        gone.unwrap_or_default()
    }

    /// Returns the answer of the nearest journal about a file, by its path below the journal's folder; `None` if there is
    /// no journal.
    fn in_nearest<T>(&self, path: &Path, ask: impl Fn(&JournaledCarries, &Path) -> T) -> Option<T> {
        path.ancestors().skip(1).find_map(|folder| {
            let below = path.strip_prefix(folder).ok()?;
            Some(ask(&*self.journal(folder)?, below))
        })
    }

    /// Returns the files with carries in the journal of a folder; `None` if it has none that can be read.
    fn journal(&self, folder: &Path) -> Option<Arc<JournaledCarries>> {
        let mut journals = self.journals.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(journal) = journals.get(folder) {
            return journal.clone();
        }
        let journal = open_journal(folder).and_then(|file| JournaledCarries::read(file).ok());
        let journal = journal.map(Arc::new);
        make_room(&mut journals);
        journals.insert(folder.to_owned(), journal.clone());
        journal
    }

    /// Returns the first sidecars in a folder whose files are not there.
    pub(crate) fn strays(&self, folder: &Path) -> Arc<[PathBuf]> {
        let mut strays = self.strays.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = strays.get(folder) {
            return Arc::clone(found);
        }
        let entries = list(folder).unwrap_or_default();
        let paths = entries.into_iter().map(|entry| folder.join(entry.name));
        let found = paths.filter(|path| is_stray(path)).take(MAX_STRAYS).collect::<Arc<[_]>>();
        make_room(&mut strays);
        strays.insert(folder.to_owned(), Arc::clone(&found));
        found
    }
}

/// Opens the journal of a folder; `None` if it is no regular file, such as a pipe, which would never end, or too large.
fn open_journal(folder: &Path) -> Option<File> {
    let file = Folder::open(folder).ok()?.read(OsStr::new(JOURNAL)).ok()?;
    (file.metadata().ok()?.len() <= MAX_JOURNAL).then_some(file)
}

fn make_room<T>(folders: &mut HashMap<PathBuf, T>) {
    if folders.len() >= MAX_FOLDERS {
        folders.clear();
    }
}

/// Returns whether a path is of a sidecar whose file is not there, compressed or not.
fn is_stray(path: &Path) -> bool {
    if path.extension().is_none_or(|ending| ending != SIDECAR) {
        return false;
    }
    let bare = Compression::bare_path(&path.with_extension(""));
    let packed = Compression::ENDINGS.iter().map(|ending| storage::beside(&bare, ending));
    !packed.chain([bare.clone()]).any(|file| file.symlink_metadata().is_ok())
}
