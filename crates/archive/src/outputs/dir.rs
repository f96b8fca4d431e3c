//! The output folder of a run, and its journal.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use storage::{Folder, Identity, Replace, remove_stale, unwritten, without_query};

use crate::journal::{
    Journal, JournalEntry, Origin, OutputOptions, OutputRoot, OutputState, Unusable,
};

#[cfg(feature = "cloud")]
use storage::Bucket;

/// The output folder of a run, and its journal.
#[derive(Debug)]
pub(super) struct OutputDir {
    path: PathBuf,
    /// `None` in a dry run if the folder does not exist.
    base: Option<OutputRoot>,
    journal: Option<Journal>,
    is_dry_run: bool,
}

/// The error for a folder that cannot be written to.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct NotOpened {
    path: PathBuf,
    reason: Unusable,
}

impl NotOpened {
    /// Creates the error for an output that cannot be reached.
    pub fn new(path: &Path, error: io::Error) -> Self {
        Self { path: without_query(path), reason: Unusable::Place(error) }
    }
}

impl OutputDir {
    pub(super) fn open(
        path: &Path,
        options: OutputOptions,
        is_dry_run: bool,
    ) -> Result<Self, NotOpened> {
        let open = || {
            let (folder, journal) = if is_dry_run {
                open_for_dry_run(path, options)?
            } else {
                let folder = Folder::create(path)?;
                let journal = Journal::open(&folder, options)?;
                if journal.is_locked {
                    remove_stale(&folder);
                }
                (Some(folder), Some(journal))
            };
            let base = folder.map(OutputRoot::Folder);
            Ok(Self { path: path.to_owned(), base, journal, is_dry_run })
        };
        open().map_err(|reason| NotOpened { path: path.to_owned(), reason })
    }

    /// Opens a prefix in a store.
    #[cfg(feature = "cloud")]
    pub(super) fn of_prefix(
        bucket: &Arc<Bucket>,
        path: &Path,
        options: OutputOptions,
        is_dry_run: bool,
    ) -> Result<Self, NotOpened> {
        let open = || {
            // One listing is faster than a request for each object.
            let objects = bucket.list(path).map_err(Unusable::Place)?;
            if !is_dry_run {
                bucket.sweep(&objects);
            }
            let journal = Some(Journal::of_prefix(bucket.clone(), path, options)?);
            let base = Some(OutputRoot::Prefix(bucket.clone(), path.to_owned()));
            Ok(Self { path: path.to_owned(), base, journal, is_dry_run })
        };
        open().map_err(|reason| NotOpened { path: path.to_owned(), reason })
    }

    pub(super) fn without_journal(path: &Path) -> io::Result<Self> {
        let folder = Folder::create(path).map_err(|error| unwritten(error, path))?;
        let base = Some(OutputRoot::Folder(folder));
        Ok(Self { path: path.to_owned(), base, journal: None, is_dry_run: false })
    }

    pub(super) fn of_worker(base: OutputRoot, journal: Journal) -> Self {
        let path = base.path().to_owned();
        let (base, journal) = (Some(base), Some(journal));
        Self { path, base, journal, is_dry_run: false }
    }

    /// Returns an error if the folder has outputs of other options.
    pub(super) fn refuse_other_options(&self) -> Result<(), NotOpened> {
        let refused = self.journal.as_ref().map_or(Ok(()), Journal::refuse_other_options);
        refused.map_err(|reason| NotOpened { path: self.path.clone(), reason })
    }

    /// Removes unedited outputs of a source from other options, except the files of these entries.
    pub(super) fn remove_superseded(
        &self,
        source: &Path,
        records: &[JournalEntry],
    ) -> io::Result<()> {
        let (Some(base), Some(journal)) = (&self.base, &self.journal) else { return Ok(()) };
        let is_new = |below: &Path| {
            records.iter().filter_map(|it| it.written.as_ref()).any(|it| it.below == below)
        };
        for below in journal.superseded(base, source).iter().filter(|below| !is_new(below)) {
            base.remove(below)?;
        }
        Ok(())
    }

    /// Returns whether the file at a path is an unedited output of a source from other options.
    pub(super) fn is_superseded(&self, source: &Path, path: &Path) -> bool {
        let (Some(base), Some(journal)) = (&self.base, &self.journal) else { return false };
        journal.superseded(base, source).iter().any(|below| below == self.strip(path))
    }

    /// Returns the entries since the last call, for a worker.
    pub(super) fn take_collected(&self) -> Vec<JournalEntry> {
        self.journal.as_ref().map(Journal::take_collected).unwrap_or_default()
    }

    pub(super) fn folder(&self) -> io::Result<&Arc<Folder>> {
        match &self.base {
            Some(OutputRoot::Folder(folder)) => Ok(folder),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Returns a path relative to the folder.
    pub(super) fn strip<'p>(&self, path: &'p Path) -> &'p Path {
        let below = || {
            let below = path.to_str()?.strip_prefix(self.path.to_str()?)?.strip_prefix('/')?;
            (!below.starts_with('/')).then(|| Path::new(below))
        };
        // To compare all components takes ten times as long.
        below().unwrap_or_else(|| path.strip_prefix(&self.path).unwrap_or(path))
    }

    pub(super) fn output_state(
        &self,
        path: &Path,
        origin: &mut Origin<'_>,
    ) -> io::Result<OutputState> {
        match (&self.base, &self.journal) {
            (Some(base), Some(journal)) => journal.output_state(base, self.strip(path), origin),
            _ => Ok(OutputState::Open(Replace::Never)),
        }
    }

    /// Returns the rule for replacing the file at a path, if it is an unedited output of the
    /// entry's source.
    pub(super) fn own(&self, path: &Path, record: &JournalEntry) -> Option<Replace> {
        let (base, journal) = self.base.as_ref().zip(self.journal.as_ref())?;
        journal.own(base, self.strip(path), record)
    }

    /// Returns whether a file is in the journal.
    pub(super) fn has_written(&self, path: &Path) -> bool {
        let journal = self.base.as_ref().zip(self.journal.as_ref());
        journal.is_some_and(|(base, journal)| journal.has_written(base, self.strip(path)))
    }

    /// Returns the journal that the run writes; `None` in a dry run.
    fn open_journal(&self) -> Option<&Journal> {
        self.journal.as_ref().filter(|_| !self.is_dry_run)
    }

    /// Appends to the journal that files are about to get their names, and syncs it if asked.
    pub(super) fn begin<'r>(
        &self,
        records: impl Iterator<Item = &'r JournalEntry>,
        is_synced: bool,
    ) -> io::Result<()> {
        self.open_journal().map_or(Ok(()), |journal| journal.begin(records, is_synced))
    }

    /// Appends entries to the journal.
    pub(super) fn append<'r>(
        &self,
        records: impl Iterator<Item = &'r JournalEntry>,
    ) -> io::Result<()> {
        self.open_journal().map_or(Ok(()), |journal| journal.append(records))
    }

    /// Writes the last lines of the journal to the store.
    pub(super) fn close_journal(&self) -> io::Result<()> {
        self.open_journal().map_or(Ok(()), |journal| journal.close())
    }

    /// Syncs the journal to the disk.
    pub(super) fn sync_journal(&self) -> io::Result<()> {
        self.open_journal().map_or(Ok(()), |journal| journal.sync())
    }
}

/// Opens an existing folder and its journal for a dry run, and creates nothing.
fn open_for_dry_run(
    path: &Path,
    options: OutputOptions,
) -> Result<(Option<Arc<Folder>>, Option<Journal>), Unusable> {
    let folder = match Folder::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((None, None)),
        folder => folder?,
    };
    let journal = Journal::peek(&folder, options)?.map(|journal| journal.with_begun(&folder));
    Ok((Some(folder), journal))
}

/// Returns the mount point of a path, for a message.
pub(super) fn file_system_of(path: &Path) -> String {
    let there = path.ancestors().find_map(|path| {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        fs::canonicalize(path).ok()
    });
    let there = there.unwrap_or_else(|| PathBuf::from("/"));
    let device = |path: &Path| Identity::of_path(path).ok();
    let is_of_it = |path: &&Path| {
        device(path).zip(device(&there)).is_some_and(|(one, other)| one.is_on_device_of(other))
    };
    let start = there.ancestors().take_while(is_of_it).last().unwrap_or(&there);
    start.display().to_string()
}
