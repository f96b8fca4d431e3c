//! The files that a run writes: where they go, and when they get their names.

mod batch;
mod begin;
pub(crate) mod lazy;
mod root;
mod standing;
mod told;

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use storage::{
    Asked, Backend, Compression, Encoder, Finished, Identity, Interruptible, Interruption,
    PendingOptions, Replace, Scratch,
};

use self::{
    batch::{Batch, Item},
    root::OutputRoot,
};
use crate::{
    error::ConvertError,
    journal::{Base, Journal, JournalEntry, OutputOptions},
};

pub use self::{batch::Durability, root::NotOpened};

/// The bytes that are handed to a stream at a time.
const STREAM_BUFFER: usize = 256 * 1024;

/// How many files that belong together may wait for a batch: an output, and what stands beside it.
const MAX_TOGETHER: usize = 3;

/// How the files of a run are written.
#[derive(Clone, Copy, Debug)]
pub struct WriteOptions {
    /// Whether files that are there are overwritten.
    pub force: bool,
    /// When files are brought to the disk.
    pub durability: Durability,
    /// How sessions are compressed.
    pub compression: Option<Compression>,
    /// Whether everything is done but writing.
    pub is_dry_run: bool,
    /// Whether the SHA-256 of each file is wanted.
    pub hash_sha256: bool,
    /// What makes each write fail.
    pub interruption: Interruption,
}

impl WriteOptions {
    /// Each file at once, and as it is.
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

    /// Returns what becomes of older files, if nothing is known of them.
    fn replace(&self) -> Replace {
        if self.force { Replace::KeepOld } else { Replace::Never }
    }
}

/// Where the files of a run go.
#[derive(Debug)]
pub struct Outputs {
    /// How they are written.
    pub write_options: WriteOptions,
    storage: Backend,
    /// The folder that a run writes to; none if that is a file.
    root: Option<OutputRoot>,
    /// What bytes go through in the place of standard output.
    stream: Option<PathBuf>,
    batch: Mutex<Batch>,
    /// The files that got their names.
    named: Mutex<HashSet<Identity>>,
    /// What went wrong with files after their jobs were over, by the paths of the outputs.
    refused: Mutex<HashMap<PathBuf, ConvertError>>,
    /// The file system that has no space left.
    full: OnceLock<String>,
    /// Where files of a rehearsal are that are not held open.
    scratch: Mutex<Option<Arc<Scratch>>>,
}

/// Files that belong together, and what is to be told of them.
pub struct PublishSet {
    /// In the order in which they get their names.
    pub files: Vec<Finished>,
    /// What becomes of older files.
    pub replace: Replace,
    /// Their lines for the journal.
    pub(crate) records: Vec<JournalEntry>,
}

impl PublishSet {
    /// Takes files that no journal is told of.
    pub fn new(files: Vec<Finished>, replace: Replace) -> Self {
        Self { files, replace, records: Vec::new() }
    }
}

impl Outputs {
    /// Returns outputs that go where their paths say.
    pub fn anywhere(force: bool, interruption: Interruption) -> Self {
        Self::of_one(Backend::Disk, WriteOptions::plain(force, interruption))
    }

    /// Returns outputs that go below a folder, which is made if it is not there.
    ///
    /// # Errors
    ///
    /// If the folder cannot be made or opened.
    pub fn below(folder: &Path, force: bool, interruption: Interruption) -> io::Result<Self> {
        let root = OutputRoot::without_journal(folder)?;
        Ok(Self::new(Backend::Disk, Some(root), WriteOptions::plain(force, interruption)))
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

    /// Returns the output of a run that goes to a device or a pipe, as it would to standard output.
    pub fn of_stream(path: &Path, write_options: WriteOptions) -> Self {
        Self { stream: Some(path.to_owned()), ..Self::of_one(Backend::Disk, write_options) }
    }

    /// Opens a stream such as standard output, or what is in its place, and compresses what goes there if that is
    /// asked for.
    ///
    /// # Errors
    ///
    /// The system's own.
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

    /// Returns outputs that go below a folder with a journal, which are made if they are not there.
    ///
    /// # Errors
    ///
    /// If the folder cannot be made or opened, or another run writes to it; if it was written with
    /// other options, and is not to be written anew.
    pub fn journaled(
        storage: Backend,
        folder: &Path,
        options: OutputOptions,
        write_options: WriteOptions,
    ) -> Result<Self, NotOpened> {
        let root = match &storage {
            Backend::Disk => OutputRoot::open(folder, options, write_options.is_dry_run)?,
            #[cfg(feature = "cloud")]
            Backend::Bucket(bucket) => {
                OutputRoot::of_prefix(bucket, folder, options, write_options.is_dry_run)?
            }
        };
        if !write_options.force {
            root.refuse_other_options()?;
        }
        Ok(Self::new(storage, Some(root), write_options))
    }

    /// Returns outputs of a worker, which go to a place that others write to too: what is told of
    /// them is kept for receipts.
    pub fn of_worker(base: Base, journal: Journal, write_options: WriteOptions) -> Self {
        Self::new(base.storage(), Some(OutputRoot::of_worker(base, journal)), write_options)
    }

    fn new(storage: Backend, root: Option<OutputRoot>, write_options: WriteOptions) -> Self {
        // Whoever writes an object waits until it is there: several do at a time.
        let durability =
            if storage.is_disk() { write_options.durability } else { Durability::File };
        let write_options = WriteOptions { durability, ..write_options };
        let (batch, named, refused, full, scratch) = Default::default();
        Self { write_options, storage, root, stream: None, batch, named, refused, full, scratch }
    }

    /// Returns whether account is kept of what is written, and from what.
    pub fn has_journal(&self) -> bool {
        self.root.is_some()
    }

    /// Returns whether the journal says that a file is ours.
    pub fn has_written(&self, path: &Path) -> bool {
        self.root.as_ref().is_some_and(|root| root.has_written(path))
    }

    /// Returns how files are written that are compressed so.
    fn pending_options(&self, compression: Option<Compression>) -> PendingOptions {
        let interruption = self.write_options.interruption;
        PendingOptions { compression, asked: self.asked(), interruption }
    }

    /// Returns what will be asked of the bytes of files.
    fn asked(&self) -> Asked {
        match (self.write_options.hash_sha256, self.has_journal()) {
            (true, _) => Asked::Sha256,
            (false, true) => Asked::Xxh3,
            (false, false) => Asked::Nothing,
        }
    }

    /// Gives files that belong together their names, in this order, once their bytes are on the disk.
    ///
    /// # Errors
    ///
    /// As for [`Outputs::publish_set`].
    pub fn publish(&self, files: Vec<Finished>) -> Result<(), ConvertError> {
        let path = files.last().map(Finished::path).unwrap_or_default();
        let bundle =
            PublishSet { files, replace: self.write_options.replace(), records: Vec::new() };
        self.publish_set(&path, bundle)
    }

    /// Gives files that belong together their names, once their bytes are on the disk: at once, or
    /// with the batch that they become a part of.
    ///
    /// # Errors
    ///
    /// [`ConvertError::Exists`] if another file has a name, and is to stay; the system's own. Of several
    /// files, none has got its name then. What goes wrong in a later batch, [`Outputs::close`] tells.
    pub fn publish_set(&self, path: &Path, bundle: PublishSet) -> Result<(), ConvertError> {
        let item = Item { path: path.to_owned(), bundle };
        // A batch counts on a few open files for each item.
        let is_few = item.bundle.files.len() <= MAX_TOGETHER;
        if self.write_options.durability != Durability::Batch || !is_few {
            return self.commit(vec![item]).pop().map_or(Ok(()), |(_, refusal)| Err(refusal));
        }
        let full = self.batch.lock().unwrap_or_else(PoisonError::into_inner).push(item);
        if let Some(items) = full {
            self.commit_later(items);
        }
        Ok(())
    }

    /// Gives the files of the last batch their names, and returns what went wrong with files since
    /// they were published, by the paths of the outputs.
    pub fn close(&self) -> HashMap<PathBuf, ConvertError> {
        let items = self.batch.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.commit_later(items);
        if let Some(root) = &self.root {
            // What is not told is written again by the next run, and found to be there.
            _ = root.close_journal();
        }
        std::mem::take(&mut *self.refused.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn commit_later(&self, items: Vec<Item>) {
        let refused = self.commit(items);
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).extend(refused);
    }

    /// Returns the file system that has no space left, if one was met.
    pub fn full(&self) -> Option<&str> {
        self.full.get().map(String::as_str)
    }

    /// Takes note of a failure: without space, no other file is begun.
    pub fn note_refusal(&self, path: &Path, refusal: &ConvertError) {
        if refusal.is_no_space() {
            self.full.get_or_init(|| root::file_system_of(path));
        }
    }
}
