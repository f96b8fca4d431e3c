//! A folder that is held open, so that nobody can redirect a write by moving it or by adding links.
//!
//! In: a folder and a relative path. Out: files and folders below it, opened name by name without
//! following links.

pub(crate) mod list;
mod make;
mod names;

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io,
    path::{Component, Path, PathBuf},
    sync::{Arc, OnceLock},
};

use crate::{
    names::one_line,
    system::{self, At, FileKind, How},
};

/// The permissions of files that we write: for the owner alone.
pub const FILE_MODE: u32 = 0o600;

/// A folder that is held open.
///
/// Moving it, or replacing it with a link, does not change where files are written.
#[derive(Debug)]
pub struct Folder {
    handle: File,
    path: PathBuf,
    /// The folder above, if this one is new: syncing must write its name too.
    new_in: Option<Arc<Folder>>,
    /// The identity, after the first call of [`Folder::identity`].
    identity: OnceLock<Identity>,
}

/// A file or folder in a folder.
#[derive(Debug)]
pub struct Entry {
    /// The name, without the folder.
    pub name: OsString,
    /// The file type. A link is a link.
    pub kind: FileKind,
}

/// Identifies a file or folder independent of its name.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// Returns the identity of an open file or folder.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn of(file: &File) -> io::Result<Self> {
        let (device, inode) = system::identity(file)?;
        Ok(Self { device, inode })
    }

    /// Returns the identity of the file or folder at a path. Links are followed.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn of_path(path: &Path) -> io::Result<Self> {
        let (device, inode) = system::identity_of_path(path)?;
        Ok(Self { device, inode })
    }
}

impl Identity {
    /// Returns whether both are on one device.
    pub fn is_on_device_of(self, other: Self) -> bool {
        self.device == other.device
    }
}

impl Folder {
    /// Opens a folder by a path that the user gave. Links in it are followed.
    ///
    /// # Errors
    ///
    /// Returns an error if it does not exist or is not a folder.
    pub fn open(path: &Path) -> io::Result<Arc<Self>> {
        Self::open_with(path, true)
    }

    /// Opens a folder by a path that was found. Its last name must not be a link.
    ///
    /// # Errors
    ///
    /// Returns an error if it does not exist or is not a folder.
    pub fn open_found(path: &Path) -> io::Result<Arc<Self>> {
        Self::open_with(path, false)
    }

    fn open_with(path: &Path, follows: bool) -> io::Result<Arc<Self>> {
        let named = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let handle = system::open_folder(named, follows)?;
        let (new_in, identity) = Default::default();
        Ok(Arc::new(Self { handle, path: path.to_owned(), new_in, identity }))
    }

    /// Returns the folder for calls of the system.
    fn at(&self) -> At<'_> {
        At { handle: &self.handle, path: &self.path }
    }

    /// Returns the path, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a folder in it, which must not be a link.
    ///
    /// # Errors
    ///
    /// Returns an error if it does not exist or is not a folder.
    pub fn enter(&self, name: &OsStr) -> io::Result<Self> {
        let path = self.path.join(name);
        match system::enter(self.at(), name) {
            Ok(handle) => Ok(Self { handle, path, new_in: None, identity: OnceLock::new() }),
            Err(_) if self.kind(name).is_ok_and(|kind| kind == FileKind::Link) => {
                Err(is_link(&path))
            }
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Err(is_no_folder(&path)),
            Err(error) => Err(error),
        }
    }

    /// Opens the folder at a relative path.
    ///
    /// # Errors
    ///
    /// Returns an error if a part of the path does not exist, is a link, is not a folder, or leads
    /// out.
    pub fn below(self: &Arc<Self>, path: &Path) -> io::Result<Arc<Self>> {
        let mut folder = self.clone();
        for part in path.components() {
            let Component::Normal(name) = part else { return Err(leads_out(path)) };
            folder = Arc::new(folder.enter(name)?);
        }
        Ok(folder)
    }

    /// Opens a regular file in it for reading. It must not be a link.
    ///
    /// # Errors
    ///
    /// Returns an error if it does not exist or is not a regular file.
    pub fn read(&self, name: &OsStr) -> io::Result<File> {
        let handle = match system::open(self.at(), name, How::Read) {
            Ok(handle) => handle,
            Err(_) if self.kind(name).is_ok_and(|kind| kind == FileKind::Link) => {
                return Err(is_link(&self.path.join(name)));
            }
            Err(error) => return Err(error),
        };
        if handle.metadata()?.is_file() {
            Ok(handle)
        } else {
            Err(io::Error::other("not a regular file"))
        }
    }

    /// Creates a file with these permissions, open for reading and writing.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is taken, or if the system does.
    pub fn make(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        let handle = system::open(self.at(), name, How::Make(mode))?;
        if let Err(error) = system::set_mode(&handle, mode) {
            _ = self.remove(name);
            return Err(error);
        }
        Ok(handle)
    }

    /// Opens a file for appending and creates it if it does not exist. It must not be a link, nor have a
    /// second name, under which it may be another program's file.
    ///
    /// # Errors
    ///
    /// Returns an error if the name belongs to something other than a file, if the file has a second name,
    /// or if the system does.
    pub fn append(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        let handle = system::open(self.at(), name, How::Append(mode))?;
        if !handle.metadata()?.is_file() || system::n_links(&handle)? != 1 {
            let path = self.path.join(name).display().to_string();
            let problem = "is no regular file, or has a second name; move it away";
            return Err(io::Error::other(format!("{path} {problem}")));
        }
        system::set_mode(&handle, mode)?;
        Ok(handle)
    }

    /// Opens a file that we created, to write at its end. It must not be a link.
    ///
    /// # Errors
    ///
    /// Returns an error if it does not exist, or if the system does.
    pub fn reopen(&self, name: &OsStr) -> io::Result<File> {
        system::open(self.at(), name, How::Reopen)
    }

    /// Returns the file type of a name. A link is a link.
    ///
    /// # Errors
    ///
    /// Returns `NotFound` if the name is free, or an error of the system.
    pub fn kind(&self, name: &OsStr) -> io::Result<FileKind> {
        system::kind(self.at(), name)
    }

    /// Returns whether it is on a file system that no other machine has, as far as the system tells.
    pub fn is_local(&self) -> bool {
        system::is_local(&self.handle)
    }

    /// Returns the files and folders in it.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn entries(&self) -> io::Result<Vec<Entry>> {
        let entries = system::entries(self.at())?;
        Ok(entries.into_iter().map(|(name, kind)| Entry { name, kind }).collect())
    }

    /// Returns its identity, which does not depend on its path.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn identity(&self) -> io::Result<Identity> {
        if let Some(known) = self.identity.get() {
            return Ok(*known);
        }
        let identity = Identity::of(&self.handle)?;
        Ok(*self.identity.get_or_init(|| identity))
    }
}

fn is_link(path: &Path) -> io::Error {
    let path = one_line(path);
    io::Error::other(format!("{path} is a link, and links below the folder are not followed"))
}

fn is_no_folder(path: &Path) -> io::Error {
    let message = format!("{} is no folder; move it away", one_line(path));
    io::Error::new(io::ErrorKind::NotADirectory, message)
}

fn leads_out(path: &Path) -> io::Error {
    let path = one_line(path);
    io::Error::other(format!("{path} leads out of the folder"))
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    #[test]
    fn a_file_is_no_folder() {
        let scratch = tempfile::tempdir().expect("a folder");
        let file = scratch.path().join("odd");
        fs::write(&file, "mine").expect("written");
        let folder = Folder::open(scratch.path()).expect("opened");
        let error = folder.create_below(Path::new("odd/x")).expect_err("a file is there");
        let said = format!("{} is no folder; move it away", file.display());
        assert_eq!((error.kind(), error.to_string()), (io::ErrorKind::NotADirectory, said));
    }

    #[test]
    fn a_file_with_a_second_name_is_not_appended_to() {
        let scratch = tempfile::tempdir().expect("a folder");
        let (other, name) = (scratch.path().join("other"), OsStr::new("journal"));
        fs::write(&other, "mine").expect("written");
        fs::set_permissions(&other, PermissionsExt::from_mode(0o644)).expect("set");
        fs::hard_link(&other, scratch.path().join(name)).expect("linked");
        let folder = Folder::open(scratch.path()).expect("opened");
        assert!(folder.append(name, 0o600).is_err());
        let mode = fs::metadata(&other).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o644, "the permissions of another file stay");
        fs::remove_file(&other).expect("removed");
        folder.append(name, 0o600).expect("a file of its own");
    }
}
