//! Publishes files in batches, in an order that survives a power cut at any point.
//!
//! In: finished files under temporary names. Out: files under their own names, and lines in the
//! journal. A session with a sidecar makes these calls:
//!
//! ```text
//! fsync   .s1.jsonl.carry.tmp-14610-32b66833-1d4aac33
//! fsync   .s1.jsonl.tmp-14610-32b66833-09f5685f
//! write   .convert-journal.jsonl  (a short line for each file of the batch)
//! fsync   .convert-journal.jsonl
//! rename  .s1.jsonl.carry.tmp-14610-32b66833-1d4aac33  s1.jsonl.carry
//! rename  .s1.jsonl.tmp-14610-32b66833-09f5685f        s1.jsonl
//! fsync   the folder
//! write   .convert-journal.jsonl  (a line for each file of the batch)
//! fsync   .convert-journal.jsonl
//! ```
//!
//! After a power cut, a file with its own name is whole. A file without a line in the journal is
//! written again by the next run, and kept if it is equal. If its source has changed in the meantime, it is
//! replaced, because its short line says that it is a file of this program. Temporary files are removed by the
//! next run. The sidecar comes before its main file, so that a main file never lacks its carry.

use std::{
    collections::{BTreeMap, HashSet},
    fmt, io,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError},
};

use core_model::system_words;
use sessions::Input;
use storage::{
    Finished, Folder, Identity, Named, Place, Published, RESIDUE, Replace, SIDECAR, beside,
    max_open_files, rename_to_backup, unwritten,
};

use super::{PublishSet, RunOutputs};
use crate::{error::ConvertError, journal::JournalEntry};

/// A batch is published when it has this number of files or bytes.
const MAX_FILES: usize = 64;
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Limit on the open files of an item: three files, each with its folder.
const OPEN_FILES: u64 = 6;

/// The time when written files are flushed to the disk.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Durability {
    /// Each file, before the next one
    File,
    /// After 64 files or 256 MiB, and at the end; after fewer files if few may be open
    Batch,
    /// When the system does; a power cut can lose finished files
    None,
}

impl Durability {
    /// Returns the setting for a run of one file, which has no batches.
    pub(super) fn without_batches(self) -> Self {
        if self == Durability::Batch { Durability::File } else { self }
    }
}

/// Files that wait to be published.
#[derive(Default)]
pub(super) struct Batch {
    items: Vec<Item>,
    n_bytes: u64,
    /// The result of [`max_files`], once it was asked for.
    max_files: Option<usize>,
}

impl fmt::Debug for Batch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Batch of {}", self.items.len())
    }
}

/// Files that belong together, and the path by which their job knows them.
pub(super) struct Item {
    pub(super) path: PathBuf,
    pub(super) set: PublishSet,
    /// Whether another item has the main output of the same source.
    pub(super) is_further: bool,
}

impl Batch {
    /// Adds files. Returns all waiting items if the batch is full.
    pub(super) fn push(&mut self, item: Item) -> Option<Vec<Item>> {
        let PublishSet { files, images, .. } = &item.set;
        self.n_bytes += files.iter().chain(images).map(Finished::length).sum::<u64>();
        self.items.push(item);
        let max_files = *self.max_files.get_or_insert_with(max_files);
        let is_full = self.items.len() >= max_files || self.n_bytes >= MAX_BYTES;
        is_full.then(|| self.take())
    }

    /// Removes and returns all waiting items.
    pub(super) fn take(&mut self) -> Vec<Item> {
        self.n_bytes = 0;
        std::mem::take(&mut self.items)
    }
}

/// Returns the limit on the files of a batch, below the limit on open files.
fn max_files() -> usize {
    let share = max_open_files().map_or(MAX_FILES as u64, |limit| limit / 2 / OPEN_FILES);
    MAX_FILES.min(usize::try_from(share).unwrap_or(MAX_FILES)).max(1)
}

/// Returns the folders that were created for files, the last one first: only the first folder in a new one has the new
/// one above it.
pub(crate) fn new_folders<'f>(
    files: impl DoubleEndedIterator<Item = &'f Finished>,
) -> Vec<Arc<Folder>> {
    let folders = files.rev().filter_map(Finished::place).map(|place| &place.folder);
    folders.filter(|folder| folder.is_new()).cloned().collect()
}

impl PublishSet {
    fn new_folders(&self) -> Vec<Arc<Folder>> {
        new_folders(self.files.iter().chain(&self.images))
    }
}

/// The files that were not published, with their errors.
type Refused = Vec<(PathBuf, ConvertError)>;

impl RunOutputs {
    /// Publishes files, and returns those that could not be published.
    ///
    /// See the order at the top: a file name means that its bytes are on the disk, and a line of
    /// the journal means that the names of its files are.
    pub(super) fn commit(&self, items: Vec<Item>) -> Refused {
        let is_synced =
            self.write_options.durability != Durability::None && !self.write_options.is_dry_run;
        let mut refused = Vec::new();
        let mut whole = Vec::new();
        for item in items {
            match if is_synced { self.sync(&item) } else { Ok(()) } {
                Ok(()) => whole.push(item),
                Err(refusal) => {
                    let folders = item.set.new_folders();
                    drop(item.set);
                    self.remove_new(&folders);
                    refused.push((item.path, refusal));
                }
            }
        }
        // If there is no room for all lines, each item has room for its own, or is refused.
        let records = whole.iter().flat_map(|item| &item.set.records);
        let is_begun = self.begin(records, is_synced).is_ok();
        let mut named = Vec::new();
        for Item { path, set, is_further } in whole {
            let begun = match is_begun {
                true => Ok(()),
                false => self.begin(set.records.iter(), is_synced),
            };
            if let Err(error) = begun {
                let folders = set.new_folders();
                drop(set);
                self.remove_new(&folders);
                refused.push((path.clone(), unwritten(error, &path).into()));
                continue;
            }
            let folders = set.new_folders();
            let PublishSet { files, images, replace, mut records } = set;
            match self.name(files, images, replace, &mut records) {
                Ok(names) => named.push((path, names, records, is_further)),
                Err(refusal) => {
                    self.remove_new(&folders);
                    refused.push((path, refusal));
                }
            }
        }
        let mut done = Vec::new();
        let mut folders = BTreeMap::new();
        let mut sync_folder = |place: &Place| {
            let synced = folders.entry(place.folder.identity()?);
            let synced = synced.or_insert_with(|| place.folder.sync()).as_ref();
            synced.map_err(|error| io::Error::new(error.kind(), system_words(error))).copied()
        };
        for (path, names, records, is_further) in named {
            let places = names.iter().filter_map(|named| match named {
                Named::Here(place) if is_synced => Some(place),
                _ => None,
            });
            let synced = places.into_iter().try_for_each(&mut sync_folder);
            let removed = synced.and_then(|()| match is_further {
                true => Ok(()),
                false => self.remove_superseded(&records),
            });
            match removed {
                Ok(()) => done.push((path, records)),
                Err(error) => refused.push((path.clone(), unwritten(error, &path).into())),
            }
        }
        // If there is no room for all lines, each file has room for its own, or is refused.
        if self.tell(done.iter().flat_map(|(_, records)| records)).is_err() {
            for (path, records) in done {
                if let Err(error) = self.tell(records.iter()) {
                    refused.push((path.clone(), unwritten(error, &path).into()));
                }
            }
        }
        if is_synced && let Some(root) = &self.root {
            // The next run notices a lost line, and writes it again.
            _ = root.sync_journal();
        }
        for (path, refusal) in &refused {
            self.note_refusal(path, refusal);
        }
        refused
    }

    /// Removes the folders that were created for refused files, if nothing is in them.
    fn remove_new(&self, folders: &[Arc<Folder>]) {
        let root = self.root.as_ref().and_then(|root| root.folder().ok());
        for folder in folders {
            folder.remove_new(root);
        }
    }

    /// Syncs the bytes of files to the disk.
    fn sync(&self, item: &Item) -> Result<(), ConvertError> {
        if self.write_options.interruption.is_requested() {
            return Err(ConvertError::Interrupted);
        }
        let PublishSet { files, images, .. } = &item.set;
        let synced = images.iter().chain(files).try_for_each(Finished::sync);
        synced.map_err(|error| unwritten(error, &item.path).into())
    }

    /// Publishes files that belong together, all or none, and adds their etags to their journal
    /// entries. Returns their positions.
    fn name(
        &self,
        files: Vec<Finished>,
        images: Vec<Finished>,
        replace: Replace,
        records: &mut [JournalEntry],
    ) -> Result<Vec<Named>, ConvertError> {
        let (mut names, mut made) = (Vec::new(), Vec::new());
        let ways = self.ways(&files, replace, records);
        let (own_records, image_records) = records.split_at_mut(files.len().min(records.len()));
        if !images.is_empty() {
            self.name_images(images, (&files, &ways), image_records, &mut names)?;
        }
        let records = own_records;
        let replaces = ways.iter().any(|way| *way != Replace::Never);
        for (file_idx, (file, replace)) in files.into_iter().zip(ways).enumerate() {
            #[cfg(feature = "cloud")]
            let file = {
                let mut file = file;
                file.set_origin(records.get(file_idx).and_then(JournalEntry::origin));
                file
            };
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
                        // A file that cannot be removed equals the one that the next run writes.
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

    /// Returns the rule for replacing the existing file of each name.
    ///
    /// A run that died between two renames left new files beside older ones. The journal does not
    /// know this combination, so each file is judged on its own: a file that is as the journal says
    /// is replaced, an equal one stays. Any other file belongs to somebody else.
    fn ways(&self, files: &[Finished], replace: Replace, records: &[JournalEntry]) -> Vec<Replace> {
        let as_asked = vec![replace; files.len()];
        if replace == Replace::KeepEach && files.iter().all(Finished::is_free_or_equal) {
            // Nothing would be lost: each name is free, or another worker wrote the same bytes and kept the older file.
            return vec![Replace::KeepOld; files.len()];
        }
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

    /// Publishes a file.
    ///
    /// On some file systems, names that differ in case are one file. Then the first one of this run
    /// stays.
    pub(super) fn name_one(
        &self,
        file: Finished,
        replace: Replace,
    ) -> Result<Published, ConvertError> {
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
                // An equal file of an earlier run belongs to this run from now on.
                named.extend(if published.is_new { identity } else { place.identity() });
                Ok(published)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_ours(&named) => {
                Err(ConvertError::SameName(path.display().to_string()))
            }
            Err(error) => Err(refusal(error)),
        }
    }

    /// Removes the unedited outputs of a source from other options. With `--force` the source was
    /// converted again, perhaps to another name.
    fn remove_superseded(&self, records: &[JournalEntry]) -> io::Result<()> {
        match (&self.root, records.first()) {
            (Some(root), Some(first)) if !self.write_options.is_dry_run => {
                root.remove_superseded(&first.source, records)
            }
            _ => Ok(()),
        }
    }

    /// With `--force`, removes the outputs of an input from other options if nothing is written for
    /// it any more: it is now in the file of its session, or left out.
    ///
    /// # Errors
    ///
    /// Returns an error if an output cannot be read or removed.
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

    /// Appends to the journal that files are about to get their names, in one write.
    fn begin<'r>(
        &self,
        records: impl Iterator<Item = &'r JournalEntry>,
        is_synced: bool,
    ) -> io::Result<()> {
        self.root.as_ref().map_or(Ok(()), |root| root.begin(records, is_synced))
    }

    /// Appends lines to the journal, in one write.
    fn tell<'r>(&self, records: impl Iterator<Item = &'r JournalEntry>) -> io::Result<()> {
        self.root.as_ref().map_or(Ok(()), |root| root.append(records))
    }
}

/// Renames a sidecar or residue file of an older output, if there is no new one, to `NAME.bak`: it
/// does not belong to the new output. Files for which `is_ours` returns true are removed later
/// instead.
fn keep_stale(names: &[Named], is_ours: impl Fn(&Path) -> bool) -> Result<(), ConvertError> {
    let Some(Named::Here(output)) = names.last() else { return Ok(()) };
    for ending in [SIDECAR, RESIDUE] {
        let name = beside(Path::new(&output.name), ending).into_os_string();
        let is_new = |named: &Named| matches!(named, Named::Here(place) if place.name == name);
        if names.iter().any(is_new) || is_ours(&output.folder.path().join(&name)) {
            continue;
        }
        match rename_to_backup(&output.folder, &name, &name) {
            // A name of full length has no room for an ending.
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

#[cfg(test)]
mod tests {
    use std::{fs, io::Write as _};

    use storage::Interruption;

    use super::*;

    #[test]
    fn a_refused_set_leaves_no_empty_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let main = folder.path().join("s1.jsonl");
        fs::write(&main, "another file").expect("written");
        let outputs = RunOutputs::below(folder.path(), false, Interruption::default());
        let outputs = outputs.expect("opened");
        let names = ["s1/tool-results/a.txt", "s1/subagents/agent-a1.jsonl", "s1.jsonl"];
        let files = names.map(|name| {
            let mut file = outputs.create(&folder.path().join(name), 0o600).expect("created");
            file.write_all(b"{}\n").expect("written");
            file.finish().expect("finished")
        });
        let refused = outputs.publish_set(&main, PublishSet::new(files.into(), Replace::Never));
        assert!(matches!(refused, Err(ConvertError::Exists(_))));
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 1);
    }
}
