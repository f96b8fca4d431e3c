//! The folder, or the prefix in a store, whose files a journal lists.

use std::{
    ffi::OsStr,
    io::{self, Read, Write},
    path::Path,
    sync::Arc,
};

use sessions::Stores;
use storage::{
    Backend, FILE_MODE, Folder, Interruption, JOURNAL, Lock, Pending, PendingOptions, Place,
    Replace, is_url, lock, remove_stale,
};

#[cfg(feature = "cloud")]
use std::path::PathBuf;
#[cfg(feature = "cloud")]
use storage::Bucket;
#[cfg(feature = "cloud")]
use storage::Condition;

/// The folder, or the prefix in a store, whose files a journal lists.
#[derive(Clone, Debug)]
pub enum Base {
    /// A folder.
    Folder(Arc<Folder>),
    /// What is below an URL in a store.
    #[cfg(feature = "cloud")]
    Prefix(Arc<Bucket>, PathBuf),
}

impl Base {
    /// Opens a folder, which is made if it is not there, or a store.
    ///
    /// # Errors
    ///
    /// The system's own; that an URL leads to no store that can be written to.
    pub fn open(path: &Path, stores: &mut Stores) -> io::Result<Self> {
        let storage = if is_url(path) { stores.target(path)? } else { Backend::Disk };
        match storage {
            Backend::Disk => Ok(Self::Folder(Folder::create(path)?)),
            #[cfg(feature = "cloud")]
            Backend::Bucket(bucket) => Ok(Self::Prefix(bucket, path.to_owned())),
        }
    }

    /// Returns its path, or its URL.
    pub fn path(&self) -> &Path {
        match self {
            Base::Folder(folder) => folder.path(),
            #[cfg(feature = "cloud")]
            Base::Prefix(_, path) => path,
        }
    }

    /// Returns what it is in.
    pub fn storage(&self) -> Backend {
        match self {
            Base::Folder(_) => Backend::Disk,
            #[cfg(feature = "cloud")]
            Base::Prefix(bucket, _) => Backend::Bucket(bucket.clone()),
        }
    }

    /// Returns the folder, if it is one.
    pub fn folder(&self) -> Option<&Arc<Folder>> {
        match self {
            Base::Folder(folder) => Some(folder),
            #[cfg(feature = "cloud")]
            Base::Prefix(..) => None,
        }
    }

    /// Removes what dead runs and workers left: in a folder, if nobody writes to it now; in a store, if
    /// it is old.
    ///
    /// # Errors
    ///
    /// Those of looking for it in a store.
    pub fn sweep(&self) -> io::Result<()> {
        match self {
            Base::Folder(folder) => {
                let is_free = |journal| lock(&journal).is_ok_and(|it| it == Lock::Held);
                if folder.read(OsStr::new(JOURNAL)).is_ok_and(is_free) {
                    remove_stale(folder);
                }
            }
            #[cfg(feature = "cloud")]
            Base::Prefix(bucket, path) => bucket.sweep(&bucket.list(path)?),
        }
        Ok(())
    }

    /// Opens a file of it for reading; on the disk, no link is followed.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is none; those of the disk or the store.
    pub fn read(&self, below: &Path) -> io::Result<Box<dyn Read>> {
        match self {
            Base::Folder(folder) => {
                let (above, name) = (below.parent(), below.file_name());
                let (above, name) = above.zip(name).ok_or(io::ErrorKind::InvalidFilename)?;
                Ok(Box::new(folder.below(above)?.read(name)?))
            }
            #[cfg(feature = "cloud")]
            Base::Prefix(bucket, path) => Ok(Box::new(bucket.open(&path.join(below))?)),
        }
    }

    /// Removes a file of it.
    ///
    /// # Errors
    ///
    /// Those of the disk or the store.
    pub fn remove(&self, below: &Path) -> io::Result<()> {
        match self {
            Base::Folder(folder) => {
                let place = below.parent().zip(below.file_name());
                let (above, name) = place.ok_or(io::ErrorKind::InvalidFilename)?;
                folder.below(above)?.remove(name)
            }
            #[cfg(feature = "cloud")]
            Base::Prefix(bucket, path) => bucket.remove(&path.join(below)),
        }
    }

    /// Writes a small file of ours, in place of an earlier one, whole or not at all.
    ///
    /// # Errors
    ///
    /// Those of the disk or the store; then there is the earlier one, or none.
    pub fn write(&self, below: &Path, bytes: &[u8], interruption: Interruption) -> io::Result<()> {
        match self {
            Base::Folder(folder) => {
                let place = Place::below(folder, below)?;
                let above = place.folder.clone();
                let options = PendingOptions { interruption, ..PendingOptions::default() };
                let mut pending = Pending::create(place, FILE_MODE, options)?;
                pending.write_all(bytes)?;
                pending.finish()?.publish(Replace::Own)?;
                if above.is_new() { above.sync() } else { Ok(()) }
            }
            #[cfg(feature = "cloud")]
            Base::Prefix(bucket, path) => {
                let (length, mut reader) = (bytes.len() as u64, bytes);
                bucket.put(&path.join(below), &mut reader, length, &Condition::Any).map(|_| ())
            }
        }
    }
}
