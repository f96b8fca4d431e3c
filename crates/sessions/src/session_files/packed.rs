//! Finds the files of sessions whose main file is compressed, by their names without `.gz` and the
//! like.

use std::{
    borrow::Cow,
    collections::HashMap,
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use core_model::{FileRole, Files, Format, Formats, rules_out_file};
use storage::{Backend, Compression, Limits, NotListed};

use super::{Companion, Folders, SessionFiles, owner};
use crate::{input::Input, session::SessionPlace, walk::walk, warning::Warning};

/// Inputs under their names without endings of compression.
pub(super) struct Bare<'i> {
    formats: Formats,
    inputs: &'i [Input],
    places: HashMap<PathBuf, usize>,
}

impl<'i> Bare<'i> {
    /// Creates the names; `None` if no input has an ending of compression. If a name without ending
    /// exists, the existing file keeps it.
    pub(super) fn of(formats: Formats, inputs: &'i [Input]) -> Option<Self> {
        let is_packed = |input: &Input| input.path().is_some_and(Compression::is_in_name);
        inputs.iter().any(is_packed).then(|| {
            let (packed, plain): (Vec<_>, Vec<_>) =
                inputs.iter().enumerate().partition(|(_, input)| is_packed(input));
            let mut places = HashMap::new();
            for (input_idx, input) in plain.into_iter().chain(packed) {
                if let Some(path) = input.path() {
                    places.entry(Compression::bare_path(path)).or_insert(input_idx);
                }
            }
            Self { formats, inputs, places }
        })
    }

    /// Returns the index of the compressed main file that an input belongs to, and the role.
    pub(super) fn owner(&self, input_idx: usize) -> Option<(usize, &'static Format, FileRole)> {
        let path = Compression::bare_path(self.inputs.get(input_idx)?.path()?);
        if self.places.get(&path) != Some(&input_idx) {
            return None;
        }
        let (format, owner) = owner(self.formats, &path, self)?;
        let main = *self.places.get(&owner.main)?;
        let is_packed = self.inputs.get(main)?.path().is_some_and(Compression::is_in_name);
        is_packed.then_some((main, format, owner.role))
    }
}

impl Files for Bare<'_> {
    fn size(&self, path: &Path) -> io::Result<u64> {
        Ok(self.places.get(path).and_then(|it| self.inputs.get(*it)).map_or(0, Input::size))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        let input = self.places.get(path).and_then(|it| self.inputs.get(*it));
        Ok(Box::new(input.ok_or(io::ErrorKind::NotFound)?.open(Limits::default())?))
    }

    fn may_be_there(&self, path: &Path) -> bool {
        self.places.contains_key(path)
    }
}

impl SessionFiles {
    /// Returns whether its files have other names than they are stored under.
    fn is_packed(&self) -> bool {
        self.main.path().is_some_and(Compression::is_in_name)
    }

    /// Returns the name of a file in the session.
    pub fn path_of<'u>(&self, input: &'u Input) -> Option<Cow<'u, Path>> {
        let path = input.path()?;
        Some(match self.is_packed() {
            true => Cow::Owned(Compression::bare_path(path)),
            false => Cow::Borrowed(path),
        })
    }

    /// Returns the place of the files, by these names.
    pub fn place(&self, limits: Limits) -> SessionPlace {
        if !self.is_packed() {
            return SessionPlace::Stored(self.main.storage().clone());
        }
        let called = |input: &Input| Some((self.path_of(input)?.into_owned(), input.clone()));
        SessionPlace::expanded(self.files().filter_map(called), limits)
    }
}

/// Returns whether a file belongs to an existing session. Both may be compressed.
pub fn is_of_a_session(formats: Formats, input: &Input) -> bool {
    let Input::File { storage, path, .. } = input else { return false };
    let files = AnyEnding(storage);
    let found = owner(formats, &Compression::bare_path(path), &files);
    found.is_some_and(|(_, owner)| files.may_be_there(&owner.main))
}

/// The files of a backend under their names without endings of compression.
pub(super) struct AnyEnding<'s>(pub(super) &'s Backend);

impl AnyEnding<'_> {
    fn stored(&self, path: &Path) -> Option<PathBuf> {
        let packed = Compression::ENDINGS.map(|ending| storage::beside(path, ending));
        let mut paths = std::iter::once(path.to_owned()).chain(packed);
        paths.find(|path| match self.0.stat_file(path) {
            Ok(_) => true,
            Err(error) => !rules_out_file(&error),
        })
    }
}

impl Files for AnyEnding<'_> {
    fn size(&self, path: &Path) -> io::Result<u64> {
        self.0.size(&self.stored(path).ok_or(io::ErrorKind::NotFound)?)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        let path = self.stored(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(Input::stored(self.0.clone(), path).open(Limits::default())?))
    }

    fn may_be_there(&self, path: &Path) -> bool {
        self.stored(path).is_some()
    }
}

/// Returns the files that belong to a compressed main file, and the format with this layout.
///
/// # Errors
///
/// Returns an error if a folder cannot be listed.
pub(super) fn beside_packed(
    formats: Formats,
    main: &Input,
    storage: &Backend,
    path: &Path,
    folders: &Folders,
    warn: &mut dyn FnMut(Warning),
) -> io::Result<(Option<&'static Format>, Vec<Companion>)> {
    let mut inputs = vec![main.clone()];
    for input in around(formats, storage, path, folders, warn)? {
        match input {
            Input::Missing { path: folder, kind, reason } => {
                let error = io::Error::new(kind, reason);
                return Err(io::Error::new(kind, NotListed { folder, error }));
            }
            input if input.path() != Some(path) => inputs.push(input),
            _ => {}
        }
    }
    let Some(bare) = Bare::of(formats, &inputs) else { return Ok((None, Vec::new())) };
    let mut format = None;
    let mut others = Vec::new();
    for (input_idx, input) in inputs.iter().enumerate().skip(1) {
        if let Some((0, of, role)) = bare.owner(input_idx) {
            format = Some(of);
            others.push(Companion { input: input.clone(), role });
        }
    }
    Ok((format, others))
}

/// Returns the files in the folder of a compressed main file that may belong to it, and the files in the folder with its
/// name.
fn around(
    formats: Formats,
    storage: &Backend,
    main: &Path,
    folders: &Folders,
    warn: &mut dyn FnMut(Warning),
) -> io::Result<Vec<Input>> {
    let bare = Compression::bare_path(main);
    let found = |path: PathBuf| {
        let name = PathBuf::from(path.file_name().unwrap_or_default());
        Input::File { storage: storage.clone(), path, name, is_named: false }
    };
    let mut inputs: Vec<Input> = match storage {
        Backend::Disk => {
            let parent = main.parent().unwrap_or(Path::new(""));
            let entries = folders.beside(formats, main)?;
            let mut inputs: Vec<Input> =
                entries.iter().map(|entry| found(parent.join(&entry.name))).collect();
            // A file that is not compressed keeps its name, and the files that have it as their main file.
            if bare != main && storage.stat_file(&bare).is_ok() {
                inputs.push(found(bare.clone()));
            }
            let below = bare.with_extension("");
            match fs::metadata(&below) {
                Ok(metadata) if metadata.is_dir() => {
                    walk(&below, Path::new(""), &mut inputs, warn);
                }
                Err(error) if !rules_out_file(&error) => {
                    let kind = error.kind();
                    return Err(io::Error::new(kind, NotListed { folder: below, error }));
                }
                _ => {}
            }
            inputs
        }
        #[cfg(feature = "cloud")]
        Backend::Bucket(bucket) => bucket.beside(&bare)?.into_iter().map(found).collect(),
        Backend::Documents(_) => Vec::new(),
    };
    inputs.sort_by(|one, other| one.path().cmp(&other.path()));
    Ok(inputs)
}
