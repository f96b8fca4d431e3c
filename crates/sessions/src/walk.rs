//! Lists the files of a folder as inputs.

use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
    rc::Rc,
    sync::Arc,
};

use storage::{
    Backend, Entry, FileKind, Folder, JOURNAL, RECEIPTS, RESIDUE, SIDECAR, is_temporary,
};

use crate::{input::Input, warning::Warning};

/// Adds the regular files below a folder, sorted by name, without following links.
pub fn walk(root: &Path, name: &Path, inputs: &mut Vec<Input>, warn: &mut dyn FnMut(Warning)) {
    // Of the files of a folder, only the names wait: their paths are as long as the folder's, and longer.
    let root_folder = Rc::new((root.to_owned(), name.to_owned()));
    let mut found = open_children(&root_folder, Folder::open, inputs, warn);
    while let Some(Child { folder, name, is_folder }) = found.pop() {
        let (path, name) = (joined(&folder.0, &name), joined(&folder.1, &name));
        if !is_folder {
            inputs.push(Input::File { storage: Backend::Disk, path, name, is_named: false });
            continue;
        }
        // The user may name a link; a link that is found is not followed.
        let folder = Rc::new((path, name));
        found.extend(open_children(&folder, Folder::open_found, inputs, warn));
    }
}

/// A file or a folder that was found in a folder.
struct Child {
    /// The path of the folder, and its name for the user.
    folder: Rc<(PathBuf, PathBuf)>,
    name: OsString,
    is_folder: bool,
}

/// Returns the files and folders in a folder, the first one last. A folder that cannot be read is a missing input.
fn open_children(
    folder: &Rc<(PathBuf, PathBuf)>,
    open: fn(&Path) -> io::Result<Arc<Folder>>,
    inputs: &mut Vec<Input>,
    warn: &mut dyn FnMut(Warning),
) -> Vec<Child> {
    match open(&folder.0).and_then(|opened| children(&opened, warn)) {
        Ok(children) => {
            let child = |(name, is_folder)| Child { folder: folder.clone(), name, is_folder };
            children.into_iter().rev().map(child).collect()
        }
        Err(error) => {
            inputs.push(Input::missing(&folder.0, &error));
            Vec::new()
        }
    }
}

/// Returns the path of a file in a folder, in a buffer of its length.
fn joined(folder: &Path, name: &OsStr) -> PathBuf {
    let mut path = PathBuf::with_capacity(folder.as_os_str().len() + 1 + name.len());
    path.push(folder);
    path.push(name);
    path
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_files_have_no_spare_room() {
        let folder = tempfile::tempdir().expect("a folder");
        let deep = folder.path().join("n".repeat(200));
        std::fs::create_dir(&deep).expect("made");
        for name in ["b", "a"] {
            std::fs::write(deep.join(name), "").expect("written");
        }
        std::fs::write(folder.path().join("c"), "").expect("written");
        let mut inputs = Vec::new();
        walk(folder.path(), Path::new(""), &mut inputs, &mut |_| ());
        let mut names = Vec::new();
        for input in inputs {
            let Input::File { path, name, .. } = input else { panic!("{input:?}") };
            let spare = [&path, &name].map(|it| it.capacity() - it.as_os_str().len());
            assert!(spare.iter().all(|spare| *spare <= 1), "{spare:?}");
            names.extend(path.file_name().map(OsStr::to_owned));
        }
        assert_eq!(names, ["c", "a", "b"].map(OsString::from).to_vec());
    }
}
