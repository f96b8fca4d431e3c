//! Bringing files to the disk, many at a time: the bytes, then the names, then the journal.

use std::{
    collections::{BTreeMap, HashSet},
    fmt, io,
    path::{Path, PathBuf},
    sync::PoisonError,
};

use sessions::Input;
use storage::{
    Finished, Identity, Named, Place, Published, RESIDUE, Replace, SIDECAR, beside, unwritten,
};

use super::{Outputs, PublishSet};
use crate::{error::ConvertError, journal::JournalEntry};

/// A batch is brought to the disk when it has so many files, or so many bytes.
const MAX_FILES: usize = 64;
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// What an item of a batch holds open at most: three files, each with its folder.
const OPEN_FILES: u64 = 6;

/// When files are brought to the disk.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Durability {
    /// Each file, before the next one
    File,
    /// After 64 files or 256 MiB, and at the end
    Batch,
    /// When the system does; a power cut can lose finished files
    None,
}

impl Durability {
    /// Returns what it means for a run of one file.
    pub(super) fn without_batches(self) -> Self {
        if self == Durability::Batch { Durability::File } else { self }
    }
}

/// The files that wait to get their names.
#[derive(Default)]
pub(super) struct Batch {
    items: Vec<Item>,
    n_bytes: u64,
}

impl fmt::Debug for Batch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Batch of {}", self.items.len())
    }
}

/// Files that belong together, and the path by which their job knows them.
pub(super) struct Item {
    pub(super) path: PathBuf,
    pub(super) bundle: PublishSet,
}

impl Batch {
    /// Takes files, and returns all that wait if they are enough.
    pub(super) fn push(&mut self, item: Item) -> Option<Vec<Item>> {
        self.n_bytes += item.bundle.files.iter().map(Finished::length).sum::<u64>();
        self.items.push(item);
        let is_full = self.items.len() >= max_files() || self.n_bytes >= MAX_BYTES;
        is_full.then(|| self.take())
    }

    /// Returns all that wait.
    pub(super) fn take(&mut self) -> Vec<Item> {
        self.n_bytes = 0;
        std::mem::take(&mut self.items)
    }
}

/// Returns how many files a batch has at most: no more than may be open.
fn max_files() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let share = limit.map_or(MAX_FILES as u64, |limit| limit / 2 / OPEN_FILES);
    MAX_FILES.min(usize::try_from(share).unwrap_or(MAX_FILES)).max(1)
}

/// Which files did not get their names, and why.
type Refused = Vec<(PathBuf, ConvertError)>;

impl Outputs {
    /// Gives files their names, and returns which did not get theirs, and why.
    ///
    /// The order is what makes it safe to pull the plug: a name stands for bytes that are on the
    /// disk, a line of the journal for names that are.
    pub(super) fn commit(&self, items: Vec<Item>) -> Refused {
        let is_synced =
            self.write_options.durability != Durability::None && !self.write_options.is_dry_run;
        let mut refused = Vec::new();
        let mut whole = Vec::new();
        for item in items {
            match if is_synced { self.sync(&item) } else { Ok(()) } {
                Ok(()) => whole.push(item),
                Err(refusal) => refused.push((item.path, refusal)),
            }
        }
        let mut named = Vec::new();
        for Item { path, bundle } in whole {
            let PublishSet { files, replace, mut records } = bundle;
            match self.name(files, replace, &mut records) {
                Ok(names) => named.push((path, names, records)),
                Err(refusal) => refused.push((path, refusal)),
            }
        }
        let mut folders = BTreeMap::new();
        let mut sync_folder = |place: &Place| {
            let synced = folders.entry(place.folder.identity()?);
            let synced = synced.or_insert_with(|| place.folder.sync()).as_ref();
            synced.map_err(|error| io::Error::new(error.kind(), error.to_string())).copied()
        };
        for (path, names, records) in named {
            let places = names.iter().filter_map(|named| match named {
                Named::Here(place) if is_synced => Some(place),
                _ => None,
            });
            let synced = places.into_iter().try_for_each(&mut sync_folder);
            let gone = synced.and_then(|()| self.remove_superseded(&records));
            let told = gone.and_then(|()| self.tell(&records));
            if let Err(error) = told {
                refused.push((path.clone(), unwritten(error, &path).into()));
            }
        }
        if is_synced && let Some(root) = &self.root {
            // A line that does not reach the disk is found out, and written again, by the next run.
            _ = root.sync_journal();
        }
        for (path, refusal) in &refused {
            self.note_refusal(path, refusal);
        }
        refused
    }

    /// Brings the bytes of files to the disk.
    fn sync(&self, item: &Item) -> Result<(), ConvertError> {
        if self.write_options.interruption.is_requested() {
            return Err(ConvertError::Interrupted);
        }
        let synced = item.bundle.files.iter().try_for_each(Finished::sync);
        synced.map_err(|error| unwritten(error, &item.path).into())
    }

    /// Gives files that belong together their names, or none of them, and completes what is told of
    /// each; returns where they are.
    fn name(
        &self,
        files: Vec<Finished>,
        replace: Replace,
        records: &mut [JournalEntry],
    ) -> Result<Vec<Named>, ConvertError> {
        let (mut names, mut made) = (Vec::new(), Vec::new());
        let ways = self.ways(&files, replace, records);
        let replaces = ways.iter().any(|way| *way != Replace::Never);
        for (file_idx, (file, replace)) in files.into_iter().zip(ways).enumerate() {
            match self.name_one(file, replace) {
                Ok(Published { named, is_new, etag }) => {
                    if is_new && replace == Replace::Never {
                        made.push(named.clone());
                    }
                    names.push(named);
                    let record = records.get_mut(file_idx);
                    if let Some(written) = record.and_then(|record| record.written.as_mut()) {
                        written.etag = etag;
                    }
                }
                Err(refusal) => {
                    for named in &made {
                        // What cannot be removed is equal to what the next run writes.
                        _ = named.remove();
                    }
                    return Err(refusal);
                }
            }
        }
        if replaces {
            let is_ours = |path: &Path| match (&self.root, records.first()) {
                (Some(root), Some(first)) => root.is_superseded(&first.source, path),
                _ => false,
            };
            keep_stale(&names, is_ours)?;
        }
        Ok(names)
    }

    /// Returns what becomes of what stands in the place of each file.
    ///
    /// A run that was stopped between two names left files of its own beside older ones of ours. Taken
    /// together they are no output that the journal knows, so each is looked at for itself: what is as
    /// the journal says goes, and what is equal already stays. Anything else is somebody's.
    fn ways(&self, files: &[Finished], replace: Replace, records: &[JournalEntry]) -> Vec<Replace> {
        let as_asked = vec![replace; files.len()];
        let (Some(root), Some(record)) = (&self.root, records.first()) else { return as_asked };
        if !matches!(replace, Replace::Never | Replace::KeepOld) {
            return as_asked;
        }
        let own: Vec<_> = files.iter().map(|file| root.own(&file.path(), record)).collect();
        let is_somebodys = |(file, own): (&Finished, &Option<Replace>)| {
            own.is_none() && replace == Replace::Never && !file.is_free_or_equal()
        };
        if own.iter().all(Option::is_none) || files.iter().zip(&own).any(is_somebodys) {
            return as_asked;
        }
        own.into_iter().map(|own| own.unwrap_or(replace)).collect()
    }

    /// Gives a file its name.
    ///
    /// Where names that differ are of one file, as those in other cases are on some file systems, the
    /// first of this run stays.
    fn name_one(&self, file: Finished, replace: Replace) -> Result<Published, ConvertError> {
        let path = file.path();
        let refusal = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => ConvertError::Exists(path.display().to_string()),
            _ => unwritten(error, &path).into(),
        };
        let Some(place) = file.place().cloned() else {
            return file.publish(replace).map_err(refusal);
        };
        let identity = file.identity();
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        let is_ours = |named: &HashSet<Identity>| {
            place.identity().is_some_and(|identity| named.contains(&identity))
        };
        if replace != Replace::Never && is_ours(&named) {
            return Err(ConvertError::SameName(path.display().to_string()));
        }
        match file.publish(replace) {
            Ok(published) => {
                // An equal file of an earlier run that stays is this run's from now on.
                named.extend(if published.is_new { identity } else { place.identity() });
                Ok(published)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_ours(&named) => {
                Err(ConvertError::SameName(path.display().to_string()))
            }
            Err(error) => Err(refusal(error)),
        }
    }

    /// Removes what the source became by other options, and nobody edited: with `--force`, it was
    /// converted anew, and may have got another name.
    fn remove_superseded(&self, records: &[JournalEntry]) -> io::Result<()> {
        match (&self.root, records.first()) {
            (Some(root), Some(first)) if !self.write_options.is_dry_run => {
                root.remove_superseded(&first.source, records)
            }
            _ => Ok(()),
        }
    }

    /// Removes, with `--force`, what an input became by other options of which nothing is written any
    /// more: it is within the file of its session now, or left out.
    ///
    /// # Errors
    ///
    /// Those of reading and removing it.
    pub(crate) fn remove_unwritten(&self, input: &Input) -> io::Result<()> {
        match (&self.root, input.absolute()?) {
            (Some(root), Some(source))
                if self.write_options.force && !self.write_options.is_dry_run =>
            {
                root.remove_superseded(&source, &[])
            }
            _ => Ok(()),
        }
    }

    /// Writes lines of the journal.
    fn tell(&self, records: &[JournalEntry]) -> io::Result<()> {
        let root = self.root.as_ref();
        root.map_or(Ok(()), |root| records.iter().try_for_each(|record| root.append(record)))
    }
}

/// Keeps what stood beside an older output, and is none of those written now, as `NAME.bak`: it says
/// nothing of the new one, which is the last. What is ours by `is_ours`, by its path, is removed later.
fn keep_stale(names: &[Named], is_ours: impl Fn(&Path) -> bool) -> Result<(), ConvertError> {
    let Some(Named::Here(output)) = names.last() else { return Ok(()) };
    for ending in [SIDECAR, RESIDUE] {
        let name = beside(Path::new(&output.name), ending).into_os_string();
        let is_new = |named: &Named| matches!(named, Named::Here(place) if place.name == name);
        if names.iter().any(is_new) || is_ours(&output.folder.path().join(&name)) {
            continue;
        }
        let backup = beside(Path::new(&name), "bak");
        match output.folder.rename_over(&name, backup.as_os_str()) {
            // Of a name of full length there is no longer one.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename
                ) => {}
            result => result.map_err(|error| unwritten(error, &output.path()))?,
        }
    }
    Ok(())
}
