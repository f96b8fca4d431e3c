//! Creates files in the new folder of `--restore-files`.
//!
//! In: the folder `rest`, the main file `out/app/s1.jsonl` of a run to `out/`, the third file of its carry, with
//! the name `.git/hooks/post-checkout`. Out: `rest/app/s1.jsonl/2-post-checkout`. A main file that is not in the
//! folder of a run has its files in `rest` itself.
//!
//! The run creates the folder with the first file. A folder that was there before is refused, and no link in
//! it is followed.

use std::{
    ffi::OsString,
    io::{self, Write},
    path::Path,
    sync::{Arc, PoisonError},
};

use core_model::SafeName;
use storage::Folder;

use super::RunOutputs;

/// A file in the folder of `--restore-files`. It is opened for each write, so that any number can be written
/// at once.
pub(crate) struct ApartFile {
    folder: Arc<Folder>,
    name: OsString,
}

impl ApartFile {
    /// Syncs the bytes to the disk.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.folder.reopen(&self.name)?.sync_all()
    }
}

impl Write for ApartFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.folder.reopen(&self.name)?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl RunOutputs {
    /// Creates a file of the carry of the main file at `main`, in the folder `apart`. `name` is its name in the
    /// carry, and `file_idx` its place there. `None` in a dry run.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder was there before the run, or if the system does.
    pub(crate) fn create_apart(
        &self,
        apart: &Path,
        main: &Path,
        (file_idx, name): (usize, &str),
        mode: u32,
    ) -> io::Result<Option<ApartFile>> {
        let named = |error: io::Error| {
            io::Error::new(error.kind(), format!("{}: {error}", apart.display()))
        };
        let Some(folder) = self.apart(apart).map_err(named)? else { return Ok(None) };
        let below = self.root.as_ref().map(|root| root.strip(main)).unwrap_or(Path::new(""));
        let folder = folder.create_below(below).map_err(named)?;
        let leaf = name.rsplit('/').next().unwrap_or_default();
        let name = OsString::from(format!("{file_idx}-{}", SafeName::of(leaf).as_str()));
        match folder.make(&name, mode) {
            // A source that changed is converted again.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                folder.remove(&name)?;
                folder.make(&name, mode)?
            }
            made => made?,
        };
        Ok(Some(ApartFile { folder, name }))
    }

    /// Returns the new folder, which is created once; `None` in a dry run.
    fn apart(&self, path: &Path) -> io::Result<Option<Arc<Folder>>> {
        let mut apart = self.apart.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = &*apart {
            return Ok(Some(folder.clone()));
        }
        let name = path.file_name().ok_or(io::ErrorKind::AlreadyExists)?;
        let above = Folder::open(path.parent().unwrap_or(Path::new("")))?;
        if self.write_options.is_dry_run {
            return match above.kind(name) {
                Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(error),
            };
        }
        let folder = Arc::new(above.make_folder(name)?);
        *apart = Some(folder.clone());
        Ok(Some(folder))
    }
}
