//! Restores the files beside a main file that a carry names, if their paths are safe.
//!
//! In: a manifest with the name `*/subagents/agent-a1.jsonl`. Out: the file
//! `s1/subagents/agent-a1.jsonl` beside `s1.jsonl`. A carry may be forged. A file is written beside
//! the main one only if the target's client keeps such a file there, and only if nothing else is
//! there: the folder named after the main file is new, or ours by the journal, or has the same
//! bytes already. Otherwise nothing is written beside the main file. With `--restore-files DIR`,
//! all other files go into a new folder.
//!
//! A killed run may have written some of the files, and left temporary ones. The same command finishes its work:
//!
//! ```text
//! in   s1/subagents/agent-a1.meta.json                         as the carry restores it
//!      s1/subagents/.agent-a1.jsonl.tmp-812-32b66833-1d4aac33  of a dead process
//! out  s1/subagents/agent-a1.meta.json, s1/subagents/agent-a1.jsonl
//! ```

use std::{
    collections::HashSet,
    fs::File,
    io::{self, Read, Write},
    path::Path,
    sync::Arc,
};

use conversion::{ConversionHistory, ManifestEntry, OtherTarget};
use core_model::FileRole;
use storage::{
    AtomicFile, Compression, Entry, FileKind, Finished, Folder, is_left_by_the_dead, open_input,
    remove_dead,
};

use super::paths::{check_folder, folder_of, name_of, path_of};
use crate::{
    error::ConvertError,
    job::Job,
    outputs::{RestoredFile, new_folders},
    paths::has_link,
};

/// The permissions of these files: for the owner alone, and never executable.
const MODE: u32 = 0o600;

/// Limit on files in a manifest beyond the number of entries in the written file.
pub(super) const MAX_EMPTY_FILES: u64 = 256;

/// A file that is restored beside the main one.
pub(crate) struct OtherFile {
    entry: ManifestEntry,
    /// The id of the sub-agent, if the file is a sub-agent's transcript.
    agent: Option<String>,
    sink: Sink,
}

/// The sink of a file.
enum Sink {
    /// Written, and published with the main file.
    Written(Box<AtomicFile>),
    /// Compared with the existing file, which must be equal.
    Compared(Comparison),
    /// Written to the folder of `--restore-files`; `None` in a dry run.
    Restored(Option<RestoredFile>),
    /// Dropped: no safe path.
    Nowhere,
    /// Dropped: another file is there.
    Taken,
}

/// The restored files.
#[derive(Default)]
pub(crate) struct FinishedFiles {
    /// The files to publish with the main one.
    pub files: Vec<Finished>,
    /// The names of all files, with existing equal ones.
    pub names: Vec<String>,
    /// The number of dropped files.
    pub n_unplaced: u64,
}

impl OtherFile {
    /// Returns the file as a target of a conversion.
    pub(crate) fn target(&mut self) -> OtherTarget<'_> {
        let sink = match &mut self.sink {
            Sink::Written(file) => Some(&mut **file as &mut dyn Write),
            Sink::Compared(comparison) => Some(comparison as &mut dyn Write),
            Sink::Restored(Some(file)) => Some(file as &mut dyn Write),
            Sink::Restored(None) | Sink::Nowhere | Sink::Taken => None,
        };
        OtherTarget { entry: self.entry.clone(), agent: self.agent.clone(), sink }
    }

    /// Finishes the files. If one differs from an existing file, none is written.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be written, or an existing one cannot be read.
    pub(crate) fn finish_all(others: Vec<OtherFile>) -> io::Result<FinishedFiles> {
        let mut finished = FinishedFiles::default();
        let (mut is_taken, mut n_beside) = (false, 0);
        let mut restored = Vec::new();
        for OtherFile { entry, mut sink, .. } in others {
            match &sink {
                Sink::Restored(_) => restored.push(entry.name.clone()),
                _ => n_beside += 1,
            }
            if let Sink::Compared(comparison) = &mut sink
                && !comparison.is_equal()?
            {
                sink = Sink::Taken;
            }
            match sink {
                Sink::Written(file) => finished.files.push(file.finish()?),
                Sink::Compared(_) => {}
                Sink::Taken => is_taken = true,
                Sink::Restored(file) => file.map_or(Ok(()), RestoredFile::finish)?,
                Sink::Nowhere => {
                    finished.n_unplaced += 1;
                    continue;
                }
            }
            finished.names.push(entry.name);
        }
        if is_taken {
            let folders = new_folders(finished.files.iter());
            finished.files.clear();
            folders.iter().for_each(|folder| folder.remove_new(None));
            finished.names = restored;
            finished.n_unplaced = n_beside;
        }
        Ok(finished)
    }
}

impl Job {
    /// Creates the files that a source is restored to, beside the main file at `path`. `n_entries`
    /// counts the entries of the source's carries.
    ///
    /// # Errors
    ///
    /// Returns an error if a file or folder cannot be created, or if the folder of
    /// `--restore-files` is not new.
    pub(crate) fn other_files(
        &self,
        history: &ConversionHistory,
        path: &Path,
        n_entries: impl FnOnce() -> Result<u64, ConvertError>,
    ) -> Result<Vec<OtherFile>, ConvertError> {
        let is_back = history.depth(self.config.to) == Some(0);
        let manifest = history.manifest.as_ref().filter(|_| is_back);
        let entries = manifest.map(|manifest| manifest.entries.as_slice()).unwrap_or_default();
        let Some((_, entries)) = entries.split_first() else { return Ok(Vec::new()) };
        let n_files = entries.len() as u64;
        let is_few = n_files <= MAX_EMPTY_FILES || n_files <= n_entries()? + MAX_EMPTY_FILES;
        let is_ours = self.outputs.has_written(path);
        let folder = folder_of(path);
        let is_there = folder.as_ref().is_some_and(|folder| folder.symlink_metadata().is_ok());
        let is_old_folder = is_there && !is_ours && !self.is_unfinished(path, history, entries);
        let mut taken = HashSet::from([folded(path)]);
        let mut files = Vec::new();
        for entry in entries {
            let role = self.config.to.layout.and_then(|layout| (layout.role)(&entry.name));
            let place = path_of(entry, path).filter(|place| {
                is_few && role.is_some() && taken.insert(folded(place)) && !has_link(place, path)
            });
            if let Some(place) = &place {
                check_folder(place, path)?;
            }
            let sink = match place {
                None => match &self.config.restore_files {
                    Some(folder) if is_few => {
                        let name = (files.len(), &*entry.name);
                        let n_files = entries.len();
                        let file =
                            self.outputs.create_restored(folder, path, name, n_files, MODE)?;
                        Sink::Restored(file)
                    }
                    _ => Sink::Nowhere,
                },
                Some(place) => match place.symlink_metadata() {
                    Ok(_) if !self.outputs.has_written(&place) => {
                        Sink::Compared(Comparison::new(&place))
                    }
                    Err(error) if error.kind() == io::ErrorKind::NotFound && is_old_folder => {
                        let is_in_folder = folder.as_ref().is_some_and(|it| place.starts_with(it));
                        match is_in_folder {
                            true => Sink::Taken,
                            false => self.written(path, &place, entries.len())?,
                        }
                    }
                    _ => self.written(path, &place, entries.len())?,
                },
            };
            let agent = match role {
                Some(FileRole::Agent(id)) => Some(id),
                _ => None,
            };
            files.push(OtherFile { entry: entry.clone(), agent, sink });
        }
        Ok(files)
    }

    /// Returns whether the folder of a main file has only files of these entries, files in the journal, and
    /// temporary files of killed runs, which it then removes. Existing files are compared later. A folder that
    /// cannot be read is a stranger's.
    fn is_unfinished(
        &self,
        main: &Path,
        history: &ConversionHistory,
        entries: &[ManifestEntry],
    ) -> bool {
        let role = |name: &str| self.config.to.layout.and_then(|layout| (layout.role)(name));
        let known: HashSet<_> = entries.iter().filter_map(|entry| path_of(entry, main)).collect();
        let manifest = history.manifest.as_ref();
        let agents = manifest.map(|manifest| &*manifest.agents).unwrap_or_default();
        let agents: HashSet<&String> = agents.iter().collect();
        // A sub-agent's file may have a carry of its own, with which it is compared.
        let is_of_agent = |path: &Path| match name_of(&Compression::bare_path(path), main) {
            Some(name) => matches!(role(&name), Some(FileRole::Agent(id)) if agents.contains(&id)),
            None => false,
        };
        let Some(root) = folder_of(main).filter(|folder| !has_link(folder, main)) else {
            return false;
        };
        let Ok(root) = Folder::open_found(&root) else { return false };
        let (mut folders, mut has_temporary) = (vec![root.clone()], false);
        while let Some(folder) = folders.pop() {
            let Ok(entries) = folder.entries() else { return false };
            for Entry { name, kind } in entries {
                let path = folder.path().join(&name);
                match kind {
                    FileKind::Folder => match folder.enter(&name) {
                        Ok(inner) => folders.push(Arc::new(inner)),
                        Err(_) => return false,
                    },
                    FileKind::File if is_left_by_the_dead(&folder, &name) => has_temporary = true,
                    FileKind::File
                        if known.contains(&path)
                            || self.outputs.has_written(&path)
                            || is_of_agent(&path) => {}
                    _ => return false,
                }
            }
        }
        if has_temporary && !self.outputs.write_options.is_dry_run {
            remove_dead(&root);
        }
        true
    }

    fn written(&self, main: &Path, place: &Path, n_files: usize) -> Result<Sink, ConvertError> {
        Ok(Sink::Written(Box::new(self.outputs.create_beside(main, place, MODE, n_files)?)))
    }
}

/// Returns a path for comparison: on some systems, names that differ in case or Unicode form are
/// one file.
fn folded(path: &Path) -> String {
    use unicode_normalization::UnicodeNormalization as _;
    // `ß` and `SS` are equal only in upper case.
    let text = path.to_string_lossy();
    let upper = text.nfc().flat_map(char::to_lowercase).flat_map(char::to_uppercase);
    upper.flat_map(char::to_lowercase).nfc().collect()
}

/// Compares bytes with an existing file.
struct Comparison {
    /// The existing file; `None` after a difference.
    file: Option<File>,
}

impl Comparison {
    fn new(path: &Path) -> Self {
        let is_file = |file: &File| file.metadata().is_ok_and(|metadata| metadata.is_file());
        Self { file: open_input(path, false).ok().filter(is_file) }
    }

    /// Returns whether the file ends where the bytes end.
    fn is_equal(&mut self) -> io::Result<bool> {
        let Some(file) = &mut self.file else { return Ok(false) };
        Ok(file.read(&mut [0])? == 0)
    }
}

impl Write for Comparison {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(file) = &mut self.file {
            let mut there = Vec::new();
            file.take(bytes.len() as u64).read_to_end(&mut there)?;
            if there != bytes {
                self.file = None;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_some_system_takes_for_one_are_equal() {
        for (one, other) in [("A.txt", "a.TXT"), ("straße", "STRASSE"), ("e\u{301}", "\u{c9}")] {
            assert_eq!(folded(Path::new(one)), folded(Path::new(other)));
        }
        assert_ne!(folded(Path::new("a")), folded(Path::new("b")));
    }
}
