//! A session of several files as one source: its files in a row.
//!
//! In: a main file of 300 bytes and a sub-agent's file of 200. Out: a source of 500 bytes, with a
//! manifest of both sizes.

mod cursor;
mod events;
mod place;
mod start;

use std::{
    hash::{Hash, Hasher},
    io::{self, Write},
    path::PathBuf,
    sync::Arc,
};

use conversion::{Manifest, ManifestEntry, ManifestEntryKind};
use storage::Stat;
use twox_hash::XxHash3_64;

use self::start::Seen;

pub use self::{
    events::{SessionEvents, run_session},
    place::{Bytes, Expanded, SessionPlace, Unread},
    start::Start,
};

/// The files of a session: the main file, transcripts, and then other files.
#[derive(Clone, Debug)]
pub struct Session {
    /// Shared with the clones of the session.
    files: Arc<Vec<SessionFile>>,
    /// The entries of the files, and the sub-agents that are converted to files of their own. Shared, too.
    manifest: Arc<Manifest>,
}

/// A file of a session.
#[derive(Clone, Debug)]
pub struct SessionFile {
    place: SessionPlace,
    /// The path.
    pub path: PathBuf,
    /// The name for messages, if it is not that of the path.
    label: Option<Box<str>>,
    /// The role in the session.
    pub kind: ManifestEntryKind,
    /// The size in bytes when it was measured. Bytes beyond it are not read.
    size: u64,
    /// The hash of the metadata when it was measured.
    stat: u64,
    /// The hashes of what has been read.
    seen: Seen,
    /// The offset in the source.
    pub start: u64,
}

/// The change of a session's files while they were read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Change {
    /// No change.
    None,
    /// Lines were added; the bytes that were read are unchanged.
    Growth,
    /// Any other change.
    Other,
}

impl Session {
    /// Measures the files of a session: paths, roles, names in the manifest, and tool uses.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be measured.
    pub fn new(
        place: &SessionPlace,
        files: impl IntoIterator<Item = (PathBuf, ManifestEntryKind, String, String)>,
    ) -> io::Result<Self> {
        Self::measured(place, files, |_, _| {})
    }

    /// Measures the files of a session, as [`Session::new`] does, and calls `each` with the manifest entry and the
    /// metadata of each file. The session keeps only a hash of the metadata.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be measured.
    pub fn measured(
        place: &SessionPlace,
        files: impl IntoIterator<Item = (PathBuf, ManifestEntryKind, String, String)>,
        mut each: impl FnMut(&ManifestEntry, &Stat),
    ) -> io::Result<Self> {
        let files = files.into_iter();
        let mut measured = Vec::with_capacity(files.size_hint().0);
        let mut entries = Vec::with_capacity(files.size_hint().0);
        let mut start = 0;
        for (path, kind, name, tool_use) in files {
            let stat = place.stat(&path)?;
            let size = stat.length;
            let entry = ManifestEntry { kind, size, name, tool_use };
            each(&entry, &stat);
            entries.push(entry);
            measured.push(SessionFile {
                place: place.clone(),
                path,
                label: None,
                kind,
                size,
                stat: hash_of(&stat),
                seen: Seen::default(),
                start,
            });
            start += size;
        }
        let manifest = Manifest { entries, ..Manifest::default() };
        Ok(Self { files: Arc::new(measured), manifest: Arc::new(manifest) })
    }

    /// Sets the ids of the sub-agents that are converted to files of their own.
    pub fn with_agents(mut self, agents: Vec<String>) -> Self {
        Arc::make_mut(&mut self.manifest).agents = agents;
        self
    }

    /// Returns the ids of the sub-agents that are converted to files of their own.
    pub fn agents(&self) -> &[String] {
        &self.manifest.agents
    }

    /// Returns the files.
    pub fn files(&self) -> &[SessionFile] {
        &self.files
    }

    /// Returns the number of transcripts with a sidecar.
    pub fn n_sidecars(&self) -> u64 {
        let has_sidecar = |file: &&SessionFile| {
            file.kind != ManifestEntryKind::Side && file.place.has_sidecar(&file.path)
        };
        self.files.iter().filter(has_sidecar).count() as u64
    }

    /// Returns the change of the files since they were measured.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read.
    pub fn change(&self) -> io::Result<Change> {
        let mut change = Change::None;
        for file in self.files.iter() {
            let stat = file.place.stat(&file.path)?;
            if hash_of(&stat) == file.stat {
                continue;
            }
            if stat.length < file.size || !file.seen.is_start_of(file)? {
                return Ok(Change::Other);
            }
            change = Change::Growth;
        }
        Ok(change)
    }

    /// Takes the names for messages from other files.
    pub fn called(mut self, others: &[SessionFile]) -> Self {
        for (file, other) in Arc::make_mut(&mut self.files).iter_mut().zip(others) {
            file.label = Some(other.label().into());
        }
        self
    }

    /// Returns the start and the name of each file.
    pub fn labels(&self) -> Vec<FileLabel> {
        let label = |file: &SessionFile| FileLabel { start: file.start, label: file.label() };
        self.files.iter().map(label).collect()
    }

    /// Returns the manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }
}

/// The place of a file in the source of a session, for messages.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FileLabel {
    /// The offset of its first byte in the source.
    pub start: u64,
    /// Its name for messages.
    pub label: String,
}

impl SessionFile {
    /// Returns the name for messages.
    fn label(&self) -> String {
        match &self.label {
            Some(label) => label.to_string(),
            None => self.place.label(&self.path),
        }
    }

    /// Opens the whole file, also bytes that were added since it was measured.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be opened.
    pub fn bytes(&self) -> io::Result<Box<dyn Bytes>> {
        self.place.bytes(&self.path)
    }

    /// Opens the file up to its measured size.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be opened.
    pub fn open(&self) -> io::Result<Start<'_>> {
        Ok(Start::new(self.bytes()?, self.size, &self.seen))
    }

    /// Writes the bytes of the file, up to its measured size, to `sink`. Returns their number.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, or the sink does.
    pub fn copy_to(&self, sink: &mut dyn Write) -> io::Result<u64> {
        io::copy(&mut self.open()?, sink)
    }
}

/// Returns the hash of a file's metadata. The metadata of tens of thousands of files would take megabytes.
fn hash_of(stat: &Stat) -> u64 {
    let mut hasher = XxHash3_64::new();
    stat.hash(&mut hasher);
    hasher.finish()
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
        let entry = |path: &PathBuf, kind| (path.clone(), kind, String::new(), String::new());
        let files =
            [entry(&paths[0], ManifestEntryKind::Main), entry(&paths[1], ManifestEntryKind::Side)];
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

    /// A session may have tens of thousands of files.
    #[test]
    fn a_file_takes_little_memory() {
        let n_bytes = size_of::<SessionFile>() + size_of::<ManifestEntry>();
        assert!(n_bytes <= 192, "{n_bytes} bytes");
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
        // The file was not read, so a change of its start cannot be excluded.
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
