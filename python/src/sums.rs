//! Tokens and cost of responses, each counted once.

use std::{collections::HashSet, path::PathBuf, sync::Arc};

use convert::{FORMATS, UsageSum};
use pyo3::{
    prelude::*,
    types::{PyDict, PyList},
};
use sessions::{Input, leave_out_copies};

use crate::{
    error::of_io,
    files::{Named, all_sources},
};

/// Sums up the responses of sessions as `convert usage` does. Returns a dictionary for each group, and one with
/// `"total": True`.
#[pyfunction]
#[pyo3(signature = (
    sources = None, *, by = None, since = None, until = None, prices = None,
    with_copies = false
))]
pub(crate) fn usage<'py>(
    py: Python<'py>,
    sources: Option<&Bound<'py, PyAny>>,
    by: Option<Vec<String>>,
    since: Option<String>,
    until: Option<String>,
    prices: Option<PathBuf>,
    with_copies: bool,
) -> PyResult<Bound<'py, PyList>> {
    let mut read = match sources {
        Some(named) => crate::files::sources(named)?,
        None => all_sources(py)?,
    };
    let by = by.map_or_else(|| "day".to_owned(), |by| by.join(","));
    let mut options = vec!["--by".to_owned(), by];
    let prices = prices.map(|path| path.display().to_string());
    for (name, value) in [("--since", since), ("--until", until), ("--prices", prices)] {
        options.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
    }
    if with_copies {
        options.push("--with-copies".to_owned());
    }
    let groups = py.detach(|| {
        if !with_copies && read.len() > 1 {
            retain_originals(&mut read);
        }
        let files: Vec<Arc<_>> = read.into_iter().map(|session| session.files).collect();
        convert::usage(&files, &options)
    });
    let groups = groups.map_err(|error| of_io("", &error))?;
    let all = PyList::empty(py);
    for group in &groups.groups {
        let row = PyDict::new(py);
        for (by, name) in groups.by.iter().zip(&group.names) {
            row.set_item(by, name)?;
        }
        add(&row, &group.sum)?;
        all.append(row)?;
    }
    let row = PyDict::new(py);
    row.set_item("total", true)?;
    add(&row, &groups.total)?;
    all.append(row)?;
    Ok(all)
}

/// Removes one session of each pair of an original and its converted copy.
fn retain_originals(read: &mut Vec<Named>) {
    let mut mains: Vec<Input> = read.iter().map(|session| session.files.main.clone()).collect();
    if leave_out_copies(FORMATS, &mut mains) > 0 {
        let kept: HashSet<PathBuf> =
            mains.iter().filter_map(|input| input.path().map(Into::into)).collect();
        read.retain(|session| session.files.main.path().is_none_or(|path| kept.contains(path)));
    }
}

/// Adds the numbers of a sum to a row, under the names that `convert usage --json` has.
fn add(row: &Bound<'_, PyDict>, sum: &UsageSum) -> PyResult<()> {
    row.set_item("responses", sum.n_responses)?;
    row.set_item("input_tokens", sum.tokens.input)?;
    row.set_item("output_tokens", sum.tokens.output)?;
    row.set_item("cache_write_tokens", sum.tokens.cache_creation)?;
    row.set_item("cache_read_tokens", sum.tokens.cache_read)?;
    row.set_item("cost_usd", sum.cost)?;
    row.set_item("cost_in_logs_usd", sum.stated)?;
    row.set_item("responses_without_price", sum.n_unpriced)
}
