//! Inputs: files, objects, folders, and standard input.
//!
//! In: a path, an URL or `-`. Out: an [`Input`], which opens as [`Opened`].

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use conversion::Sidecar;
use core_model::{Formats, system_words};
use storage::{
    Backend, Bytes, Compression, Limits, LineMeter, MAX_IN_MEMORY, Metered, Opened, RESIDUE,
    SIDECAR, Snapshot, Stat, beside, is_url, open_input,
};
use tempfile::SpooledTempFile;

use crate::documents::store_of;

/// Default line limit for inputs of unknown length, such as devices.
const MAX_SPOOLED_LINE: u64 = 1024 * 1024 * 1024;

/// Limit on the decompressed size of a sidecar, as a multiple of its size; `FREE_EXPANSION` is
/// added.
const MAX_EXPANSION: u64 = 100;
const FREE_EXPANSION: u64 = 64 * 1024 * 1024;

/// A source of lines.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Input {
    /// Standard input.
    Stdin,
    /// A file on the disk or in a store.
    File {
        /// The disk, or a bucket.
        storage: Backend,
        /// The path.
        path: PathBuf,
        /// The name within the folder or list that the user named.
        name: PathBuf,
        /// Whether the user named the file. If so, a link is followed.
        is_named: bool,
    },
    /// A path that cannot be read, and the reason.
    Missing {
        /// The path, or the URL without secrets.
        path: PathBuf,
        /// The kind of the error.
        kind: io::ErrorKind,
        /// The message of the error.
        reason: String,
    },
}

impl Input {
    /// Creates an input of a file on the disk.
    pub fn file(path: PathBuf) -> Self {
        Self::stored(Backend::Disk, path)
    }

    /// Creates an input of a file on the disk, or of a session in a store that yields documents, if the
    /// path is below such a store.
    pub fn at(formats: Formats, path: PathBuf) -> Self {
        match store_of(formats, &path) {
            None => Self::file(path),
            Some(Ok(documents)) => Self::stored(Backend::Documents(documents), path),
            Some(Err(error)) => Self::missing(&path, &error),
        }
    }

    /// Creates an input of a file.
    pub fn stored(storage: Backend, path: PathBuf) -> Self {
        let name = PathBuf::from(path.file_name().unwrap_or_default());
        Input::File { storage, path, name, is_named: true }
    }

    /// Creates an input that cannot be opened.
    pub fn missing(path: &Path, error: &io::Error) -> Self {
        Input::Missing { path: path.to_owned(), kind: error.kind(), reason: system_words(error) }
    }

    /// Returns whether the input can be read.
    pub fn is_found(&self) -> bool {
        !matches!(self, Input::Missing { .. })
    }

    /// Returns whether the name is one of the files that Claude Code keeps beside sessions,
    /// compressed or not: prompts of sub-agents, large outputs, lists of sessions.
    pub fn is_side_file(&self) -> bool {
        let Input::File { path, .. } = self else { return false };
        let name = Compression::bare(Path::new(path.file_name().unwrap_or_default()));
        let name = name.to_string_lossy();
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
        name.starts_with("agent-") && name.ends_with(".meta.json")
            || name == "sessions-index.json"
            || name == "history.jsonl"
            || folder == "tool-results"
    }

    /// Returns the path of a file; `None` for standard input.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Input::File { path, .. } => Some(path),
            Input::Stdin | Input::Missing { .. } => None,
        }
    }

    /// Returns the absolute path of a file, or the URL of an object; `None` for standard input.
    ///
    /// # Errors
    ///
    /// Returns an error if the current folder is unknown.
    pub fn absolute(&self) -> io::Result<Option<PathBuf>> {
        match self.path() {
            Some(path) if !is_url(path) => {
                let joined = folder_of_run()?.join(path);
                match is_absolute(&joined) {
                    true => Ok(Some(joined)),
                    false => std::path::absolute(joined).map(Some),
                }
            }
            path => Ok(path.map(Path::to_owned)),
        }
    }

    /// Returns the backend of the file; the disk for other inputs.
    pub fn storage(&self) -> &Backend {
        match self {
            Input::File { storage, .. } => storage,
            Input::Stdin | Input::Missing { .. } => &Backend::Disk,
        }
    }

    /// Returns the name of the file without its endings, including `.gz` and the like. `None` if it
    /// is not UTF-8.
    pub fn stem(&self) -> Option<&str> {
        let Input::File { path, .. } = self else { return None };
        stem_of(path)
    }

    /// Returns the name for messages.
    pub fn label(&self) -> String {
        match self {
            Input::Stdin => "standard input".to_owned(),
            Input::File { path, .. } | Input::Missing { path, .. } => path.display().to_string(),
        }
    }

    /// Returns the size in bytes; 0 if it is unknown before reading.
    pub fn size(&self) -> u64 {
        let Input::File { storage, path, .. } = self else { return 0 };
        storage.stat(path).map_or(0, |stat| stat.length)
    }

    /// Opens the input. A compressed one is expanded; reading beyond the limits is an error.
    ///
    /// # Errors
    ///
    /// Returns an error if the input cannot be opened, or if it is compressed and damaged.
    pub fn open(&self, limits: Limits) -> io::Result<Opened> {
        match self.found()? {
            Found::File(snapshot) => Opened::new(*snapshot, limits),
            Found::Pipe(mut reader) => spool(&mut reader, limits),
        }
    }

    /// Opens the input without decompression.
    ///
    /// # Errors
    ///
    /// Returns an error if the input cannot be opened.
    pub fn open_as_it_is(&self) -> io::Result<Opened> {
        match self.found()? {
            Found::File(snapshot) => Ok(Opened::as_it_is(*snapshot, None)),
            Found::Pipe(mut reader) => spool(&mut reader, Limits::NONE),
        }
    }

    fn found(&self) -> io::Result<Found> {
        let no_file = || io::Error::other("not a regular file any more");
        match self {
            Input::Stdin => Ok(Found::Pipe(Box::new(io::stdin()))),
            #[cfg(feature = "cloud")]
            Input::File { storage: Backend::Bucket(bucket), path, .. } => {
                Ok(Found::File(Box::new(Snapshot::of_object(bucket.open(path)?))))
            }
            Input::File { storage: Backend::Documents(documents), path, .. } => {
                Ok(Found::File(Box::new(Snapshot::of_document(documents.document(path)?))))
            }
            Input::File { path, is_named, .. } => {
                let file = open_input(path, *is_named)?;
                let metadata = file.metadata()?;
                match metadata.is_file() {
                    true => Ok(Found::File(Box::new(Snapshot::with_metadata(file, &metadata)))),
                    false if *is_named => Ok(Found::Pipe(Box::new(file))),
                    false => Err(no_file()),
                }
            }
            Input::Missing { kind, reason, .. } => Err(io::Error::new(*kind, reason.clone())),
        }
    }

    /// Opens the sidecar of the input; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Returns an error with the path if the sidecar cannot be read, or is no sidecar.
    pub fn sidecar(&self) -> io::Result<Option<Sidecar>> {
        let Some((file, length)) = self.sidecar_file()? else { return Ok(None) };
        let limit = length.saturating_mul(MAX_EXPANSION) + FREE_EXPANSION;
        let opened = Sidecar::open_within(file, limit).map_err(|error| {
            let path = self.found_sidecar().unwrap_or_default();
            odd_sidecar(&path, error.kind(), &system_words(&error))
        });
        opened.map(Some)
    }

    /// Returns the path of the sidecar that the input has; `None` if it has none.
    pub fn found_sidecar(&self) -> Option<PathBuf> {
        let Input::File { storage, path, .. } = self else { return None };
        stat_sidecar(storage, path).ok().map(|(path, _)| path)
    }

    /// Opens the sidecar of the input to read its bytes as they are. Returns the reader and the length in bytes;
    /// `None` if there is no sidecar.
    ///
    /// # Errors
    ///
    /// Returns an error if the sidecar cannot be read, or is no file.
    pub fn sidecar_file(&self) -> io::Result<Option<(Box<dyn Bytes>, u64)>> {
        let Input::File { storage, path, .. } = self else { return Ok(None) };
        // Opening a pipe would block until somebody writes to it.
        let found = stat_sidecar(storage, path)
            .and_then(|(path, stat)| Ok((storage.reader(&path)?, stat.length)));
        match found {
            Ok(found) => Ok(Some(found)),
            Err(error) => match error.kind() {
                // Without this, a folder, a pipe or a link that leads nowhere would hide that the carry is lost.
                io::ErrorKind::NotFound
                    if storage.is_disk() && sidecar_path(path).symlink_metadata().is_ok() =>
                {
                    let why = "the sidecar is no file";
                    Err(odd_sidecar(&sidecar_path(path), io::ErrorKind::InvalidInput, why))
                }
                // A name of full length has no room for an ending.
                io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename => Ok(None),
                _ => Err(error),
            },
        }
    }
}

/// The source of the bytes of an input.
enum Found {
    /// A file, compressed or not.
    File(Box<Snapshot>),
    /// Standard input or a pipe, which can be read once.
    Pipe(Box<dyn io::Read>),
}

/// Returns the error of a sidecar that cannot be read.
fn odd_sidecar(path: &Path, kind: io::ErrorKind, why: &str) -> io::Error {
    let name = path.file_name().unwrap_or_default().display();
    let advice = "put the right one there, or convert with --ignore-carry";
    io::Error::new(kind, format!("{name}: {why}; {advice}"))
}

/// Returns the current folder at the start of the run, which stays the same.
fn folder_of_run() -> io::Result<&'static Path> {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    if let Some(folder) = FOLDER.get() {
        return Ok(folder);
    }
    let folder = std::path::absolute(".")?;
    Ok(FOLDER.get_or_init(|| folder))
}

/// Returns the name of a main file without its endings. The folder beside it has the same name. The names
/// `..jsonl` and `...jsonl` have none: the folders `.` and `..` belong to other files.
pub fn stem_of(main: &Path) -> Option<&str> {
    let stem = Compression::bare(Path::new(main.file_name()?)).file_stem()?.to_str()?;
    (!matches!(stem, "." | "..")).then_some(stem)
}

/// Returns the path of a file's sidecar.
pub fn sidecar_path(path: &Path) -> PathBuf {
    beside(path, SIDECAR)
}

/// Returns the path of the sidecar that a file has, and its metadata. If another program compressed or expanded the
/// file, its sidecar has the file's earlier name: `a.jsonl.carry` beside `a.jsonl.gz`. Beside several such files, it is
/// nobody's.
fn stat_sidecar(storage: &Backend, path: &Path) -> io::Result<(PathBuf, Stat)> {
    let found = |file: &Path| {
        let sidecar = sidecar_path(file);
        storage.stat_file(&sidecar).map(|stat| (sidecar, stat))
    };
    let own = found(path);
    // A store answers each question with a request.
    if !storage.is_disk() || own.is_ok() {
        return own;
    }
    let bare = Compression::bare_path(path);
    let packed = Compression::ENDINGS.map(|ending| beside(&bare, ending));
    let others: Vec<PathBuf> =
        std::iter::once(bare).chain(packed).filter(|other| other != path).collect();
    let is_absent = |other: &PathBuf| {
        storage.stat(other).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    };
    let earlier = others.iter().find_map(|other| found(other).ok());
    earlier.filter(|_| others.iter().all(is_absent)).map_or(own, Ok)
}

/// Returns the path of a file's residue, which has the bytes that no record has.
pub fn residue_path(path: &Path) -> PathBuf {
    beside(path, RESIDUE)
}

/// Copies standard input, or a pipe, to a buffer that can be read again.
fn spool(reader: &mut dyn io::Read, limits: Limits) -> io::Result<Opened> {
    let mut spooled = SpooledTempFile::new(MAX_IN_MEMORY);
    let meter = LineMeter::new(limits.line.unwrap_or(MAX_SPOOLED_LINE));
    io::copy(&mut Metered { reader, meter }, &mut spooled)?;
    Opened::new(spooled, limits)
}

/// Returns whether a path, existing or not, is inside a folder among the inputs.
pub fn is_inside_an_input(output: &Path, inputs: &[PathBuf]) -> bool {
    if is_url(output) {
        return inputs.iter().any(|input| is_url(input) && output.starts_with(input));
    }
    let existing = output.ancestors().find_map(|path| {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        fs::canonicalize(path).ok()
    });
    existing.is_some_and(|output| {
        inputs
            .iter()
            .filter_map(|input| fs::canonicalize(input).ok())
            .any(|input| input.is_dir() && output.starts_with(input))
    })
}

/// Returns whether [`std::path::absolute`] would return the path as it is; always false on Windows. That function splits
/// each path into components, which takes time in a folder of small files.
fn is_absolute(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    let has = |part: &[u8]| bytes.windows(part.len()).any(|it| it == part);
    cfg!(unix) && bytes.starts_with(b"/") && !has(b"//") && !has(b"/./") && !bytes.ends_with(b"/.")
}

#[cfg(test)]
mod tests {
    use storage::Excess;

    use super::*;

    #[test]
    fn a_stream_returns_the_lines_before_one_that_is_too_long() {
        let reader = Metered { reader: &b"one\ntwo\nlonger\nfour\n"[..], meter: LineMeter::new(4) };
        let mut stream = jsonl::Stream::new(reader);
        let mut seen = Vec::new();
        let error = loop {
            match stream.next() {
                Ok(line) => seen.push(line.expect("an error before the end").bytes().to_vec()),
                Err(error) => break error,
            }
        };
        assert_eq!(seen, [b"one\n", b"two\n"]);
        assert!(error.downcast::<Excess>().is_ok());
        assert!(stream.next().is_err());
    }

    #[test]
    fn an_absolute_path_is_what_the_standard_library_returns() {
        for path in [
            "/",
            "/a/b.jsonl",
            "/a//b",
            "//a",
            "/a/./b",
            "/a/.",
            "/a/..",
            "/a/.b/c.",
            "a",
            "./a",
            "/a/",
        ] {
            let path = Path::new(path);
            let absolute = std::path::absolute(path).expect("a path");
            let is_same = path.as_os_str() == absolute.as_os_str();
            assert!(!is_absolute(path) || is_same, "{}", path.display());
        }
        assert_eq!(is_absolute(Path::new("/a/.b/s.jsonl")), cfg!(unix));
    }
}
