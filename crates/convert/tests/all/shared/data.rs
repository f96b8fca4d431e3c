//! The shared data, where it is at hand: `CONVERT_DATA` names it, else it lies beside the project.

use std::{
    fs,
    io::{self, Cursor, Write},
    path::{Path, PathBuf},
};

use convert::{Detected, Source, detect};
use core_model::Format;

/// Returns the folder of the shared data.
pub(crate) fn root() -> PathBuf {
    match std::env::var_os("CONVERT_DATA") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    }
}

/// Returns the files below folders of the shared data with their paths within it, without those
/// that describe the others; nothing, after saying so, where there is no data.
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
        // Tests of what is not there pass, but not in silence.
        _ = writeln!(io::stderr(), "skipped: no data in {}", root.display());
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

/// Returns the sessions of the shared data in our formats; none, after saying so, where there is no
/// data.
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
