//! Folders that are made: their names reach the disk with those of the files in them.

use std::{
    ffi::OsStr,
    fs::Metadata,
    io,
    path::{Component, Path},
    sync::Arc,
};

use rustix::{fs::mkdirat, io::Errno};

use super::{Folder, leads_out, permissions};
use crate::lock::{Lock, lock};

/// What a folder is made with: it is for its owner alone.
const FOLDER_MODE: u32 = 0o700;

impl Folder {
    /// Opens a folder by a path of the user's own, and makes what is missing of it.
    ///
    /// # Errors
    ///
    /// If it cannot be made or opened.
    pub fn create(path: &Path) -> io::Result<Arc<Self>> {
        match Self::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => return opened,
        }
        let above = Self::create(path.parent().ok_or(io::ErrorKind::NotFound)?)?;
        // What ends in `..` is there once the folder above it is.
        let Some(name) = path.file_name() else { return Self::open(path) };
        match mkdirat(&above.handle, name, permissions::of(FOLDER_MODE)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let handle = Self::open(path)?.handle.try_clone()?;
        Ok(Arc::new(Self { handle, path: path.to_owned(), new_in: Some(above) }))
    }

    /// Makes a folder in it that is not there yet.
    ///
    /// # Errors
    ///
    /// If something has its name; the system's own.
    pub fn make_folder(&self, name: &OsStr) -> io::Result<Self> {
        mkdirat(&self.handle, name, permissions::of(FOLDER_MODE))?;
        self.enter(name)
    }

    /// Takes the lock on it, if nobody has that.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub fn lock(&self) -> io::Result<Lock> {
        lock(&self.handle)
    }

    /// Returns whether it was made by us.
    pub fn is_new(&self) -> bool {
        self.new_in.is_some()
    }

    /// Returns who owns it, and when something in it was changed last.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.handle.metadata()
    }

    /// Opens the folder of a path below it, and makes what is missing of it.
    ///
    /// # Errors
    ///
    /// If a part of the path is a link, is no folder, or leads out; the system's own.
    pub fn create_below(self: &Arc<Self>, path: &Path) -> io::Result<Arc<Self>> {
        let mut folder = self.clone();
        for part in path.components() {
            let Component::Normal(name) = part else { return Err(leads_out(path)) };
            folder = Arc::new(match folder.enter(name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    match mkdirat(&folder.handle, name, permissions::of(FOLDER_MODE)) {
                        // Another job may have made it meanwhile.
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                    Self { new_in: Some(folder.clone()), ..folder.enter(name)? }
                }
                entered => entered?,
            });
        }
        Ok(folder)
    }

    /// Brings the names in it to the disk, and its own name if it was made by us.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub fn sync(&self) -> io::Result<()> {
        let mut folder = Some(self);
        while let Some(it) = folder {
            match it.handle.sync_all() {
                // Some file systems know no such thing for folders, and say so.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
                result => result?,
            }
            folder = it.new_in.as_deref();
        }
        Ok(())
    }
}
