//! Names in a folder: given, changed, and taken away.

use std::{ffi::OsStr, io};

use rustix::{
    fs::{AtFlags, linkat, renameat, unlinkat},
    io::Errno,
};

use super::Folder;

impl Folder {
    /// Gives a file another name, which must be free.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if it is not; the system's own.
    pub fn rename_to_free(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        {
            use rustix::fs::{RenameFlags, renameat_with};
            let flags = RenameFlags::NOREPLACE;
            match renameat_with(&self.handle, from, &self.handle, to, flags) {
                // The file system does not know how: a link and the removal of the old name do too.
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
                result => return Ok(result?),
            }
        }
        self.link(from, to)?;
        self.remove(from)
    }

    /// Gives a file another name, in place of what has it.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub fn rename_over(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(renameat(&self.handle, from, &self.handle, to)?)
    }

    /// Gives a file a second name, which must be free.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if it is not; the system's own.
    pub fn link(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(linkat(&self.handle, from, &self.handle, to, AtFlags::empty())?)
    }

    /// Removes a folder, which must be empty.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.handle, name, AtFlags::REMOVEDIR)?)
    }

    /// Removes a file.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.handle, name, AtFlags::empty())?)
    }
}
