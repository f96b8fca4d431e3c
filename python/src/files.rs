//! Sessions: all of this machine, all in a folder, or one by its path.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use conversion::Source;
use convert::{FORMATS, detect, environment};
use core_model::{FileRole, Format};
use pyo3::{
    exceptions::{PyFileNotFoundError, PyTypeError, PyUserWarning},
    prelude::*,
};
use sessions::{Input, ReadError, SessionFiles, UnknownFormat, Warning, single_format, walk};
use storage::Limits;

use crate::error::{of_io, of_read};

/// A session: its main file, with the files that its client keeps beside it.
#[pyclass(frozen, module = "session_convert")]
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) files: Arc<SessionFiles>,
    /// The format of the main file; `None` for a file without a record.
    pub(crate) read_as: Option<&'static Format>,
}

impl Session {
    /// Opens a session, and detects its format unless the folder of its client says it.
    fn new(files: SessionFiles, known: Option<&'static Format>) -> Result<Self, ReadError> {
        let read_as = match known {
            Some(format) => Some(format),
            None => {
                let mut source = Source::new(files.main.open(Limits::default())?);
                single_format(detect(&mut source)?)?
            }
        };
        Ok(Self { files: Arc::new(files), read_as })
    }

    /// Returns the transcripts, the main one first, each with its format.
    pub(crate) fn transcripts(&self) -> Vec<(Input, &'static Format)> {
        let Some(main) = self.read_as else { return Vec::new() };
        let format = self.files.format_of_all(Some(main)).unwrap_or(main);
        let agents = self.files.others.iter().filter(|it| matches!(it.role, FileRole::Agent(_)));
        let agents = agents.map(|it| (it.input.clone(), format));
        [(self.files.main.clone(), main)].into_iter().chain(agents).collect()
    }
}

#[pymethods]
impl Session {
    /// The path of the main file.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.files.main.path().map(Path::to_owned)
    }

    /// The paths of all files, the main one first.
    #[getter]
    fn files(&self) -> Vec<PathBuf> {
        self.files.files().filter_map(|input| input.path().map(Path::to_owned)).collect()
    }

    /// The name of the format; `None` for a file without a record.
    #[getter]
    fn format(&self) -> Option<&'static str> {
        self.read_as.map(|format| format.name)
    }

    /// The id in the name of the file, or of its folder.
    #[getter]
    fn id(&self) -> Option<&str> {
        let (path, stem) = (self.files.main.path()?, self.files.main.stem()?);
        self.read_as.map_or(Some(stem), |format| format.session_id(path, stem))
    }

    /// The size of all files in bytes.
    #[getter]
    fn size(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.files.size())
    }

    fn __repr__(&self) -> String {
        format!("Session({:?}, {})", self.files.main.label(), self.format().unwrap_or("empty"))
    }
}

/// Returns the sessions of all agents on this machine, or those below a folder, sorted by path.
#[pyfunction]
#[pyo3(name = "sessions", signature = (folder = None))]
pub(crate) fn list_sessions(py: Python<'_>, folder: Option<PathBuf>) -> PyResult<Vec<Session>> {
    let mut warnings = Vec::new();
    let found = py.detach(|| match &folder {
        None => of_this_machine(&mut |it| warnings.push(it.to_string())),
        Some(folder) => below(folder, &mut |it| warnings.push(it.to_string())),
    })?;
    tell(py, &warnings)?;
    Ok(found)
}

/// Opens the session with this main file.
#[pyfunction]
pub(crate) fn open(py: Python<'_>, path: PathBuf) -> PyResult<Session> {
    let mut warnings = Vec::new();
    let opened = py.detach(|| {
        let label = path.display().to_string();
        let files =
            SessionFiles::of_file(FORMATS, path.clone(), &mut |it| warnings.push(it.to_string()));
        let files = files.map_err(|error| of_io(&label, &error))?;
        Session::new(files, None).map_err(|error| of_read(&label, &error))
    })?;
    tell(py, &warnings)?;
    Ok(opened)
}

fn of_this_machine(warn: &mut dyn FnMut(Warning)) -> PyResult<Vec<Session>> {
    let stored = sessions::sessions(FORMATS, environment()).map_err(|error| of_io("", &error))?;
    let mut found = Vec::new();
    for stored in stored {
        let label = stored.path.display().to_string();
        let files = SessionFiles::of_file(FORMATS, stored.path, warn);
        let files = files.map_err(|error| of_io(&label, &error))?;
        // A folder may have a file of another kind, and one that was removed since.
        match Session::new(files, None) {
            Err(ReadError::Format(_)) => {}
            Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {}
            session => found.push(session.map_err(|error| of_read(&label, &error))?),
        }
    }
    Ok(found)
}

fn below(folder: &Path, warn: &mut dyn FnMut(Warning)) -> PyResult<Vec<Session>> {
    if !folder.is_dir() {
        let message = format!("{}: not a folder; `open` opens a file", folder.display());
        return Err(PyFileNotFoundError::new_err(message));
    }
    let mut inputs = Vec::new();
    walk(folder, Path::new(""), &mut inputs, warn);
    inputs.retain(|input| !input.is_side_file());
    let mut found = Vec::new();
    for files in SessionFiles::group(FORMATS, inputs, warn) {
        let label = files.main.label();
        match Session::new(files, None) {
            Err(ReadError::Format(UnknownFormat::Unknown | UnknownFormat::Foreign(_))) => {}
            session => found.push(session.map_err(|error| of_read(&label, &error))?),
        }
    }
    Ok(found)
}

/// Passes warnings to the module `warnings` of Python.
pub(crate) fn tell(py: Python<'_>, warnings: &[String]) -> PyResult<()> {
    let category = py.get_type::<PyUserWarning>();
    for warning in warnings {
        let text = std::ffi::CString::new(warning.replace('\0', " "))?;
        PyErr::warn(py, &category, &text, 1)?;
    }
    Ok(())
}

/// Returns the sessions that an argument names: a session, a path, or several of them.
pub(crate) fn sources(argument: &Bound<'_, PyAny>) -> PyResult<Vec<Session>> {
    if let Ok(session) = argument.cast::<Session>() {
        return Ok(vec![session.get().clone()]);
    }
    if let Ok(path) = argument.extract::<PathBuf>() {
        return match path.is_dir() {
            true => list_sessions(argument.py(), Some(path)),
            false => Ok(vec![open(argument.py(), path)?]),
        };
    }
    let Ok(items) = argument.try_iter() else {
        let message = "expected a Session, a path, or an iterable of them";
        return Err(PyTypeError::new_err(message));
    };
    let mut all = Vec::new();
    for item in items {
        all.extend(sources(&item?)?);
    }
    Ok(all)
}
