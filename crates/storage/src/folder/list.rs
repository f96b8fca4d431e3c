//! Lists a folder, for the search for sessions.

use std::{
    io,
    path::{Path, PathBuf},
};

use core_model::{FolderEntry, system_words};

use super::{Entry, Folder};
use crate::{names::one_line, system::FileKind};

/// The error for a folder that cannot be listed.
#[derive(Debug, thiserror::Error)]
#[error("{}: {}", one_line(folder), system_words(error))]
pub struct NotListed {
    /// The folder.
    pub folder: PathBuf,
    /// The error of opening or reading it.
    pub error: io::Error,
}

/// Returns the entries of a folder. Unlike the standard library, it does not panic if the folder
/// cannot be closed.
///
/// # Errors
///
/// Returns a [`NotListed`], with the kind of the system's error.
pub fn list(folder: &Path) -> io::Result<Vec<FolderEntry>> {
    let entries = Folder::open(folder).and_then(|folder| folder.entries());
    let entries = entries.map_err(|error| {
        io::Error::new(error.kind(), NotListed { folder: folder.to_owned(), error })
    })?;
    let entry = |Entry { name, kind }| FolderEntry {
        name,
        is_folder: kind == FileKind::Folder,
        is_file: kind == FileKind::File,
    };
    Ok(entries.into_iter().map(entry).collect())
}
