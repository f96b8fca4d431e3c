//! What to read: files, folders, standard input, objects.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use conversion::Sidecar;
use rustix::fs::OFlags;
use storage::{
    Backend, Compression, Limits, LineMeter, MAX_IN_MEMORY, Metered, Opened, RESIDUE, SIDECAR,
    Snapshot, beside, is_url,
};
use tempfile::SpooledTempFile;

/// The longest line of what has no end that is known, if nothing else is said: a device may go on for
/// ever.
const MAX_SPOOLED_LINE: u64 = 1024 * 1024 * 1024;

/// The most bytes that a sidecar may hold: so many times its size, and so many more.
const MAX_EXPANSION: u64 = 100;
const FREE_EXPANSION: u64 = 64 * 1024 * 1024;

/// Where a source comes from.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Input {
    /// Standard input.
    Stdin,
    /// A file, where it is, and its name within the folder or list that was asked for; `is_named` if
    /// the user named it, and a link is meant.
    File {
        /// The disk, or a bucket.
        storage: Backend,
        /// Where it is.
        path: PathBuf,
        /// Its name within the folder or list.
        name: PathBuf,
        /// Whether the user named it.
        is_named: bool,
    },
    /// The lines of a file on the disk that start in a range of its bytes.
    Lines {
        /// Where the file is.
        path: PathBuf,
        /// The offsets of the first byte and of the byte after the last.
        range: [u64; 2],
    },
    /// A path that names nothing that can be read, and why.
    Missing {
        /// The path, or the URL without what is secret in it.
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

    /// Creates an input of a file.
    pub fn stored(storage: Backend, path: PathBuf) -> Self {
        let name = PathBuf::from(path.file_name().unwrap_or_default());
        Input::File { storage, path, name, is_named: true }
    }

    /// Creates an input that cannot be opened.
    pub fn missing(path: &Path, error: &io::Error) -> Self {
        Input::Missing { path: path.to_owned(), kind: error.kind(), reason: error.to_string() }
    }

    /// Returns whether there is something to read.
    pub fn is_found(&self) -> bool {
        !matches!(self, Input::Missing { .. })
    }

    /// Returns whether its name is that of a file that Claude Code keeps beside sessions: what a
    /// sub-agent was asked, outputs too large for the log, lists of sessions; compressed
    /// or not.
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

    /// Returns the path, if it is a file.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Input::File { path, .. } | Input::Lines { path, .. } => Some(path),
            Input::Stdin | Input::Missing { .. } => None,
        }
    }

    /// Returns the path whatever folder we are in, if it is a file; an URL is one already.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub fn absolute(&self) -> io::Result<Option<PathBuf>> {
        match self.path() {
            Some(path) if self.storage().is_disk() => {
                std::path::absolute(folder_of_run()?.join(path)).map(Some)
            }
            path => Ok(path.map(Path::to_owned)),
        }
    }

    /// Returns where the file is; on the disk, if it is none.
    pub fn storage(&self) -> &Backend {
        match self {
            Input::File { storage, .. } => storage,
            Input::Stdin | Input::Lines { .. } | Input::Missing { .. } => &Backend::Disk,
        }
    }

    /// Returns the name of the file without its endings, also that which tells of compression; none if it
    /// is not text.
    pub fn stem(&self) -> Option<&str> {
        let Input::File { path, .. } = self else { return None };
        stem_of(path)
    }

    /// Returns what to call it in messages.
    pub fn label(&self) -> String {
        match self {
            Input::Stdin => "standard input".to_owned(),
            Input::File { path, .. } | Input::Missing { path, .. } => path.display().to_string(),
            Input::Lines { path, range: [0, _] } => path.display().to_string(),
            // Lines and bytes are counted from there.
            Input::Lines { path, range: [start, _] } => {
                format!("{} from byte {start} on", path.display())
            }
        }
    }

    /// Returns its size in bytes; 0 where nobody knows it before it is read.
    pub fn size(&self) -> u64 {
        if let Input::Lines { range: [start, end], .. } = self {
            return end.saturating_sub(*start);
        }
        let Input::File { storage, path, .. } = self else { return 0 };
        storage.stat(path).map_or(0, |stat| stat.length)
    }

    /// Opens it: what is read of a compressed file is what it expands to, and more than the limits
    /// allow is an error to read.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be opened, or is compressed and damaged.
    pub fn open(&self, limits: Limits) -> io::Result<Opened> {
        match self.found()? {
            Found::File(snapshot) => Opened::new(snapshot, limits),
            Found::Lines(snapshot) => Ok(Opened::as_it_is(snapshot, limits.line)),
            Found::Pipe(mut reader) => spool(&mut reader, limits),
        }
    }

    /// Opens it, and what is read of a compressed file is compressed.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be opened.
    pub fn open_as_it_is(&self) -> io::Result<Opened> {
        match self.found()? {
            Found::File(snapshot) | Found::Lines(snapshot) => Ok(Opened::as_it_is(snapshot, None)),
            Found::Pipe(mut reader) => spool(&mut reader, Limits::NONE),
        }
    }

    fn found(&self) -> io::Result<Found> {
        // What took the place of a file that was found in a folder is not followed, and does not keep
        // us waiting.
        let careful = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let open = |path: &Path, flags: OFlags| {
            File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path)
        };
        let no_file = || io::Error::other("no regular file any more");
        match self {
            Input::Stdin => Ok(Found::Pipe(Box::new(io::stdin()))),
            #[cfg(feature = "cloud")]
            Input::File { storage: Backend::Bucket(bucket), path, .. } => {
                Ok(Found::File(Snapshot::of_object(bucket.open(path)?)))
            }
            Input::File { path, is_named, .. } => {
                let file = open(path, if *is_named { OFlags::empty() } else { careful })?;
                let metadata = file.metadata()?;
                match metadata.is_file() {
                    true => Ok(Found::File(Snapshot::with_metadata(file, &metadata))),
                    false if *is_named => Ok(Found::Pipe(Box::new(file))),
                    false => Err(no_file()),
                }
            }
            Input::Lines { path, range } => {
                let file = open(path, careful)?;
                match file.metadata()?.is_file() {
                    true => Ok(Found::Lines(Snapshot::of_lines(file, *range)?)),
                    false => Err(no_file()),
                }
            }
            Input::Missing { kind, reason, .. } => Err(io::Error::new(*kind, reason.clone())),
        }
    }

    /// Reads the sidecar that stands beside it, if one does.
    pub fn sidecar(&self) -> io::Result<Option<Sidecar>> {
        let Input::File { storage, path, .. } = self else { return Ok(None) };
        let path = sidecar_path(path);
        // To open a pipe would wait for whoever writes to it.
        let found = storage.stat_file(&path).and_then(|stat| Ok((stat, storage.reader(&path)?)));
        match found {
            Ok((stat, file)) => {
                let limit = stat.length.saturating_mul(MAX_EXPANSION) + FREE_EXPANSION;
                Sidecar::open_within(file, limit).map(Some)
            }
            Err(error) => match error.kind() {
                // Of a name of full length there is no longer one.
                io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename => Ok(None),
                _ => Err(error),
            },
        }
    }
}

/// What an input is when it is opened.
enum Found {
    /// A file, compressed or not.
    File(Snapshot),
    /// A part of a file, which is not compressed.
    Lines(Snapshot),
    /// Standard input or a pipe, which can be read once.
    Pipe(Box<dyn io::Read>),
}

/// Returns the folder that we are in: a run stays where it was started.
fn folder_of_run() -> io::Result<&'static Path> {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    if let Some(folder) = FOLDER.get() {
        return Ok(folder);
    }
    let folder = std::path::absolute(".")?;
    Ok(FOLDER.get_or_init(|| folder))
}

/// Returns the name of a main file without its endings, also that which tells of compression:
/// the folder beside it goes by that.
pub fn stem_of(main: &Path) -> Option<&str> {
    Compression::bare(Path::new(main.file_name()?)).file_stem()?.to_str()
}

/// Returns where the sidecar of a file stands.
pub fn sidecar_path(path: &Path) -> PathBuf {
    beside(path, SIDECAR)
}

/// Returns where the file with what a file has no place for stands.
pub fn residue_path(path: &Path) -> PathBuf {
    beside(path, RESIDUE)
}

/// Puts standard input, or a pipe, where it can be read again.
fn spool(reader: &mut dyn io::Read, limits: Limits) -> io::Result<Opened> {
    let mut spooled = SpooledTempFile::new(MAX_IN_MEMORY);
    let meter = LineMeter::new(limits.line.unwrap_or(MAX_SPOOLED_LINE));
    io::copy(&mut Metered { reader, meter }, &mut spooled)?;
    Opened::new(spooled, limits)
}

/// Returns whether a path, there or not, lies in a folder among the inputs.
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
