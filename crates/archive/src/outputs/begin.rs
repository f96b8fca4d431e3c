//! Creates output files under temporary names.

use std::{
    collections::HashMap,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::{Arc, MutexGuard, PoisonError},
};

use storage::{AtomicFile, Compression, Folder, Place, Scratch, unwritten};

use super::RunOutputs;

#[cfg(feature = "cloud")]
use storage::Backend;

/// Limit on the folders that are held open between two files.
const MAX_FOLDERS: usize = 32;

/// Files that are written at the same time, each opened only to write its buffer.
#[derive(Debug, Default)]
pub struct PendingFiles {
    n_files: usize,
    folders: HashMap<PathBuf, Arc<Folder>>,
}

impl PendingFiles {
    /// Creates the state of `n_files` files.
    pub fn new(n_files: usize) -> Self {
        Self { n_files, folders: HashMap::new() }
    }
}

impl RunOutputs {
    /// Creates the file for a path, with at most the permissions of `mode`.
    ///
    /// # Errors
    ///
    /// Returns an error if the path leads out of the output folder or through a link, or if the
    /// system does.
    pub fn create(&self, path: &Path, mode: u32) -> io::Result<AtomicFile> {
        self.create_packed(path, mode, None)
    }

    /// Creates a file as [`RunOutputs::create`] does, with the compression of the run.
    ///
    /// # Errors
    ///
    /// As for [`RunOutputs::create`].
    pub(crate) fn create_packed(
        &self,
        path: &Path,
        mode: u32,
        compression: Option<Compression>,
    ) -> io::Result<AtomicFile> {
        let options = self.file_options(compression);
        if self.write_options.is_dry_run {
            return AtomicFile::create_for_dry_run(&self.storage, path, options);
        }
        #[cfg(feature = "cloud")]
        if let Backend::Bucket(bucket) = &self.storage {
            let pending = AtomicFile::of_object(bucket, path, options);
            return pending.map_err(|error| unwritten(error, path));
        }
        let create = || self.place(path).and_then(|it| AtomicFile::create(it, mode, options));
        let mut pending = create();
        let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        if pending.as_ref().is_err_and(is_gone) && self.forget_folders() {
            // Somebody removed a folder that was held open.
            pending = create();
        }
        pending.map_err(|error| unwritten(error, path))
    }

    /// Creates a file as [`RunOutputs::create`] does that is opened only to write its buffer, so that
    /// any number can be pending, and whose folder is opened once for all files of `pending`.
    ///
    /// # Errors
    ///
    /// As for [`RunOutputs::create`].
    pub fn create_shut(
        &self,
        path: &Path,
        mode: u32,
        pending: &mut PendingFiles,
    ) -> io::Result<AtomicFile> {
        let PendingFiles { n_files, folders } = pending;
        let (n_files, options) = (*n_files, self.file_options(None));
        if self.write_options.is_dry_run {
            let scratch = self.scratch()?;
            let storage = &self.storage;
            return AtomicFile::create_shut_for_dry_run(storage, path, &scratch, n_files, options);
        }
        if !self.storage.is_disk() {
            return self.create(path, mode);
        }
        let mut place = || {
            let above = path.parent().unwrap_or(Path::new(""));
            if let (Some(folder), Some(name)) = (folders.get(above), path.file_name()) {
                return Ok(Place { folder: folder.clone(), name: name.to_owned() });
            }
            let place = self.place(path)?;
            folders.insert(above.to_owned(), place.folder.clone());
            Ok(place)
        };
        let file = place().and_then(|it| AtomicFile::create_shut(it, mode, n_files, options));
        file.map_err(|error| unwritten(error, path))
    }

    /// Returns the folder for files of a dry run, which is created once.
    fn scratch(&self) -> io::Result<Arc<Scratch>> {
        let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(scratch) = &*scratch {
            return Ok(scratch.clone());
        }
        let made = Arc::new(Scratch::new()?);
        *scratch = Some(made.clone());
        Ok(made)
    }

    fn place(&self, path: &Path) -> io::Result<Place> {
        let Some(root) = &self.root else { return Place::of(path) };
        let below = root.strip(path);
        // Paths are compared component by component, which takes longer than bytes.
        let above = below.parent().unwrap_or(Path::new("")).as_os_str();
        let known = self.held_folders().get(above).cloned();
        if let (Some(folder), Some(name)) = (known, below.file_name()) {
            return Ok(Place { folder, name: name.to_owned() });
        }
        let place = Place::below(root.folder()?, below)?;
        let mut folders = self.held_folders();
        if folders.len() < MAX_FOLDERS {
            folders.insert(above.to_owned(), place.folder.clone());
        }
        Ok(place)
    }

    fn held_folders(&self) -> MutexGuard<'_, HashMap<OsString, Arc<Folder>>> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the folders that are held open for the files of a batch. Returns whether there were any.
    pub(super) fn forget_folders(&self) -> bool {
        !std::mem::take(&mut *self.held_folders()).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write};

    use storage::Interruption;

    use super::*;

    #[test]
    fn a_held_folder_that_was_removed_is_made_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let outputs = RunOutputs::below(folder.path(), false, Interruption::default());
        let outputs = outputs.expect("opened");
        let above = folder.path().join("p1");
        for name in ["a.jsonl", "b.jsonl"] {
            let mut file = outputs.create(&above.join(name), 0o600).expect("created");
            file.write_all(b"{}\n").expect("written");
            assert_eq!(outputs.held_folders().len(), 1);
            drop(file);
            fs::remove_dir_all(&above).expect("removed");
        }
        assert!(outputs.forget_folders() && !outputs.forget_folders());
    }
}
