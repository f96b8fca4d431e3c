//! What is in a folder, for those that look for the files of a session.

use std::{
    io,
    path::{Path, PathBuf},
};

use core_model::FolderEntry;
use rustix::fs::FileType;

use super::{Entry, Folder};
use crate::names::one_line;

/// A folder that cannot be listed, and why.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", one_line(folder))]
pub struct NotListed {
    /// The folder.
    pub folder: PathBuf,
    /// The error of opening or reading it.
    pub error: io::Error,
}

/// Lists a folder. The standard library panics where a folder cannot be closed.
///
/// # Errors
///
/// [`NotListed`], of the kind that the system says.
pub fn list(folder: &Path) -> io::Result<Vec<FolderEntry>> {
    let entries = Folder::open(folder).and_then(|folder| folder.entries());
    let entries = entries.map_err(|error| {
        io::Error::new(error.kind(), NotListed { folder: folder.to_owned(), error })
    })?;
    let entry = |Entry { name, kind }| FolderEntry {
        name,
        is_folder: kind == FileType::Directory,
        is_file: kind == FileType::RegularFile,
    };
    Ok(entries.into_iter().map(entry).collect())
}
