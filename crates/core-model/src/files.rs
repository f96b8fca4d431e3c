//! Where files are looked up and opened: on a disk, or wherever else whoever asks keeps them.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::Path,
};

/// Files that are opened by their paths.
pub trait Files {
    /// Returns how many bytes a file has.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such file; another, if something else has the path or it cannot be
    /// asked for.
    fn size(&self, path: &Path) -> io::Result<u64>;

    /// Opens a file for reading, from its start.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such file; whatever else keeps it from being read.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>>;

    /// Returns whether there is a file, or nobody can say that there is none.
    fn may_be_there(&self, path: &Path) -> bool {
        use io::ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, NotFound, Other};
        let no = [NotFound, NotADirectory, InvalidFilename, InvalidInput, Other];
        self.size(path).map_or_else(|error| !no.contains(&error.kind()), |_| true)
    }
}

/// The files of this machine, by the paths that its system knows.
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
