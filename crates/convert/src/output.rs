//! Where to write: a file appears whole or not at all, and nothing is overwritten unasked.

use std::{
    fs::{self, DirBuilder, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use tempfile::{Builder, NamedTempFile};

use crate::interrupt::{Interruptible, Remembered};

/// A file that is being written under a temporary name.
pub(crate) struct Pending {
    file: BufWriter<Interruptible<NamedTempFile>>,
    path: PathBuf,
    remembered: Remembered,
}

impl Pending {
    /// Creates a file for `path`, readable by its owner alone.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let folder = folder_of(path);
        make_folders(folder)?;
        let file = Builder::new().prefix(".convert-").suffix(".tmp").tempfile_in(folder)?;
        let remembered = Remembered::new(file.path());
        let file = BufWriter::with_capacity(256 * 1024, Interruptible(file));
        Ok(Self { file, path: path.to_owned(), remembered })
    }

    /// Opens what was written so far for reading.
    pub(crate) fn reopen(&mut self) -> io::Result<File> {
        self.file.flush()?;
        self.file.get_ref().0.reopen()
    }

    /// Gives the file its name, once its bytes are on the disk.
    ///
    /// With `force` an older file of that name is kept as `NAME.bak`; without, it is an error.
    pub(crate) fn finish(self, force: bool) -> io::Result<()> {
        let file = self.file.into_inner().map_err(|error| error.into_error())?.0;
        file.as_file().sync_all()?;
        if force {
            keep_old(&self.path)?;
            file.persist(&self.path).map_err(|error| error.error)?;
        } else {
            file.persist_noclobber(&self.path).map_err(|error| error.error)?;
        }
        drop(self.remembered);
        sync_folder(folder_of(&self.path))
    }
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Keeps a file as `NAME.bak`: the name itself never vanishes.
fn keep_old(path: &Path) -> io::Result<()> {
    let mut backup = path.as_os_str().to_owned();
    backup.push(".bak");
    match fs::remove_file(&backup) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    match fs::hard_link(path, &backup) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn make_folders(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
