//! Windows: calls by paths, below folders that nobody can rename while they are held open.
//!
//! A folder is opened without the right to share its deletion. Windows then refuses to rename or remove it and
//! the folders above it. So a path below it leads to the same place as long as the handle is open.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File, FileType, Metadata, OpenOptions, TryLockError},
    io,
    os::windows::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::Duration,
};

use super::{At, FileKind, FileTimes, How};
use crate::lock::Lock;

/// `FILE_FLAG_BACKUP_SEMANTICS`: opens folders, too.
const FOLDERS_TOO: u32 = 0x0200_0000;

/// `FILE_FLAG_OPEN_REPARSE_POINT`: opens a link itself.
const LINK_ITSELF: u32 = 0x0020_0000;

/// `FILE_SHARE_READ | FILE_SHARE_WRITE`, without `FILE_SHARE_DELETE`.
const KEEPS_ITS_NAME: u32 = 1 | 2;

/// The hundreds of nanoseconds from 1601, where Windows begins to count, to 1970.
const TICKS_TO_1970: i128 = 116_444_736_000_000_000;

/// Opens a folder. Without `follows`, it must not be a link.
pub(crate) fn open_folder(path: &Path, follows: bool) -> io::Result<File> {
    let flags = if follows { FOLDERS_TOO } else { FOLDERS_TOO | LINK_ITSELF };
    let mut options = OpenOptions::new();
    let folder = options.read(true).share_mode(KEEPS_ITS_NAME).custom_flags(flags).open(path)?;
    match kind_of(folder.metadata()?.file_type()) {
        FileKind::Folder => Ok(folder),
        FileKind::Link | FileKind::File | FileKind::Other => {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }
}

/// Opens a folder in a folder. It must not be a link.
pub(crate) fn enter(at: At<'_>, name: &OsStr) -> io::Result<File> {
    open_folder(&at.path.join(name), false)
}

/// Opens a file in a folder.
pub(crate) fn open(at: At<'_>, name: &OsStr, how: How) -> io::Result<File> {
    let mut options = OpenOptions::new();
    match how {
        How::Read => options.read(true),
        How::Make(_) => options.read(true).write(true).create_new(true),
        How::Append(_) => options.read(true).append(true).create(true),
        How::Reopen => options.append(true),
    };
    let file = options.custom_flags(LINK_ITSELF).open(at.path.join(name))?;
    match kind_of(file.metadata()?.file_type()) {
        FileKind::Link => Err(io::Error::other("is a link, and links are not followed")),
        FileKind::File | FileKind::Folder | FileKind::Other => Ok(file),
    }
}

/// Does nothing: a new file has the access rights of its folder.
pub(crate) fn set_mode(_: &File, _: u32) -> io::Result<()> {
    Ok(())
}

/// Returns the type of a name.
pub(crate) fn kind(at: At<'_>, name: &OsStr) -> io::Result<FileKind> {
    Ok(kind_of(fs::symlink_metadata(at.path.join(name))?.file_type()))
}

/// Returns the names in a folder.
pub(crate) fn entries(at: At<'_>) -> io::Result<Vec<(OsString, FileKind)>> {
    fs::read_dir(at.path)?
        .map(|entry| {
            let entry = entry?;
            Ok((entry.file_name(), kind_of(entry.file_type()?)))
        })
        .collect()
}

/// Creates a folder in a folder, with the access rights of that folder.
pub(crate) fn make_folder(at: At<'_>, name: &OsStr) -> io::Result<()> {
    fs::create_dir(at.path.join(name))
}

/// Renames a file to a free name: links the new name, then removes the old one. A file system without links,
/// such as FAT, returns an error.
pub(crate) fn rename_to_free(at: At<'_>, from: &OsStr, to: &OsStr) -> io::Result<()> {
    link(at, from, to)?;
    remove(at, from)
}

/// Renames a file and replaces the file with that name, in one step.
pub(crate) fn rename_over(at: At<'_>, from: &OsStr, to: &OsStr) -> io::Result<()> {
    fs::rename(at.path.join(from), at.path.join(to))
}

/// Gives a file a second, free name.
pub(crate) fn link(at: At<'_>, from: &OsStr, to: &OsStr) -> io::Result<()> {
    fs::hard_link(at.path.join(from), at.path.join(to))
}

/// Removes a file.
pub(crate) fn remove(at: At<'_>, name: &OsStr) -> io::Result<()> {
    fs::remove_file(at.path.join(name))
}

/// Removes an empty folder.
pub(crate) fn remove_folder(at: At<'_>, name: &OsStr) -> io::Result<()> {
    fs::remove_dir(at.path.join(name))
}

/// Does nothing: Windows has no call that syncs the names in a folder.
pub(crate) fn sync_folder(_: &File) -> io::Result<()> {
    Ok(())
}

/// Returns the time since this machine started. It is not known here: files of dead runs are removed by their age.
pub(crate) fn uptime() -> Option<Duration> {
    None
}

/// Returns whether a file is on a file system that no other machine has, as far as that is known.
pub(crate) fn is_local(_: &File) -> bool {
    false
}

/// Asks for a lock, and returns at once. A folder has no lock.
pub(crate) fn lock(file: &File, is_shared: bool) -> io::Result<Lock> {
    if file.metadata()?.is_dir() {
        return Ok(Lock::Unknown);
    }
    match if is_shared { file.try_lock_shared() } else { file.try_lock() } {
        Ok(()) => Ok(Lock::Held),
        Err(TryLockError::WouldBlock) => Ok(Lock::Other(None)),
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
            Ok(Lock::Unknown)
        }
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Returns the volume and the number of an open file.
pub(crate) fn identity(file: &File) -> io::Result<(u64, u64)> {
    let found = winapi_util::file::information(file)?;
    Ok((found.volume_serial_number(), found.file_index()))
}

/// Returns the volume and the number of the file at a path. Links are followed.
pub(crate) fn identity_of_path(path: &Path) -> io::Result<(u64, u64)> {
    identity(&OpenOptions::new().read(true).custom_flags(FOLDERS_TOO).open(path)?)
}

/// Returns the permissions that a copy gets on another system.
pub(crate) fn mode(_: &Metadata) -> u32 {
    crate::folder::FILE_MODE
}

/// Returns the time of the last change. Windows has no time of a change that programs cannot set, and the
/// standard library no number of a file.
pub(crate) fn stat(metadata: &Metadata) -> FileTimes {
    let modified = (i128::from(metadata.last_write_time()) - TICKS_TO_1970) * 100;
    FileTimes { modified, changed: None, inode: None }
}

/// Returns true: the standard library does not know the other processes. Temporary files of a killed run are
/// removed when they are a day old.
pub(crate) fn is_alive(_: u32) -> bool {
    true
}

/// Returns true: the folder for temporary files belongs to the user.
pub(crate) fn is_own(_: &Metadata) -> bool {
    true
}

/// Opens an input. A file that was found, and not named by the user, may have been replaced by a link, which
/// is refused.
///
/// # Errors
///
/// Returns an error if the system does.
pub fn open_input(path: &Path, is_named: bool) -> io::Result<File> {
    let flags = if is_named { 0 } else { LINK_ITSELF };
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    match kind_of(file.metadata()?.file_type()) {
        FileKind::Link => {
            Err(io::Error::other("is a link, and links that are found are not followed"))
        }
        FileKind::File | FileKind::Folder | FileKind::Other => Ok(file),
    }
}

/// Returns the number of names of an open file.
///
/// # Errors
///
/// Returns an error if the system does.
pub(crate) fn n_links(file: &File) -> io::Result<u64> {
    Ok(winapi_util::file::information(file)?.number_of_links())
}

/// Returns the path with these bytes of UTF-8. Windows has names with lone surrogates, which are no UTF-8; a
/// replacement character takes the place of each.
pub fn path_of_bytes(bytes: Vec<u8>) -> PathBuf {
    match String::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned().into(),
    }
}

/// Returns `None`: there is no limit.
pub fn max_open_files() -> Option<u64> {
    None
}

fn kind_of(found: FileType) -> FileKind {
    if found.is_symlink() {
        FileKind::Link
    } else if found.is_dir() {
        FileKind::Folder
    } else if found.is_file() {
        FileKind::File
    } else {
        FileKind::Other
    }
}
