//! Creates folders, and syncs their names together with the names of the files in them.

use std::{
    ffi::OsStr,
    fs::Metadata,
    io,
    path::{Component, Path},
    sync::{Arc, OnceLock},
};

use super::{Folder, leads_out};
use crate::{
    lock::{Lock, lock},
    system,
};

impl Folder {
    /// Opens a folder by a path that the user gave, and creates missing folders.
    ///
    /// # Errors
    ///
    /// Returns an error if a folder cannot be created or opened.
    pub fn create(path: &Path) -> io::Result<Arc<Self>> {
        match Self::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => return opened,
        }
        let above = Self::create(path.parent().ok_or(io::ErrorKind::NotFound)?)?;
        // A path that ends in `..` exists once the folder above it does.
        let Some(name) = path.file_name() else { return Self::open(path) };
        above.make_missing(name)?;
        let handle = Self::open(path)?.handle.try_clone()?;
        let (path, new_in) = (path.to_owned(), Some(above));
        Ok(Arc::new(Self { handle, path, new_in, identity: OnceLock::new() }))
    }

    /// Creates a folder in it.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is taken, or if the system does.
    pub fn make_folder(&self, name: &OsStr) -> io::Result<Self> {
        system::make_folder(self.at(), name)?;
        self.enter(name).inspect_err(|_| _ = self.remove_folder(name))
    }

    /// Creates a folder in it, unless it exists: another job may have created it in the meantime.
    fn make_missing(&self, name: &OsStr) -> io::Result<()> {
        match system::make_folder(self.at(), name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made,
        }
    }

    /// Locks the folder, unless another run holds the lock.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn lock(&self) -> io::Result<Lock> {
        lock(&self.handle)
    }

    /// Returns whether we created the folder.
    pub fn is_new(&self) -> bool {
        self.new_in.is_some()
    }

    /// Returns its owner and the time of the last change in it.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.handle.metadata()
    }

    /// Opens the folder at a relative path, and creates missing folders.
    ///
    /// # Errors
    ///
    /// Returns an error if a part of the path is a link, is not a folder, or leads out, or if the
    /// system does.
    pub fn create_below(self: &Arc<Self>, path: &Path) -> io::Result<Arc<Self>> {
        let mut folder = self.clone();
        for part in path.components() {
            let Component::Normal(name) = part else { return Err(leads_out(path)) };
            folder = Arc::new(match folder.enter(name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    folder.make_missing(name)?;
                    Self { new_in: Some(folder.clone()), ..folder.enter(name)? }
                }
                entered => entered?,
            });
        }
        Ok(folder)
    }

    /// Removes the folder if we created it and nothing is in it, then the folder above it in the same
    /// way. `root` and the folders above it stay.
    pub fn remove_new(self: &Arc<Self>, root: Option<&Arc<Self>>) {
        let mut folder = self;
        while let Some((above, name)) = folder.new_in.as_ref().zip(folder.path.file_name())
            && root.is_none_or(|root| !Arc::ptr_eq(root, folder))
            // The system removes no folder with files in it.
            && above.remove_folder(name).is_ok()
        {
            folder = above;
        }
    }

    /// Syncs the names in it to the disk, and its own name if we created it.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn sync(&self) -> io::Result<()> {
        let mut folder = Some(self);
        while let Some(it) = folder {
            system::sync_folder(&it.handle)?;
            folder = it.new_in.as_deref();
        }
        Ok(())
    }
}
