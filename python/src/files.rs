//! Sessions: all of this machine, all in a folder, or one by its path.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use convert::{FORMATS, environment, read_message};
use core_model::{Event, FileRole, Format, Place};
use jsonl::Line;
use pyo3::{
    exceptions::{PyFileNotFoundError, PyTypeError, PyUserWarning},
    prelude::*,
};
use sessions::{
    Input, Lookup, Prefilter, ReadError, SessionFiles, UnknownFormat, Warning, expand_documents,
    read, walk,
};
use storage::Interruption;

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
    /// Opens a session, and detects its format from its first lines.
    fn new(files: SessionFiles) -> Result<Self, ReadError> {
        let never = Interruption::default();
        let stop = &mut |_: Place, _: &Line<'_>, _: jsonl::Result<&Event<'_>>| Ok(false);
        let read_as = read(FORMATS, &files.main, None, &Prefilter::ALL, &(), never, stop)?;
        Ok(Self { files: Arc::new(files), read_as })
    }
}

/// A session to read.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) files: Arc<SessionFiles>,
    /// The format; `None` if it is not detected yet.
    known: Option<&'static Format>,
    /// Whether there is a record, or that is not known yet.
    may_have_records: bool,
}

impl Named {
    fn opened(session: &Session) -> Self {
        let known = session.read_as;
        Self { files: session.files.clone(), known, may_have_records: known.is_some() }
    }

    /// Returns the transcripts, the main one first, each with its format if it is known.
    pub(crate) fn transcripts(&self) -> Vec<(Input, Option<&'static Format>)> {
        if !self.may_have_records {
            return Vec::new();
        }
        let format = self.files.format_of_all(self.known).or(self.known);
        let agents = self.files.others.iter().filter(|it| matches!(it.role, FileRole::Agent(_)));
        let agents = agents.map(|it| (it.input.clone(), format));
        [(self.files.main.clone(), self.known)].into_iter().chain(agents).collect()
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

/// Returns the sessions of all agents on this machine, or below a folder, sorted by path. What cannot be read is a
/// warning.
#[pyfunction]
#[pyo3(name = "sessions", signature = (folder = None))]
pub(crate) fn list_sessions(py: Python<'_>, folder: Option<PathBuf>) -> PyResult<Vec<Session>> {
    let mut warnings = Vec::new();
    let found = py.detach(|| match &folder {
        None => of_this_machine(&mut warnings),
        Some(folder) => below(folder, &mut warnings),
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
        Session::new(files).map_err(|error| of_read(&label, &error))
    })?;
    tell(py, &warnings)?;
    Ok(opened)
}

fn of_this_machine(warnings: &mut Vec<String>) -> PyResult<Vec<Session>> {
    let lookup = Lookup::new(FORMATS, environment(), None, None, None);
    // Without a session, asking for the files is an error.
    let stored = lookup.sessions().map_err(|error| of_io("", &error))?;
    if stored.is_empty() {
        return Ok(Vec::new());
    }
    let inputs = lookup
        .inputs(&mut |it| warnings.push(it.to_string()))
        .map_err(|error| of_io("", &error))?;
    Ok(of_inputs(inputs, warnings))
}

fn below(folder: &Path, warnings: &mut Vec<String>) -> PyResult<Vec<Session>> {
    if !folder.is_dir() {
        let message = format!("{}: not a folder; `open` opens a file", folder.display());
        return Err(PyFileNotFoundError::new_err(message));
    }
    let inputs = inputs_below(folder, warnings);
    Ok(of_inputs(inputs, warnings))
}

fn inputs_below(folder: &Path, warnings: &mut Vec<String>) -> Vec<Input> {
    let mut inputs = Vec::new();
    walk(folder, Path::new(""), &mut inputs, &mut |it| warnings.push(it.to_string()));
    let mut inputs = expand_documents(FORMATS, inputs, &mut |it| warnings.push(it.to_string()));
    inputs.retain(|input| !input.is_side_file());
    inputs
}

/// Returns the sessions of all agents on this machine, to read.
pub(crate) fn all_sources(py: Python<'_>) -> PyResult<Vec<Named>> {
    Ok(list_sessions(py, None)?.iter().map(Named::opened).collect())
}

/// Groups files into sessions. Files of other kinds are left out.
fn of_inputs(inputs: Vec<Input>, warnings: &mut Vec<String>) -> Vec<Session> {
    let groups =
        SessionFiles::group(FORMATS, inputs, &mut |it: Warning| warnings.push(it.to_string()));
    let mut found = Vec::new();
    for files in groups {
        let label = files.main.label();
        match Session::new(files) {
            Err(ReadError::Format(UnknownFormat::Unknown | UnknownFormat::Foreign(_))) => {}
            // A client removed it since.
            Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => warnings.push(format!("{label}: {}", read_message(&error))),
            Ok(session) => found.push(session),
        }
    }
    found
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

/// Returns the sessions that an argument names: a session, a path, or several of them. The formats of the files in
/// a folder are detected when they are read.
pub(crate) fn sources(argument: &Bound<'_, PyAny>) -> PyResult<Vec<Named>> {
    if let Ok(session) = argument.cast::<Session>() {
        return Ok(vec![Named::opened(session.get())]);
    }
    if let Ok(path) = argument.extract::<PathBuf>() {
        if !path.is_dir() {
            return Ok(vec![Named::opened(&open(argument.py(), path)?)]);
        }
        let mut warnings = Vec::new();
        let named = argument.py().detach(|| {
            let inputs = inputs_below(&path, &mut warnings);
            let groups =
                SessionFiles::group(FORMATS, inputs, &mut |it| warnings.push(it.to_string()));
            let named =
                |files| Named { files: Arc::new(files), known: None, may_have_records: true };
            groups.into_iter().map(named).collect()
        });
        tell(argument.py(), &warnings)?;
        return Ok(named);
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
