//! The folder, or the prefix in a store, whose files a journal lists.

use std::{
    ffi::OsStr,
    io::{self, Read, Write},
    path::Path,
    sync::Arc,
};

use sessions::Stores;
use storage::{
    AtomicFile, AtomicFileOptions, Backend, FILE_MODE, Folder, Interruption, JOURNAL, Lock, Place,
    Replace, is_url, lock, remove_dead, remove_stale,
};

#[cfg(feature = "cloud")]
use std::path::PathBuf;
#[cfg(feature = "cloud")]
use storage::Bucket;
#[cfg(feature = "cloud")]
use storage::Condition;

/// The folder, or the prefix in a store, whose files a journal lists.
#[derive(Clone, Debug)]
pub enum OutputRoot {
    /// A folder.
    Folder(Arc<Folder>),
    /// A prefix in a store.
    #[cfg(feature = "cloud")]
    Prefix(Arc<Bucket>, PathBuf),
}

impl OutputRoot {
    /// Opens a folder, which is created if it does not exist, or a prefix in a store.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does, or if the URL is not of a writable store.
    pub fn open(path: &Path, stores: &mut Stores) -> io::Result<Self> {
        let storage = if is_url(path) { stores.target(path)? } else { Backend::Disk };
        match storage {
            Backend::Disk | Backend::Documents(_) => Ok(Self::Folder(Folder::create(path)?)),
            #[cfg(feature = "cloud")]
            Backend::Bucket(bucket) => Ok(Self::Prefix(bucket, path.to_owned())),
        }
    }

    /// Returns the path or the URL.
    pub fn path(&self) -> &Path {
        match self {
            OutputRoot::Folder(folder) => folder.path(),
            #[cfg(feature = "cloud")]
            OutputRoot::Prefix(_, path) => path,
        }
    }

    /// Returns the backend.
    pub fn storage(&self) -> Backend {
        match self {
            OutputRoot::Folder(_) => Backend::Disk,
            #[cfg(feature = "cloud")]
            OutputRoot::Prefix(bucket, _) => Backend::Bucket(bucket.clone()),
        }
    }

    /// Returns the folder; `None` for a store.
    pub fn folder(&self) -> Option<&Arc<Folder>> {
        match self {
            OutputRoot::Folder(folder) => Some(folder),
            #[cfg(feature = "cloud")]
            OutputRoot::Prefix(..) => None,
        }
    }

    /// Removes temporary files of dead runs and workers: in a folder, if no run writes to it; in a
    /// store, if they are old.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be listed.
    pub fn sweep(&self) -> io::Result<()> {
        match self {
            OutputRoot::Folder(folder) => {
                let is_free = |journal| lock(&journal).is_ok_and(|it| it == Lock::Held);
                if folder.read(OsStr::new(JOURNAL)).is_ok_and(is_free) {
                    remove_stale(folder);
                }
            }
            #[cfg(feature = "cloud")]
            OutputRoot::Prefix(bucket, path) => bucket.sweep(&bucket.list(path)?),
        }
        Ok(())
    }

    /// Removes temporary files of dead workers from a folder, while other workers may write to it. A store has
    /// none that are known to be of a dead one.
    pub fn remove_dead(&self) {
        match self {
            OutputRoot::Folder(folder) => remove_dead(folder),
            #[cfg(feature = "cloud")]
            OutputRoot::Prefix(..) => {}
        }
    }

    /// Opens a file in it for reading. On the disk, links are not followed.
    ///
    /// # Errors
    ///
    /// Returns `NotFound` if there is no such file, or an error of the disk or the store.
    pub fn read(&self, below: &Path) -> io::Result<Box<dyn Read>> {
        match self {
            OutputRoot::Folder(folder) => {
                let (above, name) = (below.parent(), below.file_name());
                let (above, name) = above.zip(name).ok_or(io::ErrorKind::InvalidFilename)?;
                Ok(Box::new(folder.below(above)?.read(name)?))
            }
            #[cfg(feature = "cloud")]
            OutputRoot::Prefix(bucket, path) => Ok(Box::new(bucket.open(&path.join(below))?)),
        }
    }

    /// Removes a file in it.
    ///
    /// # Errors
    ///
    /// Returns an error if the disk or the store does.
    pub fn remove(&self, below: &Path) -> io::Result<()> {
        match self {
            OutputRoot::Folder(folder) => {
                let place = below.parent().zip(below.file_name());
                let (above, name) = place.ok_or(io::ErrorKind::InvalidFilename)?;
                folder.below(above)?.remove(name)
            }
            #[cfg(feature = "cloud")]
            OutputRoot::Prefix(bucket, path) => bucket.remove(&path.join(below)),
        }
    }

    /// Writes a small file of this program, over an earlier one, whole or not at all. It is not flushed to the disk.
    ///
    /// # Errors
    ///
    /// Returns an error if the disk or the store does. The earlier file may be lost then.
    pub fn write(&self, below: &Path, bytes: &[u8], interruption: Interruption) -> io::Result<()> {
        match self {
            OutputRoot::Folder(folder) => {
                let place = Place::below(folder, below)?;
                let options = AtomicFileOptions { interruption, ..AtomicFileOptions::default() };
                let mut pending = AtomicFile::create(place, FILE_MODE, options)?;
                pending.write_all(bytes)?;
                pending.finish()?.publish(Replace::Own).map(|_| ())
            }
            #[cfg(feature = "cloud")]
            OutputRoot::Prefix(bucket, path) => {
                let (length, mut reader) = (bytes.len() as u64, bytes);
                bucket
                    .put(&path.join(below), &mut reader, length, &Condition::Any, None)
                    .map(|_| ())
            }
        }
    }
}
