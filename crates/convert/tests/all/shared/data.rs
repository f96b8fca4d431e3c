//! The shared data, if it exists: the folder in `CONVERT_DATA`, or one beside the project.

use std::{
    fs,
    io::Cursor,
    path::{Path, PathBuf},
};

use convert::{Detected, Source, detect};
use core_model::Format;

use crate::skipped::say_skipped;

/// Returns the folder of the shared data.
pub(crate) fn root() -> PathBuf {
    match std::env::var_os("CONVERT_DATA") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    }
}

/// Returns the files below folders of the shared data with their relative paths, without files that
/// describe others. Without data, prints a note and returns none.
pub(crate) fn data(folders: &[&str]) -> Vec<(String, Vec<u8>)> {
    let root = root();
    let mut found = Vec::new();
    let mut waiting: Vec<PathBuf> = folders.iter().map(|folder| root.join(folder)).collect();
    while let Some(path) = waiting.pop() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { &mut waiting } else { &mut found }.push(path);
        }
    }
    found.sort();
    let files: Vec<_> = found
        .iter()
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name != "MANIFEST.json" && name != "README.md"
        })
        .map(|path| {
            let name = path.strip_prefix(&root).unwrap_or(path).display().to_string();
            (name, fs::read(path).expect("readable"))
        })
        .collect();
    if files.is_empty() {
        say_skipped(format_args!("no data in {}", root.display()));
    }
    files
}

/// A session with its detected format.
pub(crate) struct Session {
    /// The path within the shared data, or the name of a fixture.
    pub(crate) name: String,
    pub(crate) from: &'static Format,
    pub(crate) bytes: Vec<u8>,
}

/// Returns the sessions of the shared data in our formats. Without data, prints a note and returns none.
pub(crate) fn real_sessions() -> Vec<Session> {
    let detected =
        |(name, bytes): (String, Vec<u8>)| match detect(&mut Source::new(Cursor::new(&bytes)))
            .expect("in memory")
        {
            Detected::Format(from) => Some(Session { name, from, bytes }),
            _ => None,
        };
    data(&["real", "clients", "sdk-dump"]).into_iter().filter_map(detected).collect()
}
