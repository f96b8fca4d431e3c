//! Converts, checks and redacts: bytes to bytes, and files.

use std::{
    collections::BTreeMap,
    io::{self, Cursor},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use conversion::{CarryMode, Conversion, Report, Sidecar, Source, redact_with};
use convert::{FORMATS, by_name};
use core_model::Format;
use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};
use sessions::{Input, ReadError, Redact, single_format};

use crate::error::{of_convert, of_io, of_read};

/// Counts of values that a target does not show, by kind and field.
type Losses = BTreeMap<&'static str, BTreeMap<String, u64>>;

fn losses_of(report: &Report) -> Losses {
    let mut losses = Losses::new();
    for (kind, field, loss) in report.losses.iter() {
        *losses.entry(kind.name()).or_default().entry(field.to_string()).or_default() += loss.count;
    }
    losses
}

/// A session that was converted in memory.
#[pyclass(frozen, get_all, module = "session_convert")]
pub(crate) struct Converted {
    /// The bytes in the target format.
    data: Py<PyBytes>,
    /// The sidecar, if the carry is in one.
    sidecar: Option<Py<PyBytes>>,
    /// The name of the source format.
    source: &'static str,
    /// The name of the target format.
    target: &'static str,
    /// The number of lines read.
    lines_in: u64,
    /// The number of lines written.
    lines_out: u64,
    /// How many values of each field the target does not show: `{"dropped": {"gitBranch": 23}}`.
    losses: Losses,
    /// Whether a line was damaged, or something could not be written.
    needs_attention: bool,
}

/// A file that was converted.
#[pyclass(frozen, get_all, module = "session_convert")]
pub(crate) struct ConvertedFile {
    /// The name of the input.
    input: String,
    /// The path of the output.
    output: Option<String>,
    /// The name of the source format.
    source: &'static str,
    /// The name of the target format.
    target: &'static str,
    /// The number of lines read.
    lines_in: u64,
    /// The number of lines written.
    lines_out: u64,
    /// How many values of each field the target does not show.
    losses: Losses,
    /// Whether a line was damaged, or something could not be written.
    needs_attention: bool,
}

/// Bytes without secrets.
#[pyclass(frozen, get_all, module = "session_convert")]
pub(crate) struct Redacted {
    /// The bytes.
    data: Py<PyBytes>,
    /// The number of removed secrets, by the rule that found them.
    found: BTreeMap<String, u64>,
    /// The number of lines whose carry was removed.
    carries: u64,
}

/// Something that a client would refuse or ignore.
#[pyclass(frozen, get_all, module = "session_convert")]
pub(crate) struct Problem {
    /// The number of the line, from 1.
    line: u64,
    /// The offset of the line in bytes.
    offset: u64,
    /// `stops` if the client does not load the session, or `warns`.
    severity: &'static str,
    /// The name of the rule.
    rule: &'static str,
    /// The description.
    message: String,
}

#[pymethods]
impl Problem {
    fn __repr__(&self) -> String {
        let Self { line, offset, severity, rule, message } = self;
        format!("{line}: byte {offset}: {severity} {rule}: {message}")
    }
}

/// Returns the format with this name.
fn named(name: &str) -> PyResult<&'static Format> {
    by_name(name).ok_or_else(|| {
        let names = formats().join(", ");
        PyValueError::new_err(format!("no format is named {name:?}; the formats are {names}"))
    })
}

/// Returns the names of the formats.
#[pyfunction]
pub(crate) fn formats() -> Vec<&'static str> {
    FORMATS.iter().map(|format| format.name).collect()
}

fn format_of(data: &[u8]) -> Result<Option<&'static Format>, ReadError> {
    Ok(single_format(convert::detect(&mut Source::new(Cursor::new(data)))?)?)
}

/// Returns the name of the format of a session's bytes; `None` if there is no record.
#[pyfunction]
pub(crate) fn detect(py: Python<'_>, data: &[u8]) -> PyResult<Option<&'static str>> {
    let format = py.detach(|| format_of(data)).map_err(|error| of_read("", &error))?;
    Ok(format.map(|format| format.name))
}

/// Converts a session in memory. A session that was converted from the target format is restored, byte for byte.
/// `source` is the format of the bytes; if `None`, it is detected. `carry` is `inline`, `sidecar` or `none`.
#[pyfunction]
#[pyo3(name = "convert", signature = (data, to, *, source = None, carry = "inline", sidecar = None))]
pub(crate) fn convert_bytes(
    py: Python<'_>,
    data: &[u8],
    to: &str,
    source: Option<&str>,
    carry: &str,
    sidecar: Option<&[u8]>,
) -> PyResult<Converted> {
    let to = named(to)?;
    let from = source.map(named).transpose()?;
    let modes = [CarryMode::Inline, CarryMode::Sidecar, CarryMode::None];
    let carry = modes
        .into_iter()
        .find(|mode| mode.name() == carry)
        .ok_or_else(|| PyValueError::new_err("the carry is `inline`, `sidecar` or `none`"))?;
    let (from, converted) = py.detach(|| {
        let from = match from {
            Some(format) => format,
            // Nothing becomes nothing.
            None => format_of(data).map_err(|error| of_read("", &error))?.unwrap_or(to),
        };
        let sidecar = sidecar.map(|it| Sidecar::read(Cursor::new(it))).transpose();
        let conversion =
            Conversion { formats: FORMATS, from, to, carry, options: Default::default() };
        let converted = sidecar.and_then(|sidecar| conversion.convert(data, sidecar));
        Ok::<_, PyErr>((from, converted.map_err(|error| of_io("", &error))?))
    })?;
    Ok(Converted {
        data: PyBytes::new(py, &converted.bytes).unbind(),
        sidecar: converted.sidecar.map(|it| PyBytes::new(py, &it).unbind()),
        source: from.name,
        target: to.name,
        lines_in: converted.report.lines_in,
        lines_out: converted.report.lines_out,
        losses: losses_of(&converted.report),
        needs_attention: converted.report.wants_attention(),
    })
}

/// Converts a session to a new file, with its sub-agents in files beside it. Returns the converted files, the main
/// file first. A file that exists is not replaced.
#[pyfunction]
pub(crate) fn convert_file(
    py: Python<'_>,
    source: PathBuf,
    to: &str,
    target: PathBuf,
) -> PyResult<Vec<ConvertedFile>> {
    let to = named(to)?;
    let warnings = Arc::new(Mutex::new(Vec::new()));
    let told = warnings.clone();
    let reports = py.detach(|| {
        archive::convert_file(FORMATS, &source, to, &target, move |warning| {
            told.lock().unwrap_or_else(PoisonError::into_inner).push(warning.to_string());
        })
    });
    crate::files::tell(py, &warnings.lock().unwrap_or_else(PoisonError::into_inner))?;
    let label = source.display().to_string();
    let reports = reports.map_err(|error| of_convert(&label, &error))?;
    let converted = reports.iter().filter_map(|report| report.conversion());
    Ok(converted
        .map(|file| ConvertedFile {
            input: file.label.clone(),
            output: file.output.clone(),
            source: file.from,
            target: file.to,
            lines_in: file.report.lines_in,
            lines_out: file.report.lines_out,
            losses: losses_of(&file.report),
            needs_attention: file.report.wants_attention(),
        })
        .collect())
}

/// Returns the problems of a session for its client. `format` is the client's; if `None`, it is
/// detected.
#[pyfunction]
#[pyo3(signature = (path, *, format = None))]
pub(crate) fn check(py: Python<'_>, path: PathBuf, format: Option<&str>) -> PyResult<Vec<Problem>> {
    let format = format.map(named).transpose()?;
    let problems = py.detach(|| convert::check(&Input::file(path.clone()), format));
    let problems = problems.map_err(|error| of_read(&path.display().to_string(), &error))?;
    let problem = |it: core_model::Problem| Problem {
        line: it.line,
        offset: it.offset,
        severity: it.severity.name(),
        rule: it.rule,
        message: it.message.into_owned(),
    };
    Ok(problems.into_iter().map(problem).collect())
}

/// Removes keys, tokens and passwords from a session's bytes, and carries, which may hold them in pieces. With
/// `test_keys`, keys of test environments too.
#[pyfunction]
#[pyo3(signature = (data, *, test_keys = false))]
pub(crate) fn redact(py: Python<'_>, data: &[u8], test_keys: bool) -> PyResult<Redacted> {
    let mut bytes = Vec::new();
    let redactions = py.detach(|| {
        let search = Redact { is_wanted: true, test_keys }.search();
        let search = search.ok_or_else(|| io::Error::other("there is no search for secrets"))?;
        redact_with(search, FORMATS, data, &mut bytes)
    });
    let redactions = redactions.map_err(|error| of_io("", &error))?;
    Ok(Redacted {
        data: PyBytes::new(py, &bytes).unbind(),
        found: redactions.iter().map(|(rule, found)| (rule.to_owned(), found.count)).collect(),
        carries: redactions.n_carries,
    })
}
