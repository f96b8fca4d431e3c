//! A session of several files, as one source: the files one after the other.

mod cursor;
mod events;
mod place;
mod start;

use std::{
    io::{self, Write},
    path::PathBuf,
};

use conversion::{Manifest, ManifestEntry, ManifestEntryKind};
use storage::Stat;

use self::start::Seen;
use crate::input::sidecar_path;

pub use self::{
    events::{SessionEvents, run_session},
    place::{Bytes, Expanded, SessionPlace, Unread},
    start::Start,
};

/// The files of a session. The main one comes first, those that are carried as they are last.
#[derive(Clone, Debug)]
pub struct Session {
    files: Vec<SessionFile>,
}

/// A file of a session.
#[derive(Clone, Debug)]
pub struct SessionFile {
    place: SessionPlace,
    /// Where it is.
    pub path: PathBuf,
    /// What to call it in messages.
    label: String,
    /// What it is to the session; no more of it is read than its size says.
    pub volume: ManifestEntry,
    /// What it was when it was measured.
    pub stat: Stat,
    /// What was read of it so far.
    seen: Seen,
    /// Where it starts in the source.
    pub start: u64,
}

/// What became of the files of a session while they were read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Change {
    /// Nothing.
    None,
    /// They still begin with what was read of them, and more follows.
    Growth,
    /// Something else.
    Other,
}

impl Session {
    /// Measures the files of a session, all in one place: paths, what each is, their names in the
    /// contents, and tool uses.
    ///
    /// # Errors
    ///
    /// Those of looking at a file.
    pub fn new(
        place: &SessionPlace,
        files: impl IntoIterator<Item = (PathBuf, ManifestEntryKind, String, String)>,
    ) -> io::Result<Self> {
        let mut measured = Vec::new();
        let mut start = 0;
        for (path, kind, name, tool_use) in files {
            let stat = place.stat(&path)?;
            let size = stat.length;
            let volume = ManifestEntry { kind, size, name, tool_use };
            let label = place.label(&path);
            measured.push(SessionFile {
                place: place.clone(),
                path,
                label,
                volume,
                stat,
                seen: Seen::default(),
                start,
            });
            start += size;
        }
        Ok(Self { files: measured })
    }

    /// Returns the files.
    pub fn files(&self) -> &[SessionFile] {
        &self.files
    }

    /// Returns how many transcripts have a sidecar beside them.
    pub fn n_sidecars(&self) -> u64 {
        let has_sidecar = |file: &&SessionFile| {
            file.volume.kind != ManifestEntryKind::Side
                && file.place.stat(&sidecar_path(&file.path)).is_ok()
        };
        self.files.iter().filter(has_sidecar).count() as u64
    }

    /// Returns what became of the files since they were measured.
    ///
    /// # Errors
    ///
    /// Those of looking at a file.
    pub fn change(&self) -> io::Result<Change> {
        let mut change = Change::None;
        for file in &self.files {
            let stat = file.place.stat(&file.path)?;
            if stat == file.stat {
                continue;
            }
            if stat.length < file.volume.size || !file.seen.is_start_of(file)? {
                return Ok(Change::Other);
            }
            change = Change::Growth;
        }
        Ok(change)
    }

    /// Lets messages call the files as others.
    pub fn called(mut self, others: &[SessionFile]) -> Self {
        for (file, other) in self.files.iter_mut().zip(others) {
            file.label.clone_from(&other.label);
        }
        self
    }

    /// Returns where each file starts in the source, and what to call it in messages.
    pub fn labels(&self) -> Vec<(u64, String)> {
        let label = |file: &SessionFile| (file.start, file.label.clone());
        self.files.iter().map(label).collect()
    }

    /// Returns which bytes of the source are whose.
    pub fn contents(&self) -> Manifest {
        let entries = self.files.iter().map(|file| file.volume.clone()).collect();
        Manifest { entries }
    }
}

impl SessionFile {
    /// Opens the file, to its end.
    pub fn bytes(&self) -> io::Result<Box<dyn Bytes>> {
        self.place.bytes(&self.path)
    }

    /// Opens the file, up to the size that it had when it was measured.
    pub fn open(&self) -> io::Result<Start> {
        Ok(Start::new(self.bytes()?, self.volume.size, self.seen.clone()))
    }

    /// Writes the bytes of the file to `sink`.
    pub fn copy_to(&self, sink: &mut dyn Write) -> io::Result<u64> {
        io::copy(&mut self.open()?, sink)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;
    use storage::Backend;

    fn session(folder: &std::path::Path) -> ([PathBuf; 2], Session) {
        let paths = ["s1.jsonl", "note.txt"].map(|name| folder.join(name));
        for path in &paths {
            fs::write(path, "one\ntwo\n").expect("written");
        }
        let volume = |path: &PathBuf, kind| (path.clone(), kind, String::new(), String::new());
        let files = [
            volume(&paths[0], ManifestEntryKind::Main),
            volume(&paths[1], ManifestEntryKind::Side),
        ];
        (paths, Session::new(&SessionPlace::Stored(Backend::Disk), files).expect("measured"))
    }

    fn read(session: &Session) -> Vec<u8> {
        let mut bytes = Vec::new();
        for file in session.files() {
            file.copy_to(&mut bytes).expect("read");
        }
        bytes
    }

    fn append(path: &PathBuf) {
        let mut file = File::options().append(true).open(path).expect("opened");
        file.write_all(b"three\n").expect("written");
    }

    #[test]
    fn a_change_of_any_file_is_seen() {
        let folder = tempfile::tempdir().expect("a folder");
        let (paths, unchanged) = session(folder.path());
        read(&unchanged);
        assert_eq!(unchanged.change().expect("looked at"), Change::None);
        for path in &paths {
            let (_, session) = session(folder.path());
            read(&session);
            fs::write(path, "one\n").expect("written");
            assert_eq!(session.change().expect("looked at"), Change::Other, "{}", path.display());
        }
        fs::remove_file(&paths[1]).expect("removed");
        assert!(unchanged.change().is_err());
    }

    #[test]
    fn what_is_appended_is_not_read_and_is_growth() {
        let folder = tempfile::tempdir().expect("a folder");
        for grown in 0..2 {
            let (paths, session) = session(folder.path());
            append(&paths[grown]);
            assert_eq!(read(&session), b"one\ntwo\none\ntwo\n");
            assert_eq!(session.change().expect("looked at"), Change::Growth);
            append(&paths[grown]);
            assert_eq!(read(&session), b"one\ntwo\none\ntwo\n");
            assert_eq!(session.change().expect("looked at"), Change::Growth);
        }
    }

    #[test]
    fn growth_over_other_bytes_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let (paths, session) = session(folder.path());
        append(&paths[0]);
        // Nobody read it: who knows what it was.
        assert_eq!(session.change().expect("looked at"), Change::Other);
        read(&session);
        assert_eq!(session.change().expect("looked at"), Change::Growth);
        fs::write(&paths[0], "ONE\ntwo\nthree\n").expect("written");
        assert_eq!(session.change().expect("looked at"), Change::Other);
        read(&session);
        fs::write(&paths[0], "one\ntwo\nthree\n").expect("written");
        assert_eq!(session.change().expect("looked at"), Change::Other, "read twice, two contents");
    }
}
