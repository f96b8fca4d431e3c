//! Files that are written, and get their names: on the disk, or as objects.

#[cfg(feature = "cloud")]
use std::sync::Arc;
use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::{
    Home, Place, Replace,
    backup::{keep_each, keep_old},
    stored::Stored,
};
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

/// A file that is written, but has not got its name yet.
#[derive(Debug)]
pub struct Finished {
    pub(super) file: Stored,
    pub(super) hash: u64,
    pub(super) length: u64,
    pub(super) sha256: Option<[u8; 32]>,
    pub(super) home: Home,
}

impl Finished {
    /// Returns how many bytes it has.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the XXH3 of its bytes; 0 if that was not to be asked.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Returns where on the disk it is to appear, if it is.
    pub fn place(&self) -> Option<&Place> {
        match &self.home {
            Home::Here(_, place) => Some(place),
            #[cfg(feature = "cloud")]
            Home::Away(..) => None,
            Home::Nowhere(..) => None,
        }
    }

    /// Returns which file it is, if it is to appear on the disk.
    pub fn identity(&self) -> Option<Identity> {
        self.place().and_then(|_| self.file.identity().ok())
    }

    /// Returns where it is to appear; nowhere in a rehearsal.
    fn named(&self) -> Named {
        match &self.home {
            Home::Here(_, place) => Named::Here(place.clone()),
            #[cfg(feature = "cloud")]
            Home::Away(bucket, path) => Named::Away(bucket.clone(), path.clone()),
            Home::Nowhere(..) => Named::Nowhere,
        }
    }

    /// Returns the SHA-256 of its bytes, if it was asked for.
    pub fn sha256(&self) -> Option<[u8; 32]> {
        self.sha256
    }

    /// Returns its path, for messages.
    pub fn path(&self) -> PathBuf {
        self.home.path()
    }

    /// Returns it from its start, for reading.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub fn reread(&self) -> io::Result<File> {
        self.file.reread()
    }

    /// Says when it was changed last.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub fn set_modified(&self, time: SystemTime) -> io::Result<()> {
        self.file.reread()?.set_modified(time)
    }

    /// Brings its bytes to the disk.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub fn sync(&self) -> io::Result<()> {
        match &self.home {
            Home::Here(..) => self.file.sync(),
            // What goes to a store is there when it has its name.
            #[cfg(feature = "cloud")]
            Home::Away(..) => Ok(()),
            Home::Nowhere(..) => Ok(()),
        }
    }

    /// Gives it its name.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if another file has it, and is to stay; the system's own.
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
                (self.rehearse(storage, path)?, None)
            }
            Home::Nowhere(..) => (true, None),
        };
        if let (true, Home::Here(temporary, _)) = (is_new, self.home) {
            temporary.keep();
        }
        Ok(Published { named, is_new, etag })
    }

    /// Gives it its name in its folder; returns whether that is new.
    fn rename(&self, temporary: &Temporary, place: &Place, replace: Replace) -> io::Result<bool> {
        let (temporary, Place { folder, name }) = (temporary.name(), place);
        match replace {
            Replace::Never => match folder.rename_to_free(temporary, name) {
                // What an earlier run wrote and did not live to tell is as good as ours.
                Err(error)
                    if error.kind() == io::ErrorKind::AlreadyExists
                        && folder.read(name).is_ok_and(|other| self.is_equal(other)) =>
                {
                    return Ok(false);
                }
                result => result?,
            },
            Replace::KeepOld => {
                // An earlier run that did not live to say so may have written it already: to keep that
                // aside would cost the older file that it kept.
                if !folder.read(name).is_ok_and(|other| self.is_equal(other)) {
                    keep_old(folder, name)?;
                }
                folder.rename_over(temporary, name)?;
            }
            Replace::KeepEach => {
                keep_each(folder, name)?;
                folder.rename_over(temporary, name)?;
            }
            Replace::Own => folder.rename_over(temporary, name)?,
        }
        Ok(true)
    }

    /// Gives it its name in a store; returns whether that is new, and what the object is then.
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
                // As on the disk, what is equal already is not kept aside.
                let is_there = bucket.stat(path).is_ok_and(|stat| stat.length == self.length);
                if !is_there || !bucket.is_equal(path, &mut self.reread()?, self.length)? {
                    match bucket.copy(path, &beside(path, "bak")) {
                        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                        result => result?,
                    }
                }
                Condition::Any
            }
            Replace::KeepEach => {
                for backup in super::backup::backups() {
                    let backup = beside(path, &backup);
                    match bucket.stat(&backup) {
                        Ok(_) => continue,
                        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                        Err(error) => return Err(error),
                    }
                    match bucket.copy(path, &backup) {
                        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                        result => result?,
                    }
                    break;
                }
                Condition::Any
            }
            Replace::Own => Condition::Same(bucket.stat(path)?.etag),
        };
        match bucket.put(path, &mut self.reread()?, self.length, &condition) {
            // What we wrote is not there any more, or is no longer what we wrote.
            Err(error) if replace == Replace::Own && is_changed(&error) => {
                Err(io::ErrorKind::AlreadyExists.into())
            }
            // What an earlier run wrote and did not live to tell is as good as ours.
            Err(error)
                if error.kind() == io::ErrorKind::AlreadyExists
                    && bucket.is_equal(path, &mut self.reread()?, self.length)? =>
            {
                Ok((false, bucket.stat(path)?))
            }
            result => Ok((true, result?)),
        }
    }

    fn rehearse(&self, storage: &Backend, path: &Path) -> io::Result<bool> {
        match storage.is_taken(path) {
            true if storage.reader(path).is_ok_and(|other| self.is_equal(other)) => Ok(false),
            true => Err(io::ErrorKind::AlreadyExists.into()),
            false => Ok(true),
        }
    }

    /// Returns whether nothing stands in its place, or what says the same.
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

/// Where a file has got its name.
#[derive(Clone, Debug)]
pub enum Named {
    /// In a folder.
    Here(Place),
    /// In a bucket.
    #[cfg(feature = "cloud")]
    Away(Arc<Bucket>, PathBuf),
    /// Nowhere: it was a dry run.
    Nowhere,
}

/// What came of giving a file its name.
#[derive(Clone, Debug)]
pub struct Published {
    /// The place.
    pub named: Named,
    /// Whether the name is new, and not that of an equal file.
    pub is_new: bool,
    /// What the store that it is in calls its content.
    pub etag: Option<String>,
}

impl Named {
    /// Takes the name away again.
    ///
    /// # Errors
    ///
    /// Those of the disk or the store.
    pub fn remove(&self) -> io::Result<()> {
        match self {
            Named::Here(Place { folder, name }) => folder.remove(name),
            #[cfg(feature = "cloud")]
            Named::Away(bucket, path) => bucket.remove(path),
            Named::Nowhere => Ok(()),
        }
    }
}

/// Returns whether two files have the same bytes.
pub fn are_equal(one: impl Read, other: impl Read) -> io::Result<bool> {
    let (mut one, mut other) = (io::BufReader::new(one), io::BufReader::new(other));
    let mut buffers = [[0; 8192]; 2];
    loop {
        let [ours, theirs] = &mut buffers;
        let n = one.read(ours)?;
        if n == 0 {
            return Ok(other.read(theirs)? == 0);
        }
        match other.read_exact(&mut theirs[..n]) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            result => result?,
        }
        if ours[..n] != theirs[..n] {
            return Ok(false);
        }
    }
}
