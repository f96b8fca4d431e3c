//! Locks a folder: for one run, or shared among workers.

use std::{fs::File, io};

use crate::system;

/// The result of asking for a lock.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Lock {
    /// The lock is ours, until the file is closed.
    Held,
    /// The file system has no locks.
    Unknown,
    /// Another run holds the lock. The process id is known on Linux.
    Other(Option<u32>),
}

/// Asks for an exclusive lock of a file, and returns at once: it does not wait for another holder.
/// The lock ends when the file is closed, or when the process ends.
///
/// # Errors
///
/// Returns an error if the system does.
pub fn lock(file: &File) -> io::Result<Lock> {
    lock_as(file, false)
}

/// Asks for a shared lock of a file, and returns at once. Other holders may share the lock.
///
/// # Errors
///
/// Returns an error if the system does.
pub fn lock_shared(file: &File) -> io::Result<Lock> {
    lock_as(file, true)
}

fn lock_as(file: &File, is_shared: bool) -> io::Result<Lock> {
    match system::lock(file, is_shared)? {
        Lock::Other(_) => Ok(Lock::Other(holder(file))),
        asked => Ok(asked),
    }
}

/// Returns the process that holds the lock of a file, on Linux.
#[cfg(target_os = "linux")]
fn holder(file: &File) -> Option<u32> {
    let (_, inode) = system::identity(file).ok()?;
    let inode = inode.to_string();
    // 1: FLOCK  ADVISORY  WRITE 12345 fe:00:131078 0 EOF (proc_locks(5))
    io::read_to_string(File::open("/proc/locks").ok()?).ok()?.lines().find_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let (kind, _, _, pid, place) =
            (words.next()?, words.next()?, words.next()?, words.next()?, words.next()?);
        let is_it = kind == "FLOCK" && place.rsplit(':').next() == Some(&inode);
        if is_it { pid.parse().ok() } else { None }
    })
}

#[cfg(not(target_os = "linux"))]
fn holder(_: &File) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_is_told_who_was_first() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let again = file.reopen().expect("opened");
        assert_eq!(lock(file.as_file()).expect("asked"), Lock::Held);
        let Lock::Other(holder) = lock(&again).expect("asked") else { panic!("locked twice") };
        if let Some(holder) = holder {
            assert_eq!(holder, std::process::id());
        }
        drop(file);
        assert_eq!(lock(&again).expect("asked"), Lock::Held);
    }

    #[test]
    fn workers_share_a_folder_and_a_run_does_not() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let again = [0, 1].map(|_| file.reopen().expect("opened"));
        assert_eq!(lock_shared(&again[0]).expect("asked"), Lock::Held);
        assert_eq!(lock_shared(&again[1]).expect("asked"), Lock::Held);
        assert!(matches!(lock(file.as_file()).expect("asked"), Lock::Other(_)));
        drop(again);
        assert_eq!(lock(file.as_file()).expect("asked"), Lock::Held);
    }
}
