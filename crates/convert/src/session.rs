//! A session of several files, as one source: the files one after the other.

mod cursor;
mod events;

use std::{
    hash::Hasher,
    io::{self, Read, Take, Write},
    path::PathBuf,
};

use twox_hash::XxHash3_64;

use crate::{
    carry::{Contents, Volume, VolumeKind},
    storage::{Bytes, Stat, Storage},
};

pub(crate) use self::events::SessionEvents;

/// The files of a session. The main one comes first, those that are carried as they are last.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    files: Vec<SessionFile>,
}

/// A file of a session.
#[derive(Clone, Debug)]
pub(crate) struct SessionFile {
    storage: Storage,
    pub(crate) path: PathBuf,
    /// What to call it in messages.
    label: String,
    /// What it is to the session; no more of it is read than its size says.
    pub(crate) volume: Volume,
    /// What it was when it was measured.
    stat: Stat,
    /// Where it starts in the source.
    pub(crate) start: u64,
}

impl Session {
    /// Measures the files of a session, all in one place: paths, what each is, their names in the contents, and tool
    /// uses.
    ///
    /// # Errors
    ///
    /// Those of looking at a file.
    pub(crate) fn new(
        storage: &Storage,
        files: impl IntoIterator<Item = (PathBuf, VolumeKind, String, String)>,
    ) -> io::Result<Self> {
        let mut measured = Vec::new();
        let mut start = 0;
        for (path, kind, name, tool_use) in files {
            let stat = storage.stat(&path)?;
            let size = stat.length;
            let volume = Volume { kind, size, name, tool_use };
            let label = path.display().to_string();
            measured.push(SessionFile {
                storage: storage.clone(),
                path,
                label,
                volume,
                stat,
                start,
            });
            start += size;
        }
        Ok(Self { files: measured })
    }

    /// Returns the files.
    pub(crate) fn files(&self) -> &[SessionFile] {
        &self.files
    }

    /// Returns whether every file still is what it was when it was measured.
    ///
    /// # Errors
    ///
    /// Those of looking at a file.
    pub(crate) fn is_unchanged(&self) -> io::Result<bool> {
        for SessionFile { storage, path, stat, .. } in &self.files {
            if storage.stat(path)? != *stat {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns a hash of what the files beside the main one are, and when they were changed.
    pub(crate) fn salt(&self) -> u64 {
        let mut salt = XxHash3_64::new();
        for SessionFile { volume, stat, .. } in self.files.iter().skip(1) {
            salt.write(format!("{volume:?} {stat:?}\n").as_bytes());
        }
        salt.finish()
    }

    /// Lets messages call the files as others.
    pub(crate) fn called(mut self, others: &[SessionFile]) -> Self {
        for (file, other) in self.files.iter_mut().zip(others) {
            file.label.clone_from(&other.label);
        }
        self
    }

    /// Returns where each file starts in the source, and what to call it in messages.
    pub(crate) fn labels(&self) -> Vec<(u64, String)> {
        let label = |file: &SessionFile| (file.start, file.label.clone());
        self.files.iter().map(label).collect()
    }

    /// Returns which bytes of the source are whose.
    pub(crate) fn contents(&self) -> Contents {
        let volumes = self.files.iter().map(|file| file.volume.clone()).collect();
        Contents { volumes }
    }
}

impl SessionFile {
    /// Opens the file, to its end.
    pub(crate) fn bytes(&self) -> io::Result<Bytes> {
        self.storage.reader(&self.path)
    }

    /// Opens the file.
    pub(crate) fn open(&self) -> io::Result<Take<Bytes>> {
        Ok(self.bytes()?.take(self.volume.size))
    }

    /// Writes the bytes of the file to `sink`.
    pub(crate) fn copy_to(&self, sink: &mut dyn Write) -> io::Result<u64> {
        io::copy(&mut self.open()?, sink)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_change_of_any_file_is_seen() {
        let folder = tempfile::tempdir().expect("a folder");
        let [main, side] = ["s1.jsonl", "note.txt"].map(|name| folder.path().join(name));
        for path in [&main, &side] {
            fs::write(path, "one\ntwo\n").expect("written");
        }
        let measured = || {
            let volume = |path: &PathBuf, kind| (path.clone(), kind, String::new(), String::new());
            Session::new(
                &Storage::Disk,
                [volume(&main, VolumeKind::Main), volume(&side, VolumeKind::Side)],
            )
            .expect("measured")
        };
        let session = measured();
        assert!(session.is_unchanged().expect("looked at"));
        for path in [&main, &side] {
            let session = measured();
            fs::write(path, "one\n").expect("written");
            assert!(!session.is_unchanged().expect("looked at"), "{}", path.display());
        }
        let session = measured();
        fs::remove_file(&side).expect("removed");
        assert!(session.is_unchanged().is_err());
    }
}
