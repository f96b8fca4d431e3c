//! Renames, links and removes files in a folder.

use std::{ffi::OsStr, io};

use super::Folder;
use crate::system;

impl Folder {
    /// Renames a file to a free name.
    ///
    /// # Errors
    ///
    /// Returns `AlreadyExists` if the name is taken, or an error of the system.
    pub fn rename_to_free(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        system::rename_to_free(self.at(), from, to)
    }

    /// Renames a file and replaces the file with that name.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn rename_over(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        system::rename_over(self.at(), from, to)
    }

    /// Gives a file a second, free name.
    ///
    /// # Errors
    ///
    /// Returns `AlreadyExists` if the name is taken, or an error of the system.
    pub fn link(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        system::link(self.at(), from, to)
    }

    /// Removes an empty folder.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        system::remove_folder(self.at(), name)
    }

    /// Removes a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        system::remove(self.at(), name)
    }
}
