//! Creates output files under temporary names.

use std::{
    collections::HashMap,
    ffi::OsString,
    io,
    path::Path,
    sync::{Arc, MutexGuard, PoisonError, Weak},
};

use storage::{AtomicFile, Compression, Folder, Place, Scratch, unwritten};

use super::RunOutputs;

#[cfg(feature = "cloud")]
use storage::Backend;

/// The open folders of unpublished files, by their paths.
pub(super) type OpenFolders = HashMap<OsString, Weak<Folder>>;

/// The number of open folders from which closed ones are removed.
const MANY_FOLDERS: usize = 64;

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
        self.create_at(path, None, |place| AtomicFile::create(place, mode, options))
    }

    /// Creates a file with `create`, in a folder that may be open, beside a main file or on its own.
    fn create_at(
        &self,
        path: &Path,
        main: Option<&Path>,
        create: impl Fn(Place) -> io::Result<AtomicFile>,
    ) -> io::Result<AtomicFile> {
        let (place, is_held) = self.place(path, main).map_err(|error| unwritten(error, path))?;
        let mut file = create(place);
        if is_held && file.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            // Somebody removed the folder.
            self.open_folders().clear();
            file = self.place(path, main).and_then(|(place, _)| create(place));
        }
        file.map_err(|error| unwritten(error, path))
    }

    /// Creates a file as [`RunOutputs::create`] does that is opened only to write its buffer, so that
    /// any number can be pending. If `n_files` are, their buffers are small.
    ///
    /// # Errors
    ///
    /// As for [`RunOutputs::create`].
    pub fn create_shut(&self, path: &Path, mode: u32, n_files: usize) -> io::Result<AtomicFile> {
        self.create_shut_at(path, None, mode, n_files)
    }

    /// Creates a file as [`RunOutputs::create_shut`] does beside the main file at `main`. Below the folder of
    /// the main file, which the user named, no link is followed.
    ///
    /// # Errors
    ///
    /// As for [`RunOutputs::create`].
    pub(crate) fn create_beside(
        &self,
        main: &Path,
        path: &Path,
        mode: u32,
        n_files: usize,
    ) -> io::Result<AtomicFile> {
        self.create_shut_at(path, Some(main), mode, n_files)
    }

    fn create_shut_at(
        &self,
        path: &Path,
        main: Option<&Path>,
        mode: u32,
        n_files: usize,
    ) -> io::Result<AtomicFile> {
        let options = self.file_options(None);
        if self.write_options.is_dry_run {
            let scratch = self.scratch()?;
            let storage = &self.storage;
            return AtomicFile::create_shut_for_dry_run(storage, path, &scratch, n_files, options);
        }
        if !self.storage.is_disk() {
            return self.create(path, mode);
        }
        self.create_at(path, main, |place| AtomicFile::create_shut(place, mode, n_files, options))
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

    /// Returns the place of a file, and whether another unpublished file holds its folder open.
    fn place(&self, path: &Path, main: Option<&Path>) -> io::Result<(Place, bool)> {
        // Paths are compared component by component, which takes longer than bytes.
        let above = path.parent().unwrap_or(Path::new("")).as_os_str();
        let held = self.open_folders().get(above).and_then(Weak::upgrade);
        if let (Some(folder), Some(name)) = (held, path.file_name()) {
            return Ok((Place { folder, name: name.to_owned() }, true));
        }
        let folder = main.map(|main| main.parent().unwrap_or(Path::new("")));
        let below = folder.and_then(|folder| Some((folder, path.strip_prefix(folder).ok()?)));
        let place = match (&self.root, below) {
            (Some(root), _) => Place::below(root.folder()?, root.strip(path)),
            (None, Some((folder, below))) => Place::below(&Folder::create(folder)?, below),
            (None, None) => Place::of(path),
        }?;
        let mut folders = self.open_folders();
        if folders.len() >= MANY_FOLDERS {
            folders.retain(|_, folder| folder.strong_count() > 0);
        }
        folders.insert(above.to_owned(), Arc::downgrade(&place.folder));
        Ok((place, false))
    }

    fn open_folders(&self) -> MutexGuard<'_, OpenFolders> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write as _};

    use storage::{Interruption, Replace, Scratch};

    use super::*;
    use crate::outputs::{Durability, PublishSet};

    #[test]
    fn a_folder_is_opened_once_and_made_again_if_it_is_gone() {
        let folder = tempfile::tempdir().expect("a folder");
        let outputs = RunOutputs::below(folder.path(), false, Interruption::default());
        let outputs = outputs.expect("opened");
        let above = folder.path().join("p1");
        let create = |name: &str| outputs.create(&above.join(name), 0o600).expect("created");
        let is_held = || outputs.place(&above.join("c.jsonl"), None).expect("a place").1;
        assert!(!is_held());
        let mut files = vec![create("a.jsonl")];
        assert!(is_held());
        fs::remove_dir_all(&above).expect("removed");
        files.push(create("b.jsonl"));
        assert_eq!(fs::read_dir(&above).expect("made again").count(), 1);
        assert!(is_held());
        drop(files);
        assert!(!is_held());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_beside_a_main_file_is_not_followed() {
        let scratch = tempfile::tempdir().expect("a folder");
        let (main, other) = (scratch.path().join("s1.jsonl"), scratch.path().join("other"));
        fs::create_dir(&other).expect("made");
        std::os::unix::fs::symlink(&other, scratch.path().join("s1")).expect("linked");
        let outputs = RunOutputs::anywhere(false, Interruption::default());
        let path = scratch.path().join("s1/tool-results/a.txt");
        assert!(outputs.create_beside(&main, &path, 0o600, 1).is_err());
        assert_eq!(fs::read_dir(&other).expect("a folder").count(), 0);
        let path = scratch.path().join("s2/tool-results/a.txt");
        assert!(outputs.create_beside(&main, &path, 0o600, 1).is_ok());
    }

    /// Two workers may convert the same source, which has shrunk.
    #[test]
    fn files_that_another_worker_has_written_in_the_meantime_are_not_kept_as_older_ones() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.jsonl");
        let names = ["a.jsonl.carry", "a.jsonl"].map(|name| folder.path().join(name));
        let write = |texts: [&str; 2]| {
            let outputs = RunOutputs::below(folder.path(), false, Interruption::default());
            let outputs = outputs.expect("opened");
            let files = names.iter().zip(texts).map(|(path, text)| {
                let mut file = outputs.create(path, 0o600).expect("created");
                file.write_all(text.as_bytes()).expect("written");
                file.finish().expect("finished")
            });
            let set = PublishSet::new(files.collect(), Replace::KeepEach);
            outputs.publish_set(&path, set).expect("published");
        };
        let n_files = || fs::read_dir(folder.path()).expect("a folder").count();
        write(["same", "long"]);
        write(["same", "short"]);
        assert_eq!(n_files(), 4, "an equal sidecar is kept with its main file");
        write(["same", "short"]);
        assert_eq!(n_files(), 4);
        assert_eq!(fs::read(folder.path().join("a.jsonl.bak")).expect("kept"), b"long");
    }

    #[test]
    fn files_in_a_scratch_folder_are_published_without_a_flush() {
        let scratch = Scratch::new().expect("a folder");
        let outputs = RunOutputs::anywhere(false, Interruption::default());
        let main = scratch.path().join("s1.jsonl");
        let outputs = outputs.in_scratch(&scratch, &main, &main).expect("opened");
        assert_eq!(outputs.write_options.durability, Durability::None);
        let path = scratch.path().join("a.jsonl");
        let mut file = outputs.create(&path, 0o600).expect("created");
        file.write_all(b"{}\n").expect("written");
        outputs.publish(vec![file.finish().expect("finished")]).expect("published");
        assert_eq!(fs::read(&path).expect("there"), b"{}\n");
    }
}
