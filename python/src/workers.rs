//! The program in process: its command line, plans, and workers for engines.

use convert::UnitWorker;
use pyo3::prelude::*;

use crate::error::of_io;

/// Runs the program with its arguments, the first of which is its path, and returns its exit status.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
    if let Some(program) = arguments.first() {
        convert::run_as(program.into());
    }
    py.detach(|| convert::status_of(arguments))
}

/// Returns the units of a plan, one line each. The arguments are the ones of `convert plan`.
#[pyfunction]
#[pyo3(signature = (*arguments))]
pub(crate) fn plan(py: Python<'_>, arguments: Vec<String>) -> PyResult<Vec<String>> {
    let plan = py.detach(|| convert::plan(&arguments)).map_err(|error| of_io("", &error))?;
    Ok(plan.iter().map(|line| String::from_utf8_lossy(line).trim_end().to_owned()).collect())
}

/// A worker that converts units of plans. The options are the ones of `convert work`.
#[pyclass(frozen, module = "session_convert")]
pub(crate) struct Worker {
    worker: UnitWorker,
}

#[pymethods]
impl Worker {
    #[new]
    #[pyo3(signature = (*options))]
    fn new(options: Vec<String>) -> PyResult<Self> {
        let worker = UnitWorker::new(&options).map_err(|error| of_io("", &error))?;
        Ok(Self { worker })
    }

    /// Converts units, and returns a receipt for each, in any order.
    fn work(&self, py: Python<'_>, units: Vec<String>) -> PyResult<Vec<String>> {
        let receipts = py.detach(|| {
            let lines: Vec<u8> =
                units.iter().flat_map(|it| it.trim_end().bytes().chain([b'\n'])).collect();
            self.worker.work(lines)
        });
        let receipts = receipts.map_err(|error| of_io("", &error))?;
        Ok(String::from_utf8_lossy(&receipts).lines().map(str::to_owned).collect())
    }
}
