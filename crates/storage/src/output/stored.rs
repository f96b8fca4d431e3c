//! The bytes of an unpublished file, held open or opened when they are needed.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Seek, Write},
    sync::Arc,
};

use crate::folder::{Folder, Identity};

/// The bytes of a file.
#[derive(Debug)]
pub(super) enum Stored {
    /// Held open.
    Open(File),
    /// Opened by its name in a folder when it is needed.
    Shut(Arc<Folder>, OsString),
    /// Opened by its path when it is needed, and removed on drop.
    Scratch(tempfile::TempPath),
}

impl Stored {
    /// Opens the file for reading from its start.
    pub(super) fn reread(&self) -> io::Result<File> {
        match self {
            Stored::Open(file) => {
                let mut file = file.try_clone()?;
                file.rewind()?;
                Ok(file)
            }
            Stored::Shut(folder, name) => folder.read(name),
            Stored::Scratch(path) => File::open(path),
        }
    }

    /// Returns the file's identity.
    pub(super) fn identity(&self) -> io::Result<Identity> {
        match self {
            Stored::Open(file) => Identity::of(file),
            Stored::Shut(..) | Stored::Scratch(_) => Identity::of(&self.reread()?),
        }
    }

    /// Syncs the bytes to the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        match self {
            Stored::Open(file) => file.sync_all(),
            Stored::Shut(..) | Stored::Scratch(_) => self.reread()?.sync_all(),
        }
    }
}

impl Write for Stored {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stored::Open(file) => file.write(bytes),
            Stored::Shut(folder, name) => folder.reopen(name)?.write(bytes),
            Stored::Scratch(path) => File::options().append(true).open(path)?.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stored::Open(file) => file.flush(),
            // A closed file has no unwritten buffer.
            Stored::Shut(..) | Stored::Scratch(_) => Ok(()),
        }
    }
}
