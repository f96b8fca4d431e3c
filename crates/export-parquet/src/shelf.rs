//! Where the parts of tables are kept: files of a folder, or what a caller makes of them.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Where the parts of tables are kept.
pub trait Shelf {
    /// A part that is being written.
    type Part: Write + Send;

    /// Creates a part; `name` is its path below the tables, such as `events/part-00000.parquet`.
    ///
    /// # Errors
    ///
    /// If it cannot be made, or is there already.
    fn create(&mut self, name: &str) -> io::Result<Self::Part>;

    /// Takes a part of which all is written, and returns its size in bytes.
    ///
    /// # Errors
    ///
    /// If it cannot be kept.
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

/// New files below a folder, which grow under their own names.
#[derive(Debug)]
pub struct NewFiles(PathBuf);

impl NewFiles {
    /// Takes a folder, which is made with the first part.
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
