//! Opens files by path, on the disk or in another backend.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::Path,
};

/// Files that are opened by their paths.
pub trait Files {
    /// Returns the size of a file in bytes.
    ///
    /// # Errors
    ///
    /// Returns `NotFound` if there is no such file. Returns another error if the path is not a file
    /// or cannot be read.
    fn size(&self, path: &Path) -> io::Result<u64>;

    /// Opens a file for reading, from its start.
    ///
    /// # Errors
    ///
    /// Returns `NotFound` if there is no such file. Returns another error if it cannot be opened.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>>;

    /// Returns whether a file exists, or its existence cannot be ruled out.
    fn may_be_there(&self, path: &Path) -> bool {
        self.size(path).map_or_else(|error| !rules_out_file(&error), |_| true)
    }
}

/// Returns whether an error means that no file has a name. After another one, such as of a disk, a file may exist.
pub fn rules_out_file(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, NotFound, Other};
    [NotFound, NotADirectory, InvalidFilename, InvalidInput, Other].contains(&error.kind())
}

/// The files of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Files for Disk {
    fn size(&self, path: &Path) -> io::Result<u64> {
        let metadata = fs::metadata(path)?;
        if metadata.is_file() {
            Ok(metadata.len())
        } else {
            Err(io::Error::other("no regular file"))
        }
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(File::open(path)?))
    }
}
