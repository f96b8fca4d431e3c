//! Tables of sessions, for everything that takes the C stream of Arrow: pyarrow, polars, DuckDB, pandas.

use arrow_array::{RecordBatchReader, ffi_stream::FFI_ArrowArrayStream};
use arrow_schema::ffi::FFI_ArrowSchema;
use pyo3::{prelude::*, types::PyCapsule};

use export_parquet::Selection;

use crate::{
    error::{Error, of_io},
    files::{Named, sources},
    rows::{Reader, Table},
};

/// The rows of sessions. They are read again each time that somebody asks for a stream, on threads of their own.
#[pyclass(frozen, module = "session_convert")]
#[derive(Debug)]
pub(crate) struct Batches {
    table: Table,
    sessions: Vec<Named>,
    n_threads: usize,
}

impl Batches {
    fn reader(&self, py: Python<'_>, sessions: &[Named]) -> PyResult<Reader> {
        py.detach(|| {
            let transcripts = sessions.iter().flat_map(Named::transcripts).collect();
            Reader::new(&self.table, transcripts, self.n_threads)
        })
        .map_err(|error| of_io("", &error))
    }
}

#[pymethods]
impl Batches {
    /// Returns a capsule with an `ArrowArrayStream` of the C stream interface of Arrow. Another schema cannot be
    /// requested: the schema of the table is always sent, as the interface allows.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        _ = requested_schema;
        let reader = self.reader(py, &self.sessions)?;
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Returns a capsule with an `ArrowSchema` of the C data interface of Arrow.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = self.reader(py, &[])?.schema();
        let schema = FFI_ArrowSchema::try_from(&*schema);
        let schema = schema.map_err(|error| Error::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    fn __repr__(&self) -> String {
        let (name, columns) = match &self.table {
            Table::Events(columns) => ("events", columns),
            Table::Sessions(columns) => ("summaries", columns),
        };
        let (n_columns, n_sessions) = (columns.names().count(), self.sessions.len());
        format!("Batches({name}, {n_columns} columns, of {n_sessions} sessions)")
    }
}

/// Returns the events of sessions, a row for each content block; with `raw`, also the bytes of each line. With
/// `columns`, only these columns, in this order.
#[pyfunction]
#[pyo3(signature = (sources, *, columns = None, raw = false, threads = None))]
pub(crate) fn events(
    sources: &Bound<'_, PyAny>,
    columns: Option<Vec<String>>,
    raw: bool,
    threads: Option<usize>,
) -> PyResult<Batches> {
    let selection = match columns {
        None => Ok(Selection::all_events(raw)),
        Some(names) if raw => Selection::of_events(&names).map(Selection::with_raw),
        Some(names) => Selection::of_events(&names),
    };
    batches(Table::Events(selection.map_err(refused)?), sources, threads)
}

/// Returns a row for each file of sessions: title, times, counts, tokens. With `columns`, only these columns, in this
/// order.
#[pyfunction]
#[pyo3(signature = (sources, *, columns = None, threads = None))]
pub(crate) fn summaries(
    sources: &Bound<'_, PyAny>,
    columns: Option<Vec<String>>,
    threads: Option<usize>,
) -> PyResult<Batches> {
    let selection = columns.map(|names| Selection::of_sessions(&names));
    let selection = selection.unwrap_or_else(|| Ok(Selection::all_sessions()));
    batches(Table::Sessions(selection.map_err(refused)?), sources, threads)
}

fn refused(error: export_parquet::Error) -> PyErr {
    Error::new_err(error.to_string())
}

fn batches(table: Table, named: &Bound<'_, PyAny>, threads: Option<usize>) -> PyResult<Batches> {
    let n_cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let n_threads = threads.filter(|n| *n > 0).unwrap_or_else(n_cores);
    Ok(Batches { table, sessions: sources(named)?, n_threads })
}
