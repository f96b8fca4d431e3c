//! Opens the files of a session as they are stored, or decompressed and under names without `.gz`.

use std::{
    collections::HashMap,
    io::{self, Read, Seek},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use core_model::{Files, system_words};
use storage::{Backend, Limits, Opened, Stat};

use crate::input::Input;

/// The bytes of a file.
pub trait Bytes: Read + Seek + Send {}

impl<R: Read + Seek + Send> Bytes for R {}

/// The place of a session's files.
#[derive(Clone, Debug)]
pub enum SessionPlace {
    /// Files as they are stored.
    Stored(Backend),
    /// Files as if none were compressed.
    Expanded(Arc<Expanded>),
}

/// Files under their names without endings of compression.
#[derive(Debug)]
pub struct Expanded {
    /// The input of each name.
    inputs: HashMap<PathBuf, Input>,
    limits: Limits,
    /// The decompressed lengths, and the metadata for which they hold.
    lengths: Mutex<HashMap<PathBuf, (Stat, u64)>>,
}

/// The error for a compressed file that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{label}: {}", system_words(error))]
pub struct Unread {
    /// The name of the file in messages.
    pub label: String,
    /// The error of decompressing it.
    pub error: io::Error,
}

impl Unread {
    fn of(input: &Input, error: io::Error) -> io::Error {
        io::Error::new(error.kind(), Self { label: input.label(), error })
    }
}

impl SessionPlace {
    /// Creates a place of inputs under their names without endings of compression.
    pub fn expanded(inputs: impl IntoIterator<Item = (PathBuf, Input)>, limits: Limits) -> Self {
        let (inputs, lengths) = (inputs.into_iter().collect(), Mutex::default());
        Self::Expanded(Arc::new(Expanded { inputs, limits, lengths }))
    }

    /// Returns the metadata of a file, with its decompressed length.
    ///
    /// # Errors
    ///
    /// Returns `NotFound` if there is no such file, or an error of reading or decompressing it.
    pub fn stat(&self, path: &Path) -> io::Result<Stat> {
        match self {
            SessionPlace::Stored(storage) => storage.stat(path),
            SessionPlace::Expanded(files) => files.stat(path),
        }
    }

    /// Returns whether a file has a sidecar.
    pub fn has_sidecar(&self, path: &Path) -> bool {
        let found = match self {
            SessionPlace::Stored(storage) => {
                Input::stored(storage.clone(), path.to_owned()).found_sidecar()
            }
            SessionPlace::Expanded(files) => files.inputs.get(path).and_then(Input::found_sidecar),
        };
        found.is_some()
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    ///
    /// Returns `NotFound` if there is no such file, or an error of reading it.
    pub fn bytes(&self, path: &Path) -> io::Result<Box<dyn Bytes>> {
        match self {
            SessionPlace::Stored(storage) => Ok(Box::new(storage.reader(path)?)),
            SessionPlace::Expanded(files) => Ok(Box::new(files.open(path)?)),
        }
    }

    /// Returns the name of a file for messages.
    pub fn label(&self, path: &Path) -> String {
        match self {
            SessionPlace::Expanded(files) => match files.inputs.get(path) {
                Some(input) => input.label(),
                None => path.display().to_string(),
            },
            SessionPlace::Stored(_) => path.display().to_string(),
        }
    }
}

impl Files for SessionPlace {
    fn size(&self, path: &Path) -> io::Result<u64> {
        Ok(self.stat(path)?.length)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(self.bytes(path)?))
    }
}

impl Expanded {
    fn input(&self, path: &Path) -> io::Result<&Input> {
        self.inputs.get(path).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn open(&self, path: &Path) -> io::Result<Opened> {
        self.input(path)?.open(self.limits)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        let input = self.input(path)?;
        let stored = input.storage().stat(input.path().unwrap_or(path))?;
        let mut lengths = self.lengths.lock().unwrap_or_else(PoisonError::into_inner);
        let length = match lengths.get(path) {
            Some((known, length)) if *known == stored => *length,
            _ => {
                let expanded =
                    self.open(path).and_then(|mut it| io::copy(&mut it, &mut io::sink()));
                expanded.map_err(|error| Unread::of(input, error))?
            }
        };
        lengths.insert(path.to_owned(), (stored.clone(), length));
        Ok(Stat { length, ..stored })
    }
}
