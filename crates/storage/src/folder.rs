//! A folder that is held open, so that nobody can redirect a write by moving it or by adding links.
//!
//! In: a folder and a relative path. Out: files and folders below it, opened name by name without
//! following links.

pub(crate) mod list;
mod make;
mod names;
mod permissions;

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File},
    io,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags, fchmod, openat, statat},
    io::Errno,
};

use crate::names::one_line;

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
}

/// A file or folder in a folder.
#[derive(Debug)]
pub struct Entry {
    /// The name, without the folder.
    pub name: OsString,
    /// The file type. A link is a link.
    pub kind: FileType,
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
        use std::os::unix::fs::MetadataExt;
        let metadata = file.metadata()?;
        Ok(Self { device: metadata.dev(), inode: metadata.ino() })
    }

    /// Returns the identity of the file or folder at a path. Links are followed.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn of_path(path: &Path) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt;
        let metadata = fs::metadata(path)?;
        Ok(Self { device: metadata.dev(), inode: metadata.ino() })
    }
}

impl Folder {
    /// Opens a folder by a path that the user gave. Links in it are followed.
    ///
    /// # Errors
    ///
    /// Returns an error if it does not exist or is not a folder.
    pub fn open(path: &Path) -> io::Result<Arc<Self>> {
        Self::open_with(path, OFlags::empty())
    }

    /// Opens a folder by a path that was found. Its last name must not be a link.
    ///
    /// # Errors
    ///
    /// Returns an error if it does not exist or is not a folder.
    pub fn open_found(path: &Path) -> io::Result<Arc<Self>> {
        Self::open_with(path, OFlags::NOFOLLOW)
    }

    fn open_with(path: &Path, flags: OFlags) -> io::Result<Arc<Self>> {
        let named = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let flags = flags | OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = retried(|| rustix::fs::open(named, flags, Mode::empty()))?;
        Ok(Arc::new(Self { handle: handle.into(), path: path.to_owned(), new_in: None }))
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
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let path = self.path.join(name);
        match retried(|| openat(&self.handle, name, flags, Mode::empty())) {
            Ok(handle) => Ok(Self { handle: handle.into(), path, new_in: None }),
            Err(_) if self.kind(name).is_ok_and(|kind| kind == FileType::Symlink) => {
                Err(is_link(&path))
            }
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
        // Without NONBLOCK, opening a pipe would block.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let handle = match retried(|| openat(&self.handle, name, flags, Mode::empty())) {
            Ok(handle) => File::from(handle),
            Err(_) if self.kind(name).is_ok_and(|kind| kind == FileType::Symlink) => {
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
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let mode = permissions::of(mode);
        let handle = retried(|| openat(&self.handle, name, flags | OFlags::CLOEXEC, mode))?;
        // The umask may have removed permissions.
        if let Err(error) = fchmod(&handle, mode) {
            _ = self.remove(name);
            return Err(error.into());
        }
        Ok(handle.into())
    }

    /// Opens a file for appending and creates it if it does not exist. It must not be a link.
    ///
    /// # Errors
    ///
    /// Returns an error if the name belongs to something other than a file, or if the system does.
    pub fn append(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW;
        let mode = permissions::of(mode);
        let handle = retried(|| openat(&self.handle, name, flags | OFlags::CLOEXEC, mode))?;
        fchmod(&handle, mode)?;
        Ok(handle.into())
    }

    /// Opens a file that we created, to write at its end. It must not be a link.
    ///
    /// # Errors
    ///
    /// Returns an error if it does not exist, or if the system does.
    pub fn reopen(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(retried(|| openat(&self.handle, name, flags, Mode::empty()))?.into())
    }

    /// Returns the file type of a name. A link is a link.
    ///
    /// # Errors
    ///
    /// Returns `NotFound` if the name is free, or an error of the system.
    pub fn kind(&self, name: &OsStr) -> io::Result<FileType> {
        let stat = statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileType::from_raw_mode(stat.st_mode))
    }

    /// Returns the files and folders in it.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn entries(&self) -> io::Result<Vec<Entry>> {
        use std::os::unix::ffi::OsStrExt;
        let mut entries = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.handle)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => self.kind(&name)?,
                kind => kind,
            };
            entries.push(Entry { name, kind });
        }
        Ok(entries)
    }

    /// Returns its identity, which does not depend on its path.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn identity(&self) -> io::Result<Identity> {
        Identity::of(&self.handle)
    }
}

/// Repeats a call that a signal interrupted.
fn retried<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
}

fn is_link(path: &Path) -> io::Error {
    let path = one_line(path);
    io::Error::other(format!("{path} is a link, and links below the folder are not followed"))
}

fn leads_out(path: &Path) -> io::Error {
    let path = one_line(path);
    io::Error::other(format!("{path} leads out of the folder"))
}
