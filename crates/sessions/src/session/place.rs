//! Where the files of a session are: as they are stored, or as they would be if none was compressed.

use std::{
    collections::HashMap,
    io::{self, Read, Seek},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use core_model::Files;
use storage::{Backend, Limits, Opened, Stat};

use crate::input::Input;

/// The bytes of a file.
pub trait Bytes: Read + Seek + Send {}

impl<R: Read + Seek + Send> Bytes for R {}

/// Where the files of a session are.
#[derive(Clone, Debug)]
pub enum SessionPlace {
    /// As they are stored.
    Stored(Backend),
    /// As they would be if none was compressed.
    Expanded(Arc<Expanded>),
}

/// Files by the names that they would have if none was compressed.
#[derive(Debug)]
pub struct Expanded {
    /// The inputs that the names are of.
    inputs: HashMap<PathBuf, Input>,
    limits: Limits,
    /// How long what inputs expand to is, and what they were then.
    lengths: Mutex<HashMap<PathBuf, (Stat, u64)>>,
}

/// A compressed file that cannot be read, and why.
#[derive(Debug, thiserror::Error)]
#[error("{label}: {error}")]
pub struct Unread {
    /// What the file is called.
    pub label: String,
    /// Why it cannot be read.
    pub error: io::Error,
}

impl Unread {
    fn of(input: &Input, error: io::Error) -> io::Error {
        io::Error::new(error.kind(), Self { label: input.label(), error })
    }
}

impl SessionPlace {
    /// Takes files by the names that they would have if none was compressed, within the limits of each.
    pub fn expanded(inputs: impl IntoIterator<Item = (PathBuf, Input)>, limits: Limits) -> Self {
        let (inputs, lengths) = (inputs.into_iter().collect(), Mutex::default());
        Self::Expanded(Arc::new(Expanded { inputs, limits, lengths }))
    }

    /// Returns what is known of a file: of one that is compressed, the length of what it expands to.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is none; those of asking, and of expanding it.
    pub fn stat(&self, path: &Path) -> io::Result<Stat> {
        match self {
            SessionPlace::Stored(storage) => storage.stat(path),
            SessionPlace::Expanded(files) => files.stat(path),
        }
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is none; those of reading.
    pub fn bytes(&self, path: &Path) -> io::Result<Box<dyn Bytes>> {
        match self {
            SessionPlace::Stored(storage) => Ok(Box::new(storage.reader(path)?)),
            SessionPlace::Expanded(files) => Ok(Box::new(files.open(path)?)),
        }
    }

    /// Returns what to call a file in messages.
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
