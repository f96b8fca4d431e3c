//! Lists the files of a folder as inputs.

use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
};

use storage::{
    Backend, Entry, FileKind, Folder, JOURNAL, RECEIPTS, RESIDUE, SIDECAR, is_temporary,
};

use crate::{input::Input, warning::Warning};

/// Adds the regular files below a folder, sorted by name, without following links.
pub fn walk(root: &Path, name: &Path, inputs: &mut Vec<Input>, warn: &mut dyn FnMut(Warning)) {
    let mut folders = vec![(root.to_owned(), name.to_owned(), true)];
    while let Some((path, name, is_folder)) = folders.pop() {
        if !is_folder {
            inputs.push(Input::File { storage: Backend::Disk, path, name, is_named: false });
            continue;
        }
        // The user may name a link; a link that is found is not followed.
        let open = if path == root { Folder::open } else { Folder::open_found };
        match open(&path).and_then(|folder| children(&folder, warn)) {
            // Folders are a stack: reversed, the first one is on top.
            Ok(children) => folders.extend(
                children
                    .into_iter()
                    .rev()
                    .map(|(child, is_folder)| (path.join(&child), name.join(&child), is_folder)),
            ),
            Err(error) => inputs.push(Input::missing(&path, &error)),
        }
    }
}

/// Returns the files and folders in a folder, sorted by name, without files of this program.
///
/// The standard library's listing panics if the folder cannot be closed.
fn children(folder: &Folder, warn: &mut dyn FnMut(Warning)) -> io::Result<Vec<(OsString, bool)>> {
    let mut children = Vec::new();
    for Entry { name, kind } in folder.entries()? {
        match kind {
            FileKind::Folder if name != RECEIPTS => children.push((name, true)),
            FileKind::File if !is_ours(&name) => children.push((name, false)),
            FileKind::Folder | FileKind::File | FileKind::Link => {}
            FileKind::Other => {
                warn(Warning::NotRegular(folder.path().join(&name)));
            }
        }
    }
    children.sort();
    Ok(children)
}

/// Returns whether a name is of a file that this program writes beside outputs.
pub fn is_ours(name: &OsStr) -> bool {
    let ending = Path::new(name).extension();
    name == JOURNAL
        || ending.is_some_and(|ending| ending == SIDECAR || ending == RESIDUE)
        || is_temporary(name)
}

/// Files of this program below a folder, which [`walk`] leaves out.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct OwnFiles {
    /// The first sidecar.
    pub sidecar: Option<PathBuf>,
    /// The first journal of a run.
    pub journal: Option<PathBuf>,
    /// The first other one: receipts, a residue, a temporary file.
    pub other: Option<PathBuf>,
}

impl OwnFiles {
    /// Finds the files below a folder, without following links. A folder that cannot be read has none.
    pub fn below(root: &Path) -> Self {
        let mut found = Self::default();
        let mut folders = vec![root.to_owned()];
        while let Some(path) = folders.pop() {
            let open = if path == root { Folder::open } else { Folder::open_found };
            let mut entries = open(&path).and_then(|folder| folder.entries()).unwrap_or_default();
            entries.sort_by(|one, other| one.name.cmp(&other.name));
            for Entry { name, kind } in entries {
                let place = match kind {
                    FileKind::Folder if name == RECEIPTS => &mut found.other,
                    FileKind::Folder => {
                        folders.push(path.join(&name));
                        continue;
                    }
                    _ if name == JOURNAL => &mut found.journal,
                    _ if Path::new(&name).extension().is_some_and(|it| it == SIDECAR) => {
                        &mut found.sidecar
                    }
                    _ if is_ours(&name) => &mut found.other,
                    _ => continue,
                };
                place.get_or_insert_with(|| path.join(&name));
            }
        }
        found
    }
}
