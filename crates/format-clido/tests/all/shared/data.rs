//! The shared data, if it exists: the folder in `CONVERT_DATA`, or one beside the project.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::skipped::say_skipped;

/// Returns the files of a folder of the shared data, without subfolders. Without data, prints a
/// note and returns none.
pub(crate) fn data(folder: &str) -> Vec<(String, Vec<u8>)> {
    let root = match std::env::var_os("CONVERT_DATA") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    };
    let mut files: Vec<_> = fs::read_dir(root.join(folder))
        .into_iter()
        .flatten()
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_file())
        .map(|path| (path.display().to_string(), fs::read(path).expect("a file")))
        .collect();
    if files.is_empty() {
        say_skipped(format_args!("no data in {}", root.join(folder).display()));
    }
    files.sort();
    files
}
