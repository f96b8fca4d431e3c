//! Renames, links and removes files in a folder.

use std::{ffi::OsStr, io};

use rustix::{
    fs::{AtFlags, linkat, renameat, unlinkat},
    io::Errno,
};

use super::Folder;

impl Folder {
    /// Renames a file to a free name.
    ///
    /// # Errors
    ///
    /// Returns `AlreadyExists` if the name is taken, or an error of the system.
    pub fn rename_to_free(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        {
            use rustix::fs::{RenameFlags, renameat_with};
            let flags = RenameFlags::NOREPLACE;
            match renameat_with(&self.handle, from, &self.handle, to, flags) {
                // The file system cannot rename without replacing: link the new name, then remove
                // the old one.
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
                result => return Ok(result?),
            }
        }
        self.link(from, to)?;
        self.remove(from)
    }

    /// Renames a file and replaces the file with that name.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn rename_over(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(renameat(&self.handle, from, &self.handle, to)?)
    }

    /// Gives a file a second, free name.
    ///
    /// # Errors
    ///
    /// Returns `AlreadyExists` if the name is taken, or an error of the system.
    pub fn link(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(linkat(&self.handle, from, &self.handle, to, AtFlags::empty())?)
    }

    /// Removes an empty folder.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.handle, name, AtFlags::REMOVEDIR)?)
    }

    /// Removes a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.handle, name, AtFlags::empty())?)
    }
}
