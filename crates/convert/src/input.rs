//! What to read: files, folders, standard input.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use tempfile::SpooledTempFile;

use crate::{Sidecar, output::FILE_MODE};

/// The ending of a sidecar's name, after that of the file it belongs to.
pub(crate) const SIDECAR: &str = "carry";

/// Standard input up to this size is kept in memory, more of it in a temporary file.
pub(crate) const MAX_IN_MEMORY: usize = 8 * 1024 * 1024;

/// Where a source comes from.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Input {
    /// Standard input.
    Stdin,
    /// A file, and its name within the folder or list that was asked for.
    File { path: PathBuf, name: PathBuf },
    /// A path that names nothing that can be read, and why.
    Missing { path: PathBuf, reason: String },
}

impl Input {
    /// Creates an input of a file.
    pub(crate) fn file(path: PathBuf) -> Self {
        let name = PathBuf::from(path.file_name().unwrap_or_default());
        Input::File { path, name }
    }

    /// Creates an input that cannot be opened.
    pub(crate) fn missing(path: &Path, error: &io::Error) -> Self {
        Input::Missing { path: path.to_owned(), reason: error.to_string() }
    }

    /// Returns whether there is something to read.
    pub(crate) fn is_found(&self) -> bool {
        !matches!(self, Input::Missing { .. })
    }

    /// Returns whether its name is that of a file that Claude Code keeps beside sessions: what a
    /// sub-agent was asked, outputs too large for the log, lists of sessions (CONVERSION 8b).
    pub(crate) fn is_side_file(&self) -> bool {
        let Input::File { path, .. } = self else { return false };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
        name.starts_with("agent-") && name.ends_with(".meta.json")
            || name == "sessions-index.json"
            || name == "history.jsonl"
            || folder == "tool-results"
    }

    /// Returns the name of the file without its ending; none if it is not text.
    pub(crate) fn stem(&self) -> Option<&str> {
        let Input::File { path, .. } = self else { return None };
        path.file_stem()?.to_str()
    }

    /// Returns what to call it in messages.
    pub(crate) fn label(&self) -> String {
        match self {
            Input::Stdin => "standard input".to_owned(),
            Input::File { path, .. } | Input::Missing { path, .. } => path.display().to_string(),
        }
    }

    /// Returns its size in bytes; 0 where nobody knows it before it is read.
    pub(crate) fn size(&self) -> u64 {
        let Input::File { path, .. } = self else { return 0 };
        fs::metadata(path).map_or(0, |metadata| metadata.len())
    }

    /// Opens it.
    pub(crate) fn open(&self) -> io::Result<Opened> {
        match self {
            Input::Stdin => {
                let mut spooled = SpooledTempFile::new(MAX_IN_MEMORY);
                io::copy(&mut io::stdin().lock(), &mut spooled)?;
                Ok(Opened::Spooled(spooled))
            }
            Input::File { path, .. } => Ok(Opened::File(File::open(path)?)),
            Input::Missing { reason, .. } => Err(io::Error::other(reason.clone())),
        }
    }

    /// Reads the sidecar that stands beside it, if one does.
    pub(crate) fn sidecar(&self) -> io::Result<Option<Sidecar>> {
        let Input::File { path, .. } = self else { return Ok(None) };
        match File::open(sidecar_path(path)) {
            Ok(file) => Sidecar::read(file).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// An input that can be read again from its start.
pub(crate) enum Opened {
    File(File),
    Spooled(SpooledTempFile),
}

impl Opened {
    /// Returns what it grants its owner to do with it.
    pub(crate) fn mode(&self) -> io::Result<u32> {
        match self {
            Opened::File(file) => Ok(file.metadata()?.permissions().mode()),
            Opened::Spooled(_) => Ok(FILE_MODE),
        }
    }
}

impl Read for Opened {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Opened::File(file) => file.read(buffer),
            Opened::Spooled(file) => file.read(buffer),
        }
    }
}

impl Seek for Opened {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Opened::File(file) => file.seek(to),
            Opened::Spooled(file) => file.seek(to),
        }
    }
}

/// Returns where the sidecar of a file stands.
pub(crate) fn sidecar_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(SIDECAR);
    PathBuf::from(name)
}

/// Adds the regular files of a folder, in the order of their names; links are not followed.
pub(crate) fn walk(root: &Path, name: &Path, inputs: &mut Vec<Input>) {
    let entries = fs::read_dir(root).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
    let mut entries = match entries {
        Ok(entries) => entries,
        Err(error) => return inputs.push(Input::missing(root, &error)),
    };
    entries.sort_by_key(|entry| entry.file_name());
    for entry in entries {
        let (path, name) = (entry.path(), name.join(entry.file_name()));
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => walk(&path, &name, inputs),
            Ok(kind) if kind.is_file() && path.extension().is_none_or(|it| it != SIDECAR) => {
                inputs.push(Input::File { path, name });
            }
            Ok(_) => {}
            Err(error) => inputs.push(Input::missing(&path, &error)),
        }
    }
}

/// Returns whether a path, there or not, lies in a folder among the inputs.
pub(crate) fn is_inside_an_input(output: &Path, inputs: &[PathBuf]) -> bool {
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
