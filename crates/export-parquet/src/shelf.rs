//! Stores the parts of tables: as files of a folder, or as the caller implements it.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// A store for the parts of tables.
pub trait Shelf {
    /// A part that is being written.
    type Part: Write + Send;

    /// Creates a part. `name` is its path below the tables, such as `events/part-00000.parquet`.
    ///
    /// # Errors
    ///
    /// Returns an error if the part exists or cannot be created.
    fn create(&mut self, name: &str) -> io::Result<Self::Part>;

    /// Closes a complete part, and returns its size in bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the part cannot be stored.
    fn close(&mut self, part: Self::Part) -> io::Result<u64>;
}

impl<S: Shelf> Shelf for &mut S {
    type Part = S::Part;

    fn create(&mut self, name: &str) -> io::Result<Self::Part> {
        (**self).create(name)
    }

    fn close(&mut self, part: Self::Part) -> io::Result<u64> {
        (**self).close(part)
    }
}

/// New files below a folder, written under their final names. A file that exists is an error.
#[derive(Debug)]
pub struct NewFiles(PathBuf);

impl NewFiles {
    /// Creates a store in a folder, which is created with the first part.
    pub fn below(folder: &Path) -> Self {
        Self(folder.to_owned())
    }
}

impl Shelf for NewFiles {
    type Part = File;

    fn create(&mut self, name: &str) -> io::Result<File> {
        let path = self.0.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)
    }

    fn close(&mut self, part: File) -> io::Result<u64> {
        part.sync_all()?;
        Ok(part.metadata()?.len())
    }
}
