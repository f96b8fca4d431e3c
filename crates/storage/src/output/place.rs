//! The final position of a file: a folder that is held open, and a name in it.

use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf, is_separator},
    sync::Arc,
};

use crate::folder::{Folder, Identity};

/// The final position of a file.
#[derive(Clone, Debug)]
pub struct Place {
    /// The folder.
    pub folder: Arc<Folder>,
    /// The name in it.
    pub name: OsString,
}

impl Place {
    /// Returns the place of a path that the user gave, and creates its folder.
    ///
    /// # Errors
    ///
    /// Returns an error if the path has no file name, or its folder cannot be created or opened.
    pub fn of(path: &Path) -> io::Result<Self> {
        let name = file_name(path)?.to_owned();
        let folder = Folder::create(path.parent().unwrap_or(Path::new("")))?;
        Ok(Self { folder, name })
    }

    /// Returns the place of a relative path below a folder, without following links.
    ///
    /// # Errors
    ///
    /// Returns an error if the path leads out or through a link, or if its folder cannot be
    /// created.
    pub fn below(root: &Arc<Folder>, path: &Path) -> io::Result<Self> {
        let name = file_name(path)?.to_owned();
        let folder = root.create_below(path.parent().unwrap_or(Path::new("")))?;
        Ok(Self { folder, name })
    }

    /// Returns the identity of the file at this place, if there is one.
    pub fn identity(&self) -> Option<Identity> {
        Identity::of(&self.folder.read(&self.name).ok()?).ok()
    }

    /// Returns the path, for messages.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }
}

/// Returns the name of a file. A path that ends with a separator names a folder: `s.jsonl/` is not `s.jsonl`.
fn file_name(path: &Path) -> io::Result<&OsStr> {
    let last = path.as_os_str().as_encoded_bytes().last();
    let is_folder = last.is_some_and(|&last| is_separator(char::from(last)));
    let name = path.file_name().filter(|_| !is_folder);
    name.ok_or_else(|| io::Error::other("does not name a file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_slash_is_no_file() {
        let name =
            |path: &'static str| file_name(Path::new(path)).map_err(|error| error.to_string());
        assert_eq!(name("a/s.jsonl"), Ok(OsStr::new("s.jsonl")));
        for path in ["a/s.jsonl/", "s.jsonl//", "/", "..", ""] {
            assert_eq!(name(path), Err("does not name a file".to_owned()), "{path}");
        }
    }
}
