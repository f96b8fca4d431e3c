//! Creates output files under temporary names.

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError},
};

use storage::{AtomicFile, Compression, Folder, Place, Scratch, unwritten};

use super::RunOutputs;

#[cfg(feature = "cloud")]
use storage::Backend;

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
        let pending = self.place(path);
        let pending = pending.and_then(|place| AtomicFile::create(place, mode, options));
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
        match &self.root {
            Some(root) => Place::below(root.folder()?, root.strip(path)),
            None => Place::of(path),
        }
    }
}
