//! A list of the files that an installation is about to publish.
//!
//! If the installation is killed, the list tells the next run which files in the client's folder
//! are ours. It is a temporary file beside the session's own,
//! `.ID.jsonl.install.tmp-PID-BOOT-RANDOM`, with a line for each file: `XXH3 LENGTH NAME`, the name
//! relative to the folder, as the body of a JSON string.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    io::{self, Read, Write},
    path::Path,
    sync::Arc,
};

use storage::{FILE_MODE, Folder, Hashing, Temporary, is_stale};

use crate::paths::path_body;

/// Limit on the bytes of a list.
const MAX_READ: u64 = 16 * 1024 * 1024;

/// The files of an installation.
#[derive(Debug, Default)]
pub(super) struct Intent {
    lines: BTreeSet<String>,
}

impl Intent {
    /// Reads the lists that killed runs left beside a session's own file.
    pub(super) fn of_the_dead(folder: &Folder, main: &Path) -> Self {
        let mut start = OsString::from(".");
        start.push(name(main));
        start.push(".tmp-");
        let mut intent = Self::default();
        for entry in folder.entries().unwrap_or_default() {
            let bytes = entry.name.as_encoded_bytes();
            if bytes.starts_with(start.as_encoded_bytes()) && is_stale(folder, &entry.name) {
                let mut text = String::new();
                let file = folder.read(&entry.name);
                // A torn line names no file.
                _ = file.and_then(|file| file.take(MAX_READ).read_to_string(&mut text));
                intent.lines.extend(text.lines().map(str::to_owned));
            }
        }
        intent
    }

    /// Adds a file by its relative path and its bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes cannot be read.
    pub(super) fn add(&mut self, below: &Path, bytes: &mut dyn Read) -> io::Result<()> {
        self.lines.insert(line(below, bytes)?);
        Ok(())
    }

    /// Returns whether a file, by its relative path and its bytes, is in the list.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes cannot be read.
    pub(super) fn knows(&self, below: &Path, bytes: &mut dyn Read) -> io::Result<bool> {
        Ok(!self.lines.is_empty() && self.lines.contains(&line(below, bytes)?))
    }

    /// Writes the list to the disk. It is removed on drop.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub(super) fn keep(&self, folder: &Arc<Folder>, main: &Path) -> io::Result<Temporary> {
        let (mut file, temporary) = Temporary::create(folder.clone(), &name(main), FILE_MODE)?;
        let lines: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        file.write_all(lines.as_bytes())?;
        file.sync_all()?;
        folder.sync()?;
        Ok(temporary)
    }
}

fn name(main: &Path) -> OsString {
    let mut name = main.file_name().unwrap_or(OsStr::new("")).to_owned();
    name.push(".install");
    name
}

fn line(below: &Path, mut bytes: &mut dyn Read) -> io::Result<String> {
    let mut sink = Hashing::new(io::sink());
    io::copy(&mut bytes, &mut sink)?;
    Ok(format!("{:016x} {} {}", sink.digest(), sink.length, path_body(below)))
}
