//! Where a file is to appear: a folder that is held open, and a name in it.

use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::folder::{Folder, Identity};

/// Where a file is to appear.
#[derive(Clone, Debug)]
pub struct Place {
    /// The folder.
    pub folder: Arc<Folder>,
    /// The name in it.
    pub name: OsString,
}

impl Place {
    /// Returns the place of a path of the user's own, and makes its folder if it is not there.
    ///
    /// # Errors
    ///
    /// If the path names no file, or its folder cannot be made or opened.
    pub fn of(path: &Path) -> io::Result<Self> {
        let folder = Folder::create(path.parent().unwrap_or(Path::new("")))?;
        Ok(Self { folder, name: file_name(path)?.to_owned() })
    }

    /// Returns the place of a path below a folder; no link on the way to it is followed.
    ///
    /// # Errors
    ///
    /// If the path leads out or through a link, or its folder cannot be made.
    pub fn below(root: &Arc<Folder>, path: &Path) -> io::Result<Self> {
        let name = file_name(path)?.to_owned();
        let folder = root.create_below(path.parent().unwrap_or(Path::new("")))?;
        Ok(Self { folder, name })
    }

    /// Returns which file is there, if one is.
    pub fn identity(&self) -> Option<Identity> {
        Identity::of(&self.folder.read(&self.name).ok()?).ok()
    }

    /// Returns its path, for messages.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }
}

fn file_name(path: &Path) -> io::Result<&OsStr> {
    path.file_name().ok_or_else(|| io::Error::other("names no file"))
}
