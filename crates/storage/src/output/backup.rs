//! Keeps older versions of replaced files: `NAME.bak`, `NAME.bak2` and so on.

use std::{
    ffi::OsStr,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::are_equal;
use crate::{folder::Folder, system::FileKind, temporary::Temporary};

/// Limit on older versions of a file.
const MAX_BACKUPS: u32 = 10_000;

/// Limit on attempts to give a file a second name while other programs replace it.
const MAX_ATTEMPTS: u32 = 100;

/// Returns the endings of older versions: `bak`, `bak2`, `bak3` and so on.
pub(super) fn backups() -> impl Iterator<Item = String> {
    std::iter::once("bak".to_owned()).chain((2..MAX_BACKUPS).map(|n| format!("bak{n}")))
}

/// Returns the path of the file of which a path may be an older version: `a` for `a.bak` and `a.bak2`. Returns `None` if the
/// path has none of these endings.
pub fn newer_version(path: &Path) -> Option<PathBuf> {
    let number = path.extension()?.to_str()?.strip_prefix("bak")?;
    let is_number = number.parse::<u32>().is_ok_and(|n| n > 1 && n.to_string() == number);
    (number.is_empty() || is_number).then(|| path.with_extension(""))
}

/// Renames `file` to `NAME.bak`, or to the first name of this kind that is free or has an equal file, as a killed run
/// leaves it.
///
/// # Errors
///
/// Returns an error if the system does, or if no name is free.
pub fn rename_to_backup(folder: &Folder, file: &OsStr, name: &OsStr) -> io::Result<()> {
    for ending in backups() {
        let mut backup = name.to_owned();
        backup.push(".");
        backup.push(ending);
        match folder.rename_to_free(file, &backup) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if is_equal(folder, file, &backup) {
                    return folder.rename_over(file, &backup);
                }
            }
            result => return result,
        }
    }
    Err(too_many())
}

/// Returns the error if all names of older versions are taken.
pub(super) fn too_many() -> io::Error {
    io::Error::other("has 10,000 older versions (NAME.bak); remove some of them")
}

/// Keeps a file as `NAME.bak`, or under the first free name of this kind. Both names have a file at all times. A file
/// for which `is_new` returns true is not kept: another run has replaced the older one and kept it.
pub(super) fn keep_old(
    folder: &Arc<Folder>,
    name: &OsStr,
    is_new: impl Fn(File) -> bool,
) -> io::Result<()> {
    let Some(second) = second_name(folder, name)? else { return Ok(()) };
    if !is_file(folder, name)? {
        return Err(io::Error::other("exists and is not a file, so it is not overwritten"));
    }
    // The name may belong to another file by now. The second name belongs to the file that is kept.
    if folder.read(second.name()).is_ok_and(is_new) {
        return Ok(());
    }
    rename_to_backup(folder, second.name(), name)
}

/// Gives a file a temporary second name; `None` if there is no file.
fn second_name(folder: &Arc<Folder>, name: &OsStr) -> io::Result<Option<Temporary>> {
    for _ in 0..MAX_ATTEMPTS {
        match Temporary::second(folder.clone(), name) {
            // The system says so too if another program renames a file to this name in the same moment.
            Err(error) if error.kind() == io::ErrorKind::NotFound => match folder.kind(name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                kind => _ = kind?,
            },
            second => return second.map(Some),
        }
    }
    Err(io::Error::other("another program replaces it all the time; end it, and try again"))
}

/// Returns whether two files have the same bytes. Returns false if one cannot be read.
fn is_equal(folder: &Folder, one: &OsStr, other: &OsStr) -> bool {
    let (Ok(one), Ok(other)) = (folder.read(one), folder.read(other)) else { return false };
    let length = |file: &File| file.metadata().map(|metadata| metadata.len()).ok();
    length(&one) == length(&other) && are_equal(one, other).unwrap_or_default()
}

/// Returns whether a name belongs to a regular file or a link. A link is replaced, not followed.
fn is_file(folder: &Folder, name: &OsStr) -> io::Result<bool> {
    Ok(matches!(folder.kind(name)?, FileKind::File | FileKind::Link))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A run looks at the older file, and another run replaces it before the first run keeps it.
    #[test]
    fn the_new_file_of_another_run_is_not_kept() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = Folder::open(scratch.path()).expect("opened");
        let path = scratch.path().join("a.jsonl");
        let is_new = |file: File| are_equal(file, &b"new"[..]).expect("read");
        for (content, n_files) in [("new", 1), ("old", 2), ("new", 2)] {
            fs::write(&path, content).expect("written");
            keep_old(&folder, OsStr::new("a.jsonl"), is_new).expect("kept");
            let n = fs::read_dir(scratch.path()).expect("a folder").count();
            assert_eq!(n, n_files, "{content}");
            _ = fs::remove_file(&path);
        }
        assert_eq!(fs::read(scratch.path().join("a.jsonl.bak")).expect("kept"), b"old");
    }

    /// Another program saves its file by renaming a new one to its name, again and again.
    #[test]
    fn a_file_that_is_replaced_in_this_moment_is_kept() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = Folder::open(scratch.path()).expect("opened");
        let path = |name: &str| scratch.path().join(name);
        fs::write(path("a.jsonl"), "mine").expect("written");
        let is_done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
                    fs::write(path("new"), "mine").expect("written");
                    fs::rename(path("new"), path("a.jsonl")).expect("renamed");
                }
            });
            let mut n_kept = 0;
            for _ in 0..2000 {
                keep_old(&folder, OsStr::new("a.jsonl"), |_| false).expect("kept");
                n_kept += u32::from(fs::remove_file(path("a.jsonl.bak")).is_ok());
            }
            is_done.store(true, std::sync::atomic::Ordering::Relaxed);
            assert_eq!(n_kept, 2000);
        });
    }

    #[test]
    fn an_older_version_is_known_by_its_ending() {
        for (path, newer) in [
            ("d/a.jsonl.bak", Some("d/a.jsonl")),
            ("a.bak2", Some("a")),
            ("a.bak10", Some("a")),
            ("a.bak1", None),
            ("a.bak02", None),
            ("a.bak+2", None),
            ("a.bakx", None),
            (".bak", None),
            ("a.jsonl", None),
        ] {
            assert_eq!(newer_version(Path::new(path)), newer.map(PathBuf::from), "{path}");
        }
    }
}
