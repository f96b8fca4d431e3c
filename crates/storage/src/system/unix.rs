//! Linux, macOS and other Unix systems: calls relative to an open folder.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File, Metadata},
    io,
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        fs::{MetadataExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::{
    fs::{
        AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, fchmod, flock, linkat, mkdirat,
        openat, renameat, statat, unlinkat,
    },
    io::Errno,
    process::{Pid, Resource, geteuid, getrlimit, test_kill_process},
};

use super::{At, FileKind, FileTimes, How};
use crate::lock::Lock;

/// The permissions of folders that we create: for the owner alone.
const FOLDER_MODE: u32 = 0o700;

/// Opens a folder. Without `follows`, its last name must not be a link.
pub(crate) fn open_folder(path: &Path, follows: bool) -> io::Result<File> {
    let flags = if follows { OFlags::empty() } else { OFlags::NOFOLLOW };
    let flags = flags | OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(retried(|| rustix::fs::open(path, flags, Mode::empty()))?.into())
}

/// Opens a folder in a folder. It must not be a link.
pub(crate) fn enter(at: At<'_>, name: &OsStr) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(retried(|| openat(at.handle, name, flags, Mode::empty()))?.into())
}

/// Opens a file in a folder.
pub(crate) fn open(at: At<'_>, name: &OsStr, how: How) -> io::Result<File> {
    let flags = match how {
        // Without NONBLOCK, opening a pipe would block.
        How::Read => OFlags::RDONLY | OFlags::NONBLOCK,
        How::Make(_) => OFlags::RDWR | OFlags::CREATE | OFlags::EXCL,
        How::Append(_) => OFlags::RDWR | OFlags::APPEND | OFlags::CREATE,
        How::Reopen => OFlags::WRONLY | OFlags::APPEND,
    };
    let mode = match how {
        How::Make(mode) | How::Append(mode) => permissions(mode),
        How::Read | How::Reopen => Mode::empty(),
    };
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(retried(|| openat(at.handle, name, flags, mode))?.into())
}

/// Sets the permissions, from which the umask may have removed some.
pub(crate) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    Ok(fchmod(file, permissions(mode))?)
}

/// Returns the type of a name.
pub(crate) fn kind(at: At<'_>, name: &OsStr) -> io::Result<FileKind> {
    let stat = statat(at.handle, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(kind_of(FileType::from_raw_mode(stat.st_mode)))
}

/// Returns the names in a folder. Unlike the standard library, it does not panic if the folder cannot be
/// closed.
pub(crate) fn entries(at: At<'_>) -> io::Result<Vec<(OsString, FileKind)>> {
    let mut entries = Vec::new();
    for entry in Dir::read_from(at.handle)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
        if name == "." || name == ".." {
            continue;
        }
        let found = match entry.file_type() {
            FileType::Unknown => kind(at, &name)?,
            known => kind_of(known),
        };
        entries.push((name, found));
    }
    Ok(entries)
}

/// Creates a folder in a folder, for the owner alone.
pub(crate) fn make_folder(at: At<'_>, name: &OsStr) -> io::Result<()> {
    Ok(mkdirat(at.handle, name, permissions(FOLDER_MODE))?)
}

/// Renames a file to a free name.
pub(crate) fn rename_to_free(at: At<'_>, from: &OsStr, to: &OsStr) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        match renameat_with(at.handle, from, at.handle, to, RenameFlags::NOREPLACE) {
            // The file system cannot rename without replacing: link the new name, then remove the old one.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            result => return Ok(result?),
        }
    }
    link(at, from, to)?;
    remove(at, from)
}

/// Renames a file and replaces the file with that name, in one step.
pub(crate) fn rename_over(at: At<'_>, from: &OsStr, to: &OsStr) -> io::Result<()> {
    Ok(renameat(at.handle, from, at.handle, to)?)
}

/// Gives a file a second, free name.
pub(crate) fn link(at: At<'_>, from: &OsStr, to: &OsStr) -> io::Result<()> {
    Ok(linkat(at.handle, from, at.handle, to, AtFlags::empty())?)
}

/// Removes a file.
pub(crate) fn remove(at: At<'_>, name: &OsStr) -> io::Result<()> {
    Ok(unlinkat(at.handle, name, AtFlags::empty())?)
}

/// Removes an empty folder.
pub(crate) fn remove_folder(at: At<'_>, name: &OsStr) -> io::Result<()> {
    Ok(unlinkat(at.handle, name, AtFlags::REMOVEDIR)?)
}

/// Syncs the names in a folder to the disk. Does nothing on file systems that cannot.
pub(crate) fn sync_folder(folder: &File) -> io::Result<()> {
    match folder.sync_all() {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}

/// Asks for a lock, and returns at once. [`Lock::Other`] has no process.
pub(crate) fn lock(file: &File, is_shared: bool) -> io::Result<Lock> {
    let operation = match is_shared {
        true => FlockOperation::NonBlockingLockShared,
        false => FlockOperation::NonBlockingLockExclusive,
    };
    match flock(file, operation) {
        Ok(()) => Ok(Lock::Held),
        Err(Errno::WOULDBLOCK) => Ok(Lock::Other(None)),
        Err(Errno::NOLCK | Errno::NOTSUP | Errno::NOSYS | Errno::INVAL) => Ok(Lock::Unknown),
        Err(error) => Err(error.into()),
    }
}

/// Returns the device and the number of an open file.
pub(crate) fn identity(file: &File) -> io::Result<(u64, u64)> {
    let metadata = file.metadata()?;
    Ok((metadata.dev(), metadata.ino()))
}

/// Returns the device and the number of the file at a path. Links are followed.
pub(crate) fn identity_of_path(path: &Path) -> io::Result<(u64, u64)> {
    let metadata = fs::metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

/// Returns the permissions.
pub(crate) fn mode(metadata: &Metadata) -> u32 {
    metadata.mode()
}

/// Returns the times and the number.
pub(crate) fn stat(metadata: &Metadata) -> FileTimes {
    let nanos = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    FileTimes {
        modified: nanos(metadata.mtime(), metadata.mtime_nsec()),
        changed: Some(nanos(metadata.ctime(), metadata.ctime_nsec())),
        inode: Some(metadata.ino()),
    }
}

/// Returns whether a process with this id is alive.
pub(crate) fn is_alive(pid: u32) -> bool {
    let id = i32::try_from(pid).ok().and_then(Pid::from_raw);
    // A process that we may not signal is alive.
    id.is_some_and(|id| test_kill_process(id) != Err(Errno::SRCH)) && !is_zombie(pid)
}

/// Returns whether a process has ended, and its parent has not asked for its status yet: in a container the parent may never
/// do so.
#[cfg(target_os = "linux")]
fn is_zombie(pid: u32) -> bool {
    // `7 (a name) Z 1 ..`; the name may have brackets of its own.
    let mut stat = Vec::new();
    if let Ok(mut file) = File::open(format!("/proc/{pid}/stat")) {
        // What cannot be read tells nothing.
        _ = io::Read::read_to_end(&mut file, &mut stat);
    }
    let state = stat.iter().rposition(|byte| *byte == b')').and_then(|end| stat.get(end + 2));
    matches!(state, Some(b'Z' | b'X'))
}

#[cfg(not(target_os = "linux"))]
fn is_zombie(_: u32) -> bool {
    false
}

/// Returns the time since this machine started, with the time in which it slept.
#[cfg(target_os = "linux")]
pub(crate) fn uptime() -> Option<Duration> {
    // `/proc/uptime` may be the time of a container.
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Some(Duration::new(u64::try_from(now.tv_sec).ok()?, u32::try_from(now.tv_nsec).ok()?))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn uptime() -> Option<Duration> {
    None
}

/// Returns whether a file is on a file system of this machine; false for unknown ones. A disk that this machine exports
/// counts as local.
#[cfg(target_os = "linux")]
pub(crate) fn is_local(file: &File) -> bool {
    /// ext2 to ext4, XFS, Btrfs, F2FS, ZFS, bcachefs, tmpfs, and the overlays of containers (statfs(2)).
    const LOCAL: [u64; 8] = [
        0xef53,
        0x5846_5342,
        0x9123_683e,
        0xf2f5_2010,
        0x2fc1_2fc1,
        0xca45_1a4e,
        0x0102_1994,
        0x794c_7630,
    ];
    rustix::fs::fstatfs(file)
        .is_ok_and(|found| LOCAL.contains(&(found.f_type as u64 & 0xffff_ffff)))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn is_local(_: &File) -> bool {
    false
}

/// Returns whether the user of this process owns a file.
pub(crate) fn is_own(metadata: &Metadata) -> bool {
    metadata.uid() == geteuid().as_raw()
}

/// Opens an input. A file that was found, and not named by the user, may have been replaced by a link, which
/// is refused, or by a pipe, which does not block.
///
/// # Errors
///
/// Returns an error if the system does.
pub fn open_input(path: &Path, is_named: bool) -> io::Result<File> {
    let flags = if is_named { OFlags::empty() } else { OFlags::NOFOLLOW | OFlags::NONBLOCK };
    File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

/// Returns the number of names of an open file.
///
/// # Errors
///
/// Returns an error if the system does.
pub(crate) fn n_links(file: &File) -> io::Result<u64> {
    Ok(file.metadata()?.nlink())
}

/// Returns the path with these bytes.
pub fn path_of_bytes(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

/// Returns the limit on the open files of this process; `None` if there is none.
pub fn max_open_files() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// Converts permissions: 32 bits on Linux, 16 on macOS.
fn permissions(mode: u32) -> Mode {
    Mode::from_raw_mode((mode & 0o7777) as _)
}

fn kind_of(found: FileType) -> FileKind {
    match found {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Folder,
        FileType::Symlink => FileKind::Link,
        _ => FileKind::Other,
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{process::Command, thread::sleep, time::Duration};

    use super::is_alive;

    #[test]
    fn a_process_that_ended_is_dead_before_its_parent_asks() {
        assert!(is_alive(std::process::id()));
        let mut child = Command::new("true").spawn().expect("a process");
        let ends = (0..1000).any(|_| {
            sleep(Duration::from_millis(10));
            !is_alive(child.id())
        });
        assert!(ends, "a zombie counts as alive");
        child.wait().expect("its status");
        assert!(!is_alive(child.id()));
    }
}
