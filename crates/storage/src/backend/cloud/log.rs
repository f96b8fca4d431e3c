//! Appends lines to an object.
//!
//! Stores cannot append, so the object is written again, ever less often as it grows. In: lines.
//! Out: one object with all lines, also of other writers.

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use object_store::{
    Attributes, Error, GetOptions, ObjectStore, PutMode, PutPayload, PutResult, UpdateVersion,
};

use super::{bucket::Bucket, failure::failure};
use crate::backend::is_changed;

/// The object is written when unsaved lines are this part of it (a quarter). So the bytes written
/// in all are a few times the final size.
const SHARE: usize = 4;

/// Minimum size of unsaved lines before the object is written, except at the end.
const MIN_UNSAVED: usize = 16 * 1024;

/// Limit on attempts to write while others write too.
const MAX_ATTEMPTS: usize = 10;

/// A log to which several runs may append without losing lines.
#[derive(Debug)]
pub struct ObjectLog {
    bucket: Arc<Bucket>,
    path: PathBuf,
    /// The lines in the store.
    saved: Vec<u8>,
    version: Option<UpdateVersion>,
    unsaved: Vec<u8>,
}

impl ObjectLog {
    /// Reads the existing log; an empty one if there is none.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    pub fn open(bucket: Arc<Bucket>, path: &Path) -> io::Result<Self> {
        let (saved, unsaved, version) = Default::default();
        let mut log = Self { bucket, path: path.to_owned(), saved, version, unsaved };
        log.load()?;
        Ok(log)
    }

    /// Returns a reader of the lines in the store. A torn line at the end is not one of this
    /// program's entries.
    pub fn saved(&self) -> impl Read {
        self.saved.as_slice()
    }

    /// Appends a line, which is stored with later ones.
    pub fn append(&mut self, line: &[u8]) {
        self.unsaved.extend_from_slice(line);
    }

    /// Writes the object if there are enough unsaved lines.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be written.
    pub fn save_some(&mut self) -> io::Result<()> {
        let is_enough = self.unsaved.len() >= MIN_UNSAVED.max(self.saved.len() / SHARE);
        if is_enough { self.save() } else { Ok(()) }
    }

    /// Writes the object with all lines.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be written, and [`Changed`](crate::backend::Changed) if
    /// other runs write at each attempt.
    pub fn save(&mut self) -> io::Result<()> {
        if self.unsaved.is_empty() {
            return Ok(());
        }
        let key = self.bucket.key(&self.path)?;
        for attempt in 1.. {
            let whole = [self.saved.as_slice(), &self.unsaved].concat();
            let mode = match &self.version {
                Some(version) => PutMode::Update(version.clone()),
                None => PutMode::Create,
            };
            match self.bucket.put_bytes(
                &key,
                PutPayload::from(whole.clone()),
                mode,
                Attributes::new(),
            ) {
                Ok(PutResult { e_tag, version, .. }) => {
                    self.version = Some(UpdateVersion { e_tag, version });
                    self.saved = whole;
                    self.unsaved.clear();
                    return Ok(());
                }
                // Another run wrote: its lines stay, and ours follow.
                Err(error) if attempt < MAX_ATTEMPTS && is_taken(&error) => self.load()?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn load(&mut self) -> io::Result<()> {
        let (store, key) = (self.bucket.store.clone(), self.bucket.key(&self.path)?);
        let read = async move {
            let result = store.get_opts(&key, GetOptions::default()).await?;
            let meta = result.meta.clone();
            Ok((meta, Vec::from(result.bytes().await?)))
        };
        match self.bucket.runtime.wait(read)? {
            Ok((meta, bytes)) => {
                self.version = Some(UpdateVersion { e_tag: meta.e_tag, version: meta.version });
                self.saved = bytes;
            }
            Err(Error::NotFound { .. }) => (self.version, self.saved) = (None, Vec::new()),
            Err(error) => return Err(failure(&error)),
        }
        Ok(())
    }
}

/// Returns whether another writer changed the object in the meantime.
fn is_taken(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AlreadyExists || is_changed(error)
}
