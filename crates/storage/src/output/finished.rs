//! Publishes finished files, on the disk or in an object store.

#[cfg(feature = "cloud")]
use std::sync::Arc;
use std::{
    fs::File,
    io::{self, BufRead, Read},
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::{Home, Place, Replace, backup::keep_old, stored::Stored};
use crate::{backend::Backend, folder::Identity, temporary::Temporary};

#[cfg(feature = "cloud")]
use crate::{
    backend::{
        Stat,
        cloud::{Bucket, Condition},
        is_changed,
    },
    names::beside,
};

/// A finished file that has not been published. If it is dropped, its temporary file is removed.
#[derive(Debug)]
pub struct Finished {
    pub(super) file: Stored,
    pub(super) hash: u64,
    pub(super) length: u64,
    pub(super) sha256: Option<[u8; 32]>,
    pub(super) home: Home,
    /// The origin of an object, which is stored with it.
    #[cfg(feature = "cloud")]
    pub(super) origin: Option<String>,
}

impl Finished {
    /// Sets the origin that is stored with the file if it becomes an object, in ASCII.
    #[cfg(feature = "cloud")]
    pub fn set_origin(&mut self, origin: Option<String>) {
        self.origin = origin;
    }

    /// Returns the size in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the XXH3 of the bytes; 0 if it was not asked for.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Returns the place on the disk; `None` for an object or a dry run.
    pub fn place(&self) -> Option<&Place> {
        match &self.home {
            Home::Here(_, place) => Some(place),
            #[cfg(feature = "cloud")]
            Home::Away(..) => None,
            Home::Nowhere(..) => None,
        }
    }

    /// Returns the identity on the disk; `None` for an object or a dry run.
    pub fn identity(&self) -> Option<Identity> {
        self.place().and_then(|_| self.file.identity().ok())
    }

    /// Returns the final position.
    fn named(&self) -> Named {
        match &self.home {
            Home::Here(_, place) => Named::Here(place.clone()),
            #[cfg(feature = "cloud")]
            Home::Away(bucket, path) => Named::Away(bucket.clone(), path.clone()),
            Home::Nowhere(..) => Named::Nowhere,
        }
    }

    /// Returns the SHA-256 of the bytes, if it was asked for.
    pub fn sha256(&self) -> Option<[u8; 32]> {
        self.sha256
    }

    /// Returns the path, for messages.
    pub fn path(&self) -> PathBuf {
        self.home.path()
    }

    /// Opens the file for reading from its start.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn reread(&self) -> io::Result<File> {
        self.file.reread()
    }

    /// Sets the time of the last change.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn set_modified(&self, time: SystemTime) -> io::Result<()> {
        self.file.reread()?.set_modified(time)
    }

    /// Syncs the bytes to the disk.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn sync(&self) -> io::Result<()> {
        match &self.home {
            Home::Here(..) => self.file.sync(),
            // An object is durable once it is published.
            #[cfg(feature = "cloud")]
            Home::Away(..) => Ok(()),
            Home::Nowhere(..) => Ok(()),
        }
    }

    /// Publishes the file under its name. Does not sync: after a power cut, the name may have no
    /// bytes. [`Finished::sync`] before it prevents this, and [`Folder::sync`] after it keeps the name.
    ///
    /// # Errors
    ///
    /// Returns `AlreadyExists` if another file has the name and must stay, or an error of the
    /// system. Then the temporary file is removed.
    ///
    /// [`Folder::sync`]: crate::Folder::sync
    pub fn publish(self, replace: Replace) -> io::Result<Published> {
        let named = self.named();
        let (is_new, etag) = match &self.home {
            Home::Here(temporary, place) => (self.rename(temporary, place, replace)?, None),
            #[cfg(feature = "cloud")]
            Home::Away(bucket, path) => {
                let (is_new, stat) = self.send(bucket, path, replace)?;
                (is_new, stat.etag)
            }
            Home::Nowhere(storage, path) if replace == Replace::Never => {
                (self.check_for_dry_run(storage, path)?, None)
            }
            Home::Nowhere(..) => (true, None),
        };
        if let (true, Home::Here(temporary, _)) = (is_new, self.home) {
            temporary.keep();
        }
        Ok(Published { named, is_new, etag })
    }

    /// Renames the file in its folder. Returns whether the name is new.
    fn rename(&self, temporary: &Temporary, place: &Place, replace: Replace) -> io::Result<bool> {
        let (temporary, Place { folder, name }) = (temporary.name(), place);
        match replace {
            Replace::Never => match folder.rename_to_free(temporary, name) {
                // An equal file is from an earlier run that died before it wrote its journal.
                Err(error)
                    if error.kind() == io::ErrorKind::AlreadyExists
                        && folder.read(name).is_ok_and(|other| self.is_equal(other)) =>
                {
                    return Ok(false);
                }
                result => result?,
            },
            Replace::KeepOld => {
                // An equal file is from an earlier run that died before it wrote its journal.
                if !folder.read(name).is_ok_and(|other| self.is_equal(other)) {
                    keep_old(folder, name, |other| self.is_equal(other))?;
                }
                folder.rename_over(temporary, name)?;
            }
            Replace::KeepEach => {
                keep_old(folder, name, |_| false)?;
                folder.rename_over(temporary, name)?;
            }
            Replace::Own => folder.rename_over(temporary, name)?,
        }
        Ok(true)
    }

    /// Uploads the object. Returns whether its name is new, and its metadata.
    #[cfg(feature = "cloud")]
    fn send(
        &self,
        bucket: &Arc<Bucket>,
        path: &Path,
        replace: Replace,
    ) -> io::Result<(bool, Stat)> {
        let condition = match replace {
            Replace::Never => Condition::Free,
            Replace::KeepOld => {
                // As on the disk, an equal object is not kept as a backup.
                let is_there = bucket.stat(path).is_ok_and(|stat| stat.length == self.length);
                if !is_there || !bucket.is_equal(path, &mut self.reread()?, self.length)? {
                    keep_object(bucket, path)?;
                }
                Condition::Any
            }
            Replace::KeepEach => {
                keep_object(bucket, path)?;
                Condition::Any
            }
            Replace::Own => Condition::Same(bucket.stat(path)?.etag),
        };
        let origin = self.origin.as_deref();
        match bucket.put(path, &mut self.reread()?, self.length, &condition, origin) {
            // The object that we wrote was removed or changed.
            Err(error) if replace == Replace::Own && is_changed(&error) => {
                Err(io::ErrorKind::AlreadyExists.into())
            }
            // An equal object is from an earlier run that died before it wrote its journal.
            Err(error)
                if error.kind() == io::ErrorKind::AlreadyExists
                    && bucket.is_equal(path, &mut self.reread()?, self.length)? =>
            {
                Ok((false, bucket.stat(path)?))
            }
            result => Ok((true, result?)),
        }
    }

    fn check_for_dry_run(&self, storage: &Backend, path: &Path) -> io::Result<bool> {
        match storage.is_taken(path) {
            true if storage.reader(path).is_ok_and(|other| self.is_equal(other)) => Ok(false),
            true => Err(io::ErrorKind::AlreadyExists.into()),
            false => Ok(true),
        }
    }

    /// Returns whether the name is free or belongs to an equal file.
    pub fn is_free_or_equal(&self) -> bool {
        let is_fine = |there: io::Result<File>| match there {
            Ok(other) => self.is_equal(other),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        match &self.home {
            Home::Here(_, Place { folder, name }) => is_fine(folder.read(name)),
            #[cfg(feature = "cloud")]
            Home::Away(bucket, path) => match bucket.stat(path) {
                Ok(stat) if stat.length == self.length => {
                    let reread = self.reread();
                    reread
                        .and_then(|mut it| bucket.is_equal(path, &mut it, self.length))
                        .unwrap_or(false)
                }
                Ok(_) => false,
                Err(error) => error.kind() == io::ErrorKind::NotFound,
            },
            Home::Nowhere(storage, path) => {
                !storage.is_taken(path)
                    || storage.reader(path).is_ok_and(|other| self.is_equal(other))
            }
        }
    }

    fn is_equal(&self, other: impl Read) -> bool {
        self.reread().and_then(|file| are_equal(file, other)).unwrap_or(false)
    }
}

/// The position of a published file.
#[derive(Clone, Debug)]
pub enum Named {
    /// A name in a folder.
    Here(Place),
    /// A path in a bucket.
    #[cfg(feature = "cloud")]
    Away(Arc<Bucket>, PathBuf),
    /// Not published: a dry run.
    Nowhere,
}

/// The result of publishing a file.
#[derive(Clone, Debug)]
pub struct Published {
    /// The position.
    pub named: Named,
    /// Whether the name is new. If not, an equal file had it.
    pub is_new: bool,
    /// The etag of the object.
    pub etag: Option<String>,
}

/// Copies an object to `NAME.bak`, or to the first free name of this kind.
#[cfg(feature = "cloud")]
fn keep_object(bucket: &Bucket, path: &Path) -> io::Result<()> {
    for backup in super::backup::backups() {
        let backup = beside(path, &backup);
        match bucket.stat(&backup) {
            Ok(_) => continue,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        return match bucket.copy(path, &backup) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result,
        };
    }
    Err(super::backup::too_many())
}

impl Named {
    /// Removes the published file.
    ///
    /// # Errors
    ///
    /// Returns an error if the disk or the store does.
    pub fn remove(&self) -> io::Result<()> {
        match self {
            Named::Here(Place { folder, name }) => folder.remove(name),
            #[cfg(feature = "cloud")]
            Named::Away(bucket, path) => bucket.remove(path),
            Named::Nowhere => Ok(()),
        }
    }
}

/// The number of bytes of each file that are compared at a time.
const BLOCK: usize = 64 * 1024;

/// Returns whether two readers have the same bytes.
///
/// # Errors
///
/// Returns an error if one cannot be read.
pub fn are_equal(one: impl Read, other: impl Read) -> io::Result<bool> {
    let mut one = io::BufReader::with_capacity(BLOCK, one);
    let mut other = io::BufReader::with_capacity(BLOCK, other);
    loop {
        let (ours, theirs) = (one.fill_buf()?, other.fill_buf()?);
        let n = ours.len().min(theirs.len());
        if n == 0 {
            return Ok(ours.is_empty() && theirs.is_empty());
        }
        if ours[..n] != theirs[..n] {
            return Ok(false);
        }
        one.consume(n);
        other.consume(n);
    }
}
