//! Lists a folder of this machine.
//!
//! In: a path. Out: the names in the folder, with whether each is a folder or a file.

use std::{ffi::OsString, fs, io, path::Path};

/// An entry of a folder. A link is neither a folder nor a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FolderEntry {
    /// The name in the folder.
    pub name: OsString,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Whether it is a regular file.
    pub is_file: bool,
}

/// Returns the entries of a folder of this machine, in no order.
///
/// # Errors
///
/// Returns an error if the folder cannot be read.
#[cfg(not(all(unix, feature = "rustix")))]
pub fn folder_entries(folder: &Path) -> io::Result<Vec<FolderEntry>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let (is_folder, is_file) = (kind.is_dir(), kind.is_file());
        entries.push(FolderEntry { name: entry.file_name(), is_folder, is_file });
    }
    Ok(entries)
}

/// Returns the entries of a folder of this machine, in no order. Unlike the standard library, it does not panic
/// if the folder cannot be closed.
///
/// # Errors
///
/// Returns an error if the folder cannot be read.
#[cfg(all(unix, feature = "rustix"))]
pub fn folder_entries(folder: &Path) -> io::Result<Vec<FolderEntry>> {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    use rustix::fs::{Dir, FileType, Mode, OFlags, open};

    let opened = open(folder, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let mut entries = Vec::new();
    for entry in Dir::read_from(&opened)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
        if name == "." || name == ".." {
            continue;
        }
        let (is_folder, is_file) = match entry.file_type() {
            // Some file systems do not say the type in the list.
            FileType::Unknown => {
                let kind = fs::symlink_metadata(folder.join(&name))?.file_type();
                (kind.is_dir(), kind.is_file())
            }
            kind => (kind == FileType::Directory, kind == FileType::RegularFile),
        };
        entries.push(FolderEntry { name, is_folder, is_file });
    }
    Ok(entries)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_link_is_neither_a_folder_nor_a_file() {
        let name = format!("core-model-entries-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(folder.join("folder")).expect("made");
        fs::write(folder.join("file"), "x").expect("written");
        for (to, name) in [("folder", "to-folder"), ("file", "to-file"), ("none", "to-nothing")] {
            std::os::unix::fs::symlink(to, folder.join(name)).expect("linked");
        }
        let mut found = folder_entries(&folder).expect("a folder");
        let missing = folder_entries(&folder.join("none")).expect_err("nothing").kind();
        let no_folder = folder_entries(&folder.join("file")).expect_err("a file").kind();
        fs::remove_dir_all(&folder).expect("removed");
        found.sort_by(|one, other| one.name.cmp(&other.name));
        let said = |it: &FolderEntry| (PathBuf::from(&it.name), it.is_folder, it.is_file);
        let expected = [
            ("file", false, true),
            ("folder", true, false),
            ("to-file", false, false),
            ("to-folder", false, false),
            ("to-nothing", false, false),
        ];
        let expected = expected.map(|(name, is_folder, is_file)| (name.into(), is_folder, is_file));
        assert_eq!(found.iter().map(said).collect::<Vec<_>>(), expected);
        assert_eq!((missing, no_folder), (io::ErrorKind::NotFound, io::ErrorKind::NotADirectory));
    }
}
