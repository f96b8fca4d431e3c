//! Groups files into sessions, the units of conversion.
//!
//! In: `s1.jsonl`, `s1/subagents/agent-a.jsonl`, `s2.jsonl`. Out: the session `s1.jsonl` with a
//! sub-agent, and the session `s2.jsonl`.

mod folders;
mod packed;

use std::{
    collections::HashMap,
    io::{self, Read},
    path::{Path, PathBuf},
};

use core_model::{FileRole, Files, Format, Formats, LayoutFile, Owner, SessionTree, system_words};
use storage::{Backend, Compression, NotListed};

use self::packed::{Bare, beside_packed};
use crate::{input::Input, session::SessionPlace, warning::Warning};

pub use self::{folders::Folders, packed::is_of_a_session};

/// A session: its main file, and the files that belong to it.
#[derive(Debug)]
pub struct SessionFiles {
    /// The main file, or a file that belongs to no session.
    pub main: Input,
    /// The files that belong to the main one, sorted by name.
    pub others: Vec<Companion>,
    /// The format whose client has this layout.
    pub format: Option<&'static Format>,
}

/// A file that belongs to a session.
#[derive(Debug)]
pub struct Companion {
    /// The file itself.
    pub input: Input,
    /// The role in the session.
    pub role: FileRole,
}

impl SessionFiles {
    /// Groups inputs into sessions, in the order of their main files. For a file that the user
    /// named, the files that belong to it are added.
    pub fn group(
        formats: Formats,
        inputs: Vec<Input>,
        warn: &mut dyn FnMut(Warning),
    ) -> Vec<SessionFiles> {
        let places: HashMap<PathBuf, usize> = inputs
            .iter()
            .enumerate()
            .filter_map(|(input_idx, input)| Some((input.path()?.to_owned(), input_idx)))
            .collect();
        let bare = Bare::of(formats, &inputs);
        let owners: Vec<_> = inputs
            .iter()
            .enumerate()
            .map(|(input_idx, input)| {
                let files = &Listed { places: &places, files: input.storage() };
                let found = owner(formats, input.path()?, files);
                let found = found.and_then(|(format, owner)| {
                    Some((*places.get(&owner.main)?, format, owner.role))
                });
                found.or_else(|| bare.as_ref()?.owner(input_idx))
            })
            .collect();
        let mut owned: HashMap<usize, (&'static Format, Vec<Companion>)> = HashMap::new();
        let mut mains = Vec::new();
        for (input_idx, (input, found)) in inputs.into_iter().zip(&owners).enumerate() {
            match found {
                // Ownership has one level: a file whose owner belongs to another file stays alone.
                Some((main, format, role)) if owners[*main].is_none() => {
                    let entry = owned.entry(*main).or_insert_with(|| (format, Vec::new()));
                    entry.1.push(Companion { input, role: role.clone() });
                }
                _ => mains.push((input_idx, input)),
            }
        }
        let mut unread = Vec::new();
        let folders = Folders::default();
        let unit = |(input_idx, main): (usize, Input)| {
            let (format, mut others) = match owned.remove(&input_idx) {
                Some((format, others)) => (Some(format), others),
                None => (None, Vec::new()),
            };
            let mut format = format;
            if let Input::File { is_named: true, .. } = &main
                && owners[input_idx].is_none()
            {
                let (found, more) =
                    beside(formats, &main, &folders, warn).unwrap_or_else(|error| {
                        unread.push(unread_beside(&main, &error));
                        (None, Vec::new())
                    });
                let is_new = |other: &Companion| {
                    other.input.path().is_some_and(|path| !places.contains_key(path))
                };
                others.extend(more.into_iter().filter(is_new));
                format = format.or(found);
            }
            SessionFiles { main, others, format }
        };
        let mut units: Vec<SessionFiles> = mains.into_iter().map(unit).collect();
        let alone = |main| SessionFiles { main, others: Vec::new(), format: None };
        units.extend(unread.into_iter().map(alone));
        units
    }

    /// Returns a file and the files that belong to it.
    ///
    /// # Errors
    ///
    /// Returns an error if a folder cannot be listed.
    pub fn of_file(
        formats: Formats,
        path: PathBuf,
        warn: &mut dyn FnMut(Warning),
    ) -> io::Result<Self> {
        Self::of_main(formats, Input::at(formats, path), warn)
    }

    /// Returns an input and the files that belong to it.
    ///
    /// # Errors
    ///
    /// Returns an error if a folder cannot be listed.
    pub fn of_main(
        formats: Formats,
        main: Input,
        warn: &mut dyn FnMut(Warning),
    ) -> io::Result<Self> {
        let (format, others) = beside(formats, &main, &Folders::default(), warn)?;
        Ok(Self { main, others, format })
    }

    /// Returns an input and the files that belong to it in the layout of a format. `folders` are the folders that were
    /// listed for other inputs.
    ///
    /// # Errors
    ///
    /// Returns an error if a folder cannot be listed.
    pub fn of_input(
        formats: Formats,
        main: Input,
        format: &Format,
        folders: &Folders,
        warn: &mut dyn FnMut(Warning),
    ) -> io::Result<Self> {
        let (found, others) = beside(formats, &main, folders, warn)?;
        let is_of_it = found.is_some_and(|found| found.name == format.name);
        let others = if is_of_it { others } else { Vec::new() };
        Ok(Self { main, others, format: found.filter(|_| is_of_it) })
    }

    /// Returns the format of all files, if the main file has the format of this layout, or no
    /// lines: the first lines of a sub-agent's file may be ambiguous.
    pub fn format_of_all(&self, main: Option<&Format>) -> Option<&'static Format> {
        self.format.filter(|format| main.is_none_or(|main| main.name == format.name))
    }

    /// Returns the files, the main one first.
    pub fn files(&self) -> impl Iterator<Item = &Input> + Clone {
        std::iter::once(&self.main).chain(self.others.iter().map(|other| &other.input))
    }

    /// Returns the total size in bytes.
    pub fn size(&self) -> u64 {
        self.files().map(Input::size).sum()
    }

    /// Reads the files and finds the links between them.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read, or if an input is not a file.
    pub fn tree(&self, format: &'static Format, place: &SessionPlace) -> io::Result<SessionTree> {
        let main = self.path_of(&self.main).ok_or(io::ErrorKind::InvalidFilename)?;
        let known = |other: &Companion| {
            let path = self.path_of(&other.input)?.into_owned();
            Some(LayoutFile { path, role: other.role.clone() })
        };
        let files: Vec<_> = self.others.iter().filter_map(known).collect();
        if let SessionPlace::Expanded(_) = place {
            // Later reads do not name the file that is too large.
            files.iter().try_for_each(|file| place.stat(&file.path).map(|_| ()))?;
        }
        SessionTree::of_files(format, &main, files, place)
    }
}

/// Returns an unreadable folder beside a session as an input, so that it gets a status.
fn unread_beside(main: &Input, error: &io::Error) -> Input {
    let found = error.get_ref().and_then(|cause| cause.downcast_ref::<NotListed>());
    let (path, cause) = match found {
        Some(NotListed { folder, error }) => (folder.as_path(), error),
        None => (main.path().unwrap_or(Path::new("")), error),
    };
    let reason = format!("{}; files of {} may be missing", system_words(cause), main.label());
    Input::Missing { path: path.to_owned(), kind: error.kind(), reason }
}

/// Files of a list, which exist without asking the system, and other files.
struct Listed<'l> {
    places: &'l HashMap<PathBuf, usize>,
    files: &'l Backend,
}

impl Files for Listed<'_> {
    fn size(&self, path: &Path) -> io::Result<u64> {
        self.files.size(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        self.files.open(path)
    }

    fn may_be_there(&self, path: &Path) -> bool {
        self.places.contains_key(path) || self.files.may_be_there(path)
    }
}

/// Returns the owner of a file, and the format with this layout.
fn owner(formats: Formats, path: &Path, files: &dyn Files) -> Option<(&'static Format, Owner)> {
    formats.iter().find_map(|format| Some((*format, (format.layout?.owner)(path, files)?)))
}

/// Calls `each` with the main file that owns a file in each layout.
fn each_owner(formats: Formats, path: &Path, files: &dyn Files, each: &mut dyn FnMut(PathBuf)) {
    for layout in formats.iter().filter_map(|format| format.layout) {
        if let Some(owner) = (layout.owner)(path, files) {
            each(owner.main);
        }
    }
}

/// Returns the files that belong to a main file, compressed or not, and the format with this
/// layout.
///
/// # Errors
///
/// Returns an error if a folder cannot be listed.
fn beside(
    formats: Formats,
    main: &Input,
    folders: &Folders,
    warn: &mut dyn FnMut(Warning),
) -> io::Result<(Option<&'static Format>, Vec<Companion>)> {
    let Input::File { storage, path, .. } = main else { return Ok((None, Vec::new())) };
    if Compression::is_in_name(path) {
        return beside_packed(formats, main, storage, path, folders, warn);
    }
    let in_folder = if storage.is_disk() { Some(folders.beside(formats, path)?) } else { None };
    let Some(found) = storage.belonging(formats, path, in_folder)? else {
        return Ok((None, Vec::new()));
    };
    let companion =
        |LayoutFile { path, role }| Companion { input: Input::stored(storage.clone(), path), role };
    Ok((Some(found.format), found.files.into_iter().map(companion).collect()))
}
