//! Lines that are appended to an object: stores cannot append, so it is written anew, ever less often.

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use object_store::{Error, GetOptions, ObjectStore, PutMode, PutPayload, PutResult, UpdateVersion};

use super::{bucket::Bucket, failure::failure};
use crate::backend::is_changed;

/// The log is written anew when what is not in the store yet is this part of all of it: then all
/// that is ever written is a few times what stands in the end.
const SHARE: usize = 4;

/// The fewest bytes for which it is written anew before the end.
const MIN_UNSAVED: usize = 16 * 1024;

/// How often it is written anew when others do so at the same time.
const MAX_ATTEMPTS: usize = 10;

/// Lines that are appended to an object, by several at a time: none loses another's.
#[derive(Debug)]
pub struct ObjectLog {
    bucket: Arc<Bucket>,
    path: PathBuf,
    /// What is in the store.
    saved: Vec<u8>,
    version: Option<UpdateVersion>,
    unsaved: Vec<u8>,
}

impl ObjectLog {
    /// Reads the log that is there, if one is.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn open(bucket: Arc<Bucket>, path: &Path) -> io::Result<Self> {
        let (saved, unsaved, version) = Default::default();
        let mut log = Self { bucket, path: path.to_owned(), saved, version, unsaved };
        log.load()?;
        Ok(log)
    }

    /// Returns the lines that are in the store, for reading; torn ones are none of ours.
    pub fn saved(&self) -> impl Read {
        self.saved.as_slice()
    }

    /// Appends a line, which reaches the store with others.
    pub fn append(&mut self, line: &[u8]) {
        self.unsaved.extend_from_slice(line);
    }

    /// Brings the lines to the store, if they are enough.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn save_some(&mut self) -> io::Result<()> {
        let is_enough = self.unsaved.len() >= MIN_UNSAVED.max(self.saved.len() / SHARE);
        if is_enough { self.save() } else { Ok(()) }
    }

    /// Brings all lines to the store.
    ///
    /// # Errors
    ///
    /// Those of the store; [`Changed`](crate::backend::Changed) if others do so all the time.
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
            match self.bucket.put_bytes(&key, PutPayload::from(whole.clone()), mode) {
                Ok(PutResult { e_tag, version, .. }) => {
                    self.version = Some(UpdateVersion { e_tag, version });
                    self.saved = whole;
                    self.unsaved.clear();
                    return Ok(());
                }
                // Another run wrote to it: its lines stay, and ours come after them.
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

/// Returns whether an error says that somebody else wrote meanwhile.
fn is_taken(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AlreadyExists || is_changed(error)
}
