//! Keeps older versions of replaced files: `NAME.bak`, `NAME.bak2` and so on.

use std::{ffi::OsStr, io, sync::Arc};

use crate::{folder::Folder, system::FileKind, temporary::Temporary};

/// Keeps a file as `NAME.bak`. Both names have a file at all times.
pub(super) fn keep_old(folder: &Arc<Folder>, name: &OsStr) -> io::Result<()> {
    let mut backup = name.to_owned();
    backup.push(".bak");
    match Temporary::second(folder.clone(), name) {
        Ok(_) if !is_file(folder, name)? => {
            Err(io::Error::other("exists and is not a file, so it is not overwritten"))
        }
        Ok(second) => folder.rename_over(second.name(), &backup),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Limit on older versions of a file.
const MAX_BACKUPS: u32 = 10_000;

/// Returns the endings of older versions: `bak`, `bak2`, `bak3` and so on.
pub(super) fn backups() -> impl Iterator<Item = String> {
    std::iter::once("bak".to_owned()).chain((2..MAX_BACKUPS).map(|n| format!("bak{n}")))
}

/// Keeps a file as `NAME.bak`, or under the first free name of this kind.
pub(super) fn keep_each(folder: &Arc<Folder>, name: &OsStr) -> io::Result<()> {
    let second = match Temporary::second(folder.clone(), name) {
        Ok(_) if !is_file(folder, name)? => {
            return Err(io::Error::other("exists and is not a file, so it is not overwritten"));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        second => second?,
    };
    for ending in backups() {
        let mut backup = name.to_owned();
        backup.push(".");
        backup.push(ending);
        match folder.rename_to_free(second.name(), &backup) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => return result,
        }
    }
    Err(io::Error::other("has 10,000 older versions (NAME.bak); remove some of them"))
}

/// Returns whether a name belongs to a regular file or a link. A link is replaced, not followed.
fn is_file(folder: &Folder, name: &OsStr) -> io::Result<bool> {
    Ok(matches!(folder.kind(name)?, FileKind::File | FileKind::Link))
}
