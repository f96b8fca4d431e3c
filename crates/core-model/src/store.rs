//! Computes the folders of clients from environment variables.

use std::{
    ffi::OsString,
    fmt,
    fs::{File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use jsonl::{Framing, Text, Value};

use crate::{Facts, FolderEntry, SafeName, folder_entries, system_words};

/// The environment that a client uses to find its folders.
///
/// That of the process:
///
/// ```
/// use core_model::{Environment, System};
///
/// let environment = Environment::new(System::HERE, &|name| std::env::var_os(name));
/// let home = environment.home();
/// ```
#[derive(Clone, Copy)]
pub struct Environment<'e> {
    variable: &'e dyn Fn(&str) -> Option<OsString>,
    /// The system whose conventions the client follows.
    pub system: System,
}

/// A family of systems, by the folders of programs' data.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum System {
    /// Linux and other Unix systems.
    Unix,
    /// macOS.
    Mac,
    /// Windows.
    Windows,
}

impl System {
    /// The system that this program was built for.
    pub const HERE: System = if cfg!(windows) {
        System::Windows
    } else if cfg!(target_os = "macos") {
        System::Mac
    } else {
        System::Unix
    };
}

impl<'e> Environment<'e> {
    /// Creates an environment from a function that returns variables.
    pub fn new(system: System, variable: &'e dyn Fn(&str) -> Option<OsString>) -> Self {
        Self { variable, system }
    }

    /// Returns a path in a variable; an empty one counts as unset.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        (self.variable)(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    /// Returns the user's home folder.
    pub fn home(&self) -> Option<PathBuf> {
        let home = self.path("HOME");
        if self.system == System::Windows { self.path("USERPROFILE").or(home) } else { home }
    }
}

impl fmt::Debug for Environment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").field("system", &self.system).finish_non_exhaustive()
    }
}

/// The folders of a format's client, and the command that continues a session.
#[derive(Clone, Copy, Debug)]
pub struct Store {
    /// Returns the folders with sessions of a project, or of all projects.
    pub folders: fn(&Environment<'_>, Option<&str>) -> io::Result<Vec<PathBuf>>,
    /// Whether the sessions of all projects are together in these folders. Then the working
    /// directory in the first record of a session is its project.
    pub is_shared: bool,
    /// Returns the place in which the client looks for a session of a project; `None` if the client
    /// resumes none. The function returns `None` if the client's folder is unknown, and an error if the
    /// place depends on a file that cannot be read.
    pub place: Option<FindHome>,
    /// Returns the id of a session from the name of its file without `.jsonl`. The name may also
    /// have a time.
    pub session_id: fn(&str) -> &str,
    /// The command that continues a session, without the session's name.
    pub resume: &'static [&'static str],
    /// Sessions of older versions in the same folders, which are not JSON Lines.
    pub older: Option<OlderFiles>,
    /// Reads a file that names a session of the client; `None` for other files.
    pub breadcrumb: Option<fn(&[u8]) -> Option<Named>>,
    /// The file with the titles of sessions, if they are not in the sessions.
    pub titles: Option<TitleIndex>,
}

/// Files in the folders of a client that older versions of it wrote: `session-1.json` of Gemini CLI.
#[derive(Clone, Copy, Debug)]
pub struct OlderFiles {
    /// The end of their names, without the dot.
    pub ending: &'static str,
    /// The way in which they are split into records.
    pub framing: Framing,
}

/// The layout of sessions that have a folder each, whose name is the id.
#[derive(Clone, Copy, Debug)]
pub struct SessionFolder {
    /// The name of a session's file.
    pub file: &'static str,
    /// Returns the name and the bytes of a file that the client keeps beside a session, given its
    /// facts, its project and its id. An installation writes it only if it is not there.
    pub beside: fn(&Facts, project: &str, session_id: &str) -> (&'static str, Vec<u8>),
}

/// A file with the titles of sessions of a client.
#[derive(Clone, Copy, Debug)]
pub struct TitleIndex {
    /// Returns the path of the file, from the path of a session; `None` if the session is in no
    /// folder of the client.
    pub file: fn(&Path) -> Option<PathBuf>,
    /// The function that reads titles.
    pub read: ReadTitles,
}

/// A function that reads titles. A blank title is none.
#[derive(Clone, Copy, Debug)]
pub enum ReadTitles {
    /// Reads the id of a session and its title from a JSON object in a line; `None` for other lines.
    /// The last line of a session wins.
    Lines(for<'l> fn(Value<'l>) -> Option<(Text<'l>, Text<'l>)>),
    /// Reads the id of the only session of the file and its title; `None` if it has none.
    File(fn(&[u8]) -> Option<(String, String)>),
}

/// A session that a file refers to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Named {
    /// The path of its project.
    pub project: String,
    /// The client's name of the session.
    pub name: SafeName,
}

/// The place where a client looks for a session.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Home {
    /// The client's own folder, which may be a link.
    pub root: PathBuf,
    /// The folder in it. No link is allowed below it.
    pub folder: PathBuf,
    /// The client's name of the session, which is the file's name without its ending.
    pub name: SafeName,
    /// The name of the file, if it is not that of the session.
    pub file: Option<&'static str>,
    /// The ending of a file with the name of the session.
    pub ending: &'static str,
}

impl Home {
    /// Returns the path of the session's file.
    pub fn path(&self) -> PathBuf {
        let folder = self.root.join(&self.folder);
        match self.file {
            Some(file) => folder.join(file),
            None => folder.join(format!("{}{}", self.name, self.ending)),
        }
    }
}

/// Returns the folders in a folder, sorted by name; none if it does not exist.
///
/// Links are not followed.
///
/// # Errors
///
/// Returns an error, with the path of the folder, if the folder cannot be read.
pub fn subfolders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    entries(folder, |entry, _| entry.is_folder)
}

/// Finds the place of a session, by its project and its id.
pub type FindHome =
    fn(&Environment<'_>, project: &str, session_id: &str) -> io::Result<Option<Home>>;

/// Limit in bytes for a file that holds a path.
const MAX_PATH: u64 = 64 * 1024;

/// Returns the path that a client wrote into a small file, such as `.project_root`, without blanks around
/// it; `None` if the file is missing, too large, or no regular file. Bytes that are not UTF-8 become U+FFFD.
///
/// # Errors
///
/// Returns an error, with the path of the file, if the file cannot be read.
pub fn marked_path(file: &Path) -> io::Result<Option<String>> {
    let read = || {
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.len() > MAX_PATH {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        File::open(file)?.take(MAX_PATH).read_to_end(&mut bytes)?;
        Ok(Some(String::from_utf8_lossy(&bytes).trim().to_owned()))
    };
    read().or_else(|error: io::Error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
        kind => Err(io::Error::new(kind, format!("{}: {}", file.display(), system_words(&error)))),
    })
}

/// Returns the session files in a folder, sorted by name; none if it does not exist.
///
/// Links are not followed.
///
/// # Errors
///
/// Returns an error if the folder cannot be read.
pub fn session_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    files_with_endings(folder, &[".jsonl"])
}

/// Returns the files in a folder whose names have one of the endings, such as `.jsonl`, sorted by name;
/// none if the folder does not exist.
///
/// Links are not followed.
///
/// # Errors
///
/// Returns an error if the folder cannot be read.
pub fn files_with_endings(folder: &Path, endings: &[&str]) -> io::Result<Vec<PathBuf>> {
    let has_ending = |path: &Path| {
        let name = path.file_name().map_or(&[][..], |name| name.as_encoded_bytes());
        let is_ending = |ending: &&str| name.ends_with(ending.as_bytes());
        // A name that is an ending alone, such as `.jsonl`, is of no session.
        endings.iter().any(|ending| name.len() > ending.len() && is_ending(ending))
    };
    entries(folder, |entry, path| entry.is_file && has_ending(path))
}

/// Creates a file for a session, readable only by its owner.
///
/// # Errors
///
/// Returns an error if the file exists or cannot be created.
pub fn create_session_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Opens a session's file for appending. A last line without a newline gets one, so that a torn
/// line does not damage the next one.
///
/// # Errors
///
/// Returns an error if the file is missing, or cannot be read and written.
pub fn append_session_file(path: &Path) -> io::Result<File> {
    let mut file = OpenOptions::new().read(true).append(true).open(path)?;
    let mut last = [b'\n'];
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last != [b'\n'] {
        file.write_all(b"\n")?;
    }
    Ok(file)
}

fn entries(
    folder: &Path,
    is_wanted: impl Fn(&FolderEntry, &Path) -> bool,
) -> io::Result<Vec<PathBuf>> {
    let entries = match folder_entries(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {}", folder.display(), system_words(&error)))
        })?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = folder.join(&entry.name);
        if is_wanted(&entry, &path) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}
