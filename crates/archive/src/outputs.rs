//! The outputs of a run: their paths, and how and when they are published.

mod batch;
mod begin;
mod dir;
mod entries;
pub(crate) mod images;
pub(crate) mod lazy;
mod restore_folder;
pub(crate) mod restored;
mod state;

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use storage::{
    Asked, AtomicFileOptions, Backend, Compression, Encoder, Finished, Identity, Interruptible,
    Interruption, Replace, Scratch,
};

use self::{
    batch::{Batch, Item},
    begin::OpenFolders,
    dir::OutputDir,
    restore_folder::{FinalOutput, RestoreFolder},
    restored::RestoredFiles,
};
use crate::{
    carry_folders::CarryFolders,
    error::ConvertError,
    journal::{Journal, JournalEntry, OutputOptions, OutputRoot},
};

pub use self::{batch::Durability, dir::NotOpened};
pub(crate) use self::{batch::new_folders, restore_folder::RestoredFile};

/// The buffer size of a stream in bytes.
const STREAM_BUFFER: usize = 256 * 1024;

/// Limit on the files of an item in a batch: an output, its sidecar and its residue.
const MAX_TOGETHER: usize = 3;

/// The options of writing files.
#[derive(Clone, Copy, Debug)]
pub struct WriteOptions {
    /// Whether existing files are overwritten.
    pub force: bool,
    /// When files are flushed to the disk.
    pub durability: Durability,
    /// The compression of sessions.
    pub compression: Option<Compression>,
    /// Whether the run writes nothing.
    pub is_dry_run: bool,
    /// Whether the SHA-256 of each file is computed.
    pub hash_sha256: bool,
    /// The interruption that makes writes fail.
    pub interruption: Interruption,
}

impl WriteOptions {
    /// Options that flush each file at once, without compression.
    fn plain(force: bool, interruption: Interruption) -> Self {
        Self {
            force,
            durability: Durability::File,
            compression: None,
            is_dry_run: false,
            hash_sha256: false,
            interruption,
        }
    }

    /// Returns the rule for replacing files that are not in a journal.
    fn replace(&self) -> Replace {
        if self.force { Replace::KeepOld } else { Replace::Never }
    }
}

/// The outputs of a run.
#[derive(Debug)]
pub struct RunOutputs {
    /// The options of writing.
    pub write_options: WriteOptions,
    storage: Backend,
    /// The output folder; `None` if the output is a file.
    root: Option<OutputDir>,
    /// The device or pipe that is written instead of standard output.
    stream: Option<PathBuf>,
    batch: Mutex<Batch>,
    /// The published files.
    named: Mutex<HashSet<Identity>>,
    /// Errors of files after their jobs were done, by output path.
    refused: Mutex<HashMap<PathBuf, ConvertError>>,
    /// The file system that is full.
    full: OnceLock<String>,
    /// The folder for closed temporary files of a dry run.
    scratch: Mutex<Option<Arc<Scratch>>>,
    /// The folders of unpublished files, so that each is opened once.
    folders: Mutex<OpenFolders>,
    /// The restored files that are converted now.
    restored: Mutex<RestoredFiles>,
    /// The new folder of `--restore-files`.
    restore_folder: Arc<RestoreFolder>,
    /// The output that the main file in a temporary folder will become; `None` if these are no temporary files.
    becomes: Option<FinalOutput>,
    /// The folders of sources that may have lost their carry.
    pub(crate) carry_folders: CarryFolders,
}

/// Files that are published together, and their journal entries.
pub struct PublishSet {
    /// The files, in the order of publishing. The main file is the last one.
    pub files: Vec<Finished>,
    /// The images that the main file refers to. They get their names before it, and a file with the same
    /// bytes may be there: other sessions have the same images.
    pub(crate) images: Vec<Finished>,
    /// The rule for replacing existing files.
    pub replace: Replace,
    /// The journal entries, of the files and then of the images.
    pub(crate) records: Vec<JournalEntry>,
}

impl PublishSet {
    /// Creates a set without journal entries.
    pub fn new(files: Vec<Finished>, replace: Replace) -> Self {
        Self { files, images: Vec::new(), replace, records: Vec::new() }
    }
}

impl RunOutputs {
    /// Returns outputs at any paths, without a folder.
    pub fn anywhere(force: bool, interruption: Interruption) -> Self {
        Self::of_one(Backend::Disk, WriteOptions::plain(force, interruption))
    }

    /// Returns outputs below a folder, which is created if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be created or opened.
    pub fn below(folder: &Path, force: bool, interruption: Interruption) -> io::Result<Self> {
        let root = OutputDir::without_journal(folder)?;
        Ok(Self::new(Backend::Disk, Some(root), WriteOptions::plain(force, interruption)))
    }

    /// Returns outputs in a temporary folder, whose main file at `main` will become the output at `path` of these
    /// outputs. Its files do not outlast the program, and are not flushed to the disk: a session of thousands of
    /// sub-agents has a file for each.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be opened.
    pub(crate) fn in_scratch(
        &self,
        folder: &Scratch,
        main: &Path,
        path: &Path,
    ) -> io::Result<Self> {
        let outputs = Self::below(folder.path(), false, self.write_options.interruption)?;
        let write_options = WriteOptions { durability: Durability::None, ..outputs.write_options };
        let restore_folder = self.restore_folder.clone();
        let becomes = Some(FinalOutput::new(main, self.final_path(path)));
        Ok(Self { write_options, restore_folder, becomes, ..outputs })
    }

    /// Returns the output of a run of one file.
    pub fn of_one(storage: Backend, write_options: WriteOptions) -> Self {
        Self::new(
            storage,
            None,
            WriteOptions {
                durability: write_options.durability.without_batches(),
                ..write_options
            },
        )
    }

    /// Returns the output of a run to a device or a pipe, which is written like standard output.
    pub fn of_stream(path: &Path, write_options: WriteOptions) -> Self {
        Self { stream: Some(path.to_owned()), ..Self::of_one(Backend::Disk, write_options) }
    }

    /// Opens a stream such as standard output, or the device that replaces it, with compression if
    /// it is asked for.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn sink<'s>(
        &self,
        stream: &'s mut dyn Write,
    ) -> io::Result<Encoder<BufWriter<Box<dyn Write + 's>>>> {
        let sink: Box<dyn Write + 's> = match &self.stream {
            _ if self.write_options.is_dry_run => Box::new(io::sink()),
            Some(path) => {
                let file = File::options().write(true).open(path)?;
                Box::new(Interruptible::new(file, self.write_options.interruption))
            }
            None => Box::new(Interruptible::new(stream, self.write_options.interruption)),
        };
        Encoder::new(self.write_options.compression, BufWriter::with_capacity(STREAM_BUFFER, sink))
    }

    /// Returns outputs below a folder with a journal. Both are created if they do not exist.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be created or opened, if another run writes to it, or
    /// if it has outputs of other options that must not be replaced.
    pub fn journaled(
        storage: Backend,
        folder: &Path,
        options: OutputOptions,
        write_options: WriteOptions,
    ) -> Result<Self, NotOpened> {
        let root = match &storage {
            Backend::Disk | Backend::Documents(_) => {
                OutputDir::open(folder, options, write_options.is_dry_run)?
            }
            #[cfg(feature = "cloud")]
            Backend::Bucket(bucket) => {
                OutputDir::of_prefix(bucket, folder, options, write_options.is_dry_run)?
            }
        };
        if !write_options.force {
            root.refuse_other_options()?;
        }
        Ok(Self::new(storage, Some(root), write_options))
    }

    /// Returns the outputs of a worker, in a folder or store that others write to as well. Journal
    /// entries are collected for receipts.
    pub fn of_worker(base: OutputRoot, journal: Journal, write_options: WriteOptions) -> Self {
        Self::new(base.storage(), Some(OutputDir::of_worker(base, journal)), write_options)
    }

    fn new(storage: Backend, root: Option<OutputDir>, write_options: WriteOptions) -> Self {
        // Publishing an object waits for the store, so each job publishes its own.
        let durability =
            if storage.is_disk() { write_options.durability } else { Durability::File };
        let write_options = WriteOptions { durability, ..write_options };
        let (batch, named, refused, full, scratch) = Default::default();
        let (stream, folders, restored, becomes) = Default::default();
        let restore_folder = RestoreFolder::new(write_options.is_dry_run, root.is_some());
        Self {
            write_options,
            storage,
            root,
            stream,
            batch,
            named,
            refused,
            full,
            scratch,
            folders,
            restored,
            restore_folder: Arc::new(restore_folder),
            becomes,
            carry_folders: CarryFolders::default(),
        }
    }

    /// Returns whether there is a journal.
    pub fn has_journal(&self) -> bool {
        self.root.is_some()
    }

    /// Returns whether a file is in the journal.
    pub fn has_written(&self, path: &Path) -> bool {
        self.root.as_ref().is_some_and(|root| root.has_written(path))
    }

    /// Returns the options for a file with this compression.
    fn file_options(&self, compression: Option<Compression>) -> AtomicFileOptions {
        let interruption = self.write_options.interruption;
        AtomicFileOptions { compression, asked: self.asked(), interruption }
    }

    /// Returns the hashes to compute.
    fn asked(&self) -> Asked {
        match (self.write_options.hash_sha256, self.has_journal()) {
            (true, _) => Asked::Sha256,
            (false, true) => Asked::Xxh3,
            (false, false) => Asked::Nothing,
        }
    }

    /// Publishes files that belong together, in this order, after syncing their bytes.
    ///
    /// # Errors
    ///
    /// As for [`RunOutputs::publish_set`].
    pub fn publish(&self, files: Vec<Finished>) -> Result<(), ConvertError> {
        let path = files.last().map(Finished::path).unwrap_or_default();
        let set = PublishSet::new(files, self.write_options.replace());
        self.publish_set(&path, set)
    }

    /// Publishes files that belong together, after syncing their bytes: at once, or with their
    /// batch.
    ///
    /// # Errors
    ///
    /// Returns [`ConvertError::Exists`] if another file has a name and must stay, or an error of
    /// the system. Then none of the new files stays; a file that has already replaced an older one
    /// does.
    ///
    /// With [`Durability::Batch`], `Ok` does not mean that the files have their names yet. If the set
    /// fails later, [`RunOutputs::close`] returns the error.
    pub fn publish_set(&self, path: &Path, set: PublishSet) -> Result<(), ConvertError> {
        self.publish_item(Item { path: path.to_owned(), set, is_further: false })
    }

    fn publish_item(&self, item: Item) -> Result<(), ConvertError> {
        // The limit on open files counts on a few for each item.
        let is_few = item.set.files.len() + item.set.images.len() <= MAX_TOGETHER;
        if self.write_options.durability != Durability::Batch || !is_few {
            return self.commit(vec![item]).pop().map_or(Ok(()), |(_, refusal)| Err(refusal));
        }
        let full = self.batch.lock().unwrap_or_else(PoisonError::into_inner).push(item);
        if let Some(items) = full {
            self.commit_later(items);
        }
        Ok(())
    }

    /// Publishes the last batch. Returns errors of files since their jobs were done, by output
    /// path.
    pub fn close(&self) -> HashMap<PathBuf, ConvertError> {
        let items = self.batch.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.commit_later(items);
        if let Some(root) = &self.root {
            // If the journal lacks lines, the next run writes these files again and finds them
            // equal.
            _ = root.close_journal();
        }
        std::mem::take(&mut *self.refused.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn commit_later(&self, items: Vec<Item>) {
        let refused = self.commit(items);
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).extend(refused);
    }

    /// Returns the file system that is full, if there is one.
    pub fn full(&self) -> Option<&str> {
        self.full.get().map(String::as_str)
    }

    /// Stores a failure. If the file system is full, no other file is begun.
    pub fn note_refusal(&self, path: &Path, refusal: &ConvertError) {
        if refusal.is_no_space() {
            self.full.get_or_init(|| dir::file_system_of(path));
        }
    }
}
