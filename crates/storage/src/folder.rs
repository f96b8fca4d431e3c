//! A folder that is held open: below it, names are taken one by one, and no link is followed.

pub(crate) mod list;
mod make;
mod names;
mod permissions;

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags, fchmod, openat, statat},
    io::Errno,
};

use crate::names::one_line;

/// What a file that we write grants at most: it is for its owner alone.
pub const FILE_MODE: u32 = 0o600;

/// A folder that is held open.
///
/// Whoever moves it or puts a link in its place meanwhile does not change where we write.
#[derive(Debug)]
pub struct Folder {
    handle: File,
    path: PathBuf,
    /// The folder above, if this one was made by us: its name has to reach the disk too.
    new_in: Option<Arc<Folder>>,
}

/// Something in a folder.
#[derive(Debug)]
pub struct Entry {
    /// The name, without its folder.
    pub name: OsString,
    /// The type of the file itself: a link is not followed.
    pub kind: FileType,
}

/// Which file or folder it is, whatever it is called.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// Returns which file or folder is open.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub fn of(file: &File) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt;
        let metadata = file.metadata()?;
        Ok(Self { device: metadata.dev(), inode: metadata.ino() })
    }
}

impl Folder {
    /// Opens a folder by a path of the user's own: links in it are meant.
    ///
    /// # Errors
    ///
    /// If it is not there, or is no folder.
    pub fn open(path: &Path) -> io::Result<Arc<Self>> {
        Self::open_with(path, OFlags::empty())
    }

    /// Opens a folder by a path that was found, of which the last name must be no link.
    ///
    /// # Errors
    ///
    /// If it is not there, or is no folder.
    pub fn open_found(path: &Path) -> io::Result<Arc<Self>> {
        Self::open_with(path, OFlags::NOFOLLOW)
    }

    fn open_with(path: &Path, flags: OFlags) -> io::Result<Arc<Self>> {
        let named = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let flags = flags | OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = retried(|| rustix::fs::open(named, flags, Mode::empty()))?;
        Ok(Arc::new(Self { handle: handle.into(), path: path.to_owned(), new_in: None }))
    }

    /// Returns its path, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a folder in it, which must be no link.
    ///
    /// # Errors
    ///
    /// If it is not there, or something else has its name.
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

    /// Opens the folder of a path below it, if it is there.
    ///
    /// # Errors
    ///
    /// If a part of the path is a link, is no folder, leads out, or is not there.
    pub fn below(self: &Arc<Self>, path: &Path) -> io::Result<Arc<Self>> {
        let mut folder = self.clone();
        for part in path.components() {
            let Component::Normal(name) = part else { return Err(leads_out(path)) };
            folder = Arc::new(folder.enter(name)?);
        }
        Ok(folder)
    }

    /// Opens a regular file in it for reading, which must be no link.
    ///
    /// # Errors
    ///
    /// If it is not there, or is something else.
    pub fn read(&self, name: &OsStr) -> io::Result<File> {
        // A pipe that took the place of a file would block the open.
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
            Err(io::Error::other("no regular file"))
        }
    }

    /// Makes a file that is not there yet, readable and writable by us, with these permissions.
    ///
    /// # Errors
    ///
    /// If something has its name; the system's own.
    pub fn make(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let mode = permissions::of(mode);
        let handle = retried(|| openat(&self.handle, name, flags | OFlags::CLOEXEC, mode))?;
        // The umask may have taken what the mode grants.
        if let Err(error) = fchmod(&handle, mode) {
            _ = self.remove(name);
            return Err(error.into());
        }
        Ok(handle.into())
    }

    /// Opens a file for appending, made if it is not there; it must be no link.
    ///
    /// # Errors
    ///
    /// If something else has its name; the system's own.
    pub fn append(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW;
        let mode = permissions::of(mode);
        let handle = retried(|| openat(&self.handle, name, flags | OFlags::CLOEXEC, mode))?;
        fchmod(&handle, mode)?;
        Ok(handle.into())
    }

    /// Opens a file that we made in it, for writing at its end; it must be no link.
    ///
    /// # Errors
    ///
    /// If it is not there; the system's own.
    pub fn reopen(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(retried(|| openat(&self.handle, name, flags, Mode::empty()))?.into())
    }

    /// Returns what has a name in it; a link is a link.
    ///
    /// # Errors
    ///
    /// `NotFound` if nothing has; the system's own.
    pub fn kind(&self, name: &OsStr) -> io::Result<FileType> {
        let stat = statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileType::from_raw_mode(stat.st_mode))
    }

    /// Returns what is in it.
    ///
    /// # Errors
    ///
    /// The system's own.
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

    /// Returns which folder it is, whatever its path.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub fn identity(&self) -> io::Result<Identity> {
        Identity::of(&self.handle)
    }
}

/// Calls again what a signal interrupted.
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
