//! The environment of the program, as a value for the crates below, which do not read it
//! themselves.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use archive::KeptCopies;
use core_model::{Environment, Format, System};
use rayon::{ThreadPool, ThreadPoolBuilder};
use sessions::{
    EachRead, Input, Lookup, Prefilter, ReadError, Stores, documents_at, expand_documents, walk,
};
use storage::is_url;

use crate::{FORMATS, interrupt::INTERRUPTION, terminal::message::warn};

/// Returns the environment of this program.
pub fn environment() -> Environment<'static> {
    fn variable(name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }
    Environment::new(System::HERE, &variable)
}

/// Creates a lookup among this machine's sessions of one format, or of all except the target's.
pub(crate) fn lookup(
    project: Option<&Path>,
    from: Option<&'static Format>,
    to: Option<&'static Format>,
) -> Lookup<'static> {
    Lookup::new(FORMATS, environment(), project, from, to)
}

/// Returns the inputs at the paths, and whether their paths are kept in an output folder.
///
/// A path that does not exist becomes an input that cannot be opened, so that the other inputs are
/// still converted.
pub(crate) fn inputs(paths: &[PathBuf], lookup: &Lookup<'_>) -> io::Result<(Vec<Input>, bool)> {
    let mut inputs = Vec::new();
    let mut stores = Stores::new(INTERRUPTION);
    let mut is_folder = paths.len() > 1;
    if paths.is_empty() && lookup.project.is_some() {
        let paths = lookup.all()?;
        is_folder = paths.len() > 1;
        inputs.extend(paths);
    } else if paths.is_empty() {
        inputs.push(Input::Stdin);
    }
    for path in paths {
        if path.as_os_str() == "-" {
            inputs.push(Input::Stdin);
            continue;
        }
        if is_url(path) {
            is_folder |= stores.add(path, paths.len() > 1, &mut inputs);
            continue;
        }
        let name = if paths.len() > 1 { path.file_name().unwrap_or_default() } else { "".as_ref() };
        let name = Path::new(name);
        if let Some(found) = documents_at(FORMATS, path, name, &mut warn) {
            is_folder = true;
            inputs.extend(found);
        } else if path.is_dir() {
            is_folder = true;
            let mut found = Vec::new();
            walk(path, name, &mut found, &mut warn);
            leave_out_kept(path, &mut found);
            inputs.extend(expand_documents(FORMATS, found, &mut warn));
        } else {
            inputs.push(
                lookup.find(path, &mut warn).unwrap_or_else(|error| Input::missing(path, &error)),
            );
        }
    }
    Ok((inputs, is_folder))
}

/// Removes older versions of outputs of this program from the files of a folder, and says how many they are: they are
/// no sessions of their own.
fn leave_out_kept(folder: &Path, found: &mut Vec<Input>) {
    let (mut kept, n_found) = (KeptCopies::default(), found.len());
    found.retain(|input| input.path().is_none_or(|path| !kept.has(path)));
    let n_kept = n_found - found.len();
    if n_kept > 0 {
        let folder = folder.display();
        warn(format!(
            "{folder}: kept copies of older outputs (NAME.bak) left out: {n_kept}; name one to use it"
        ));
    }
}

/// Returns `asked`, or `default` if that is `None` or 0.
pub(crate) fn n_jobs(asked: Option<usize>, default: usize) -> usize {
    asked.filter(|n_jobs| *n_jobs > 0).unwrap_or(default)
}

/// Returns the number of threads that can run at a time.
pub(crate) fn n_cores() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get())
}

/// Threads that work is divided among.
pub(crate) struct Threads(Option<ThreadPool>);

impl Threads {
    /// Starts threads. If the system refuses some, there is only the current one.
    ///
    /// # Errors
    ///
    /// Returns an error if rayon does not accept the current thread.
    pub(crate) fn start(n_threads: usize) -> io::Result<Self> {
        static OF_THIS_THREAD: OnceLock<ThreadPool> = OnceLock::new();
        let refusal = match ThreadPoolBuilder::new().num_threads(n_threads).build() {
            Ok(pool) => return Ok(Self(Some(pool))),
            Err(refusal) => refusal,
        };
        // A thread stays in its first pool, and works for it without a call of `install`.
        if rayon::current_thread_index().is_none() {
            let pool = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
            let message = format!("{n_threads} threads could not be started: {refusal}");
            _ = OF_THIS_THREAD.set(pool.map_err(|_| io::Error::other(message))?);
        }
        Ok(Self(None))
    }

    /// Runs `work` on the threads.
    pub(crate) fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.0 {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
}

/// Reads an input as [`sessions::read`] does, and stops at an interruption.
///
/// # Errors
///
/// As for [`sessions::read`].
pub(crate) fn read(
    input: &Input,
    format: Option<&'static Format>,
    prefilter: &Prefilter,
    progress: &dyn sessions::Progress,
    each: &mut EachRead<'_>,
) -> Result<Option<&'static Format>, ReadError> {
    sessions::read(FORMATS, input, format, prefilter, progress, INTERRUPTION, each)
}
