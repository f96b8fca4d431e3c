//! Sessions done by many processes: the units of a plan, what becomes of them, and their receipts.
//!
//! docs/WORKER.md describes the lines; the commands are `plan`, `work` and `merge`.

pub(crate) mod chunk;
pub(crate) mod join;
pub(crate) mod merged;
pub(crate) mod planned;
pub(crate) mod queue;
pub(crate) mod receipt;
pub(crate) mod store;
mod told;

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use crate::terminal::shown::shown;

/// The version of the protocol.
pub(crate) const VERSION: u64 = 1;

/// What a receipt says wrote it.
pub(crate) const TOOL: &str = env!("CARGO_PKG_VERSION");

/// Opens a plan, or a file of receipts; standard input for `-`.
///
/// # Errors
///
/// The system's own, with the path.
pub(crate) fn open(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(io::stdin()));
    }
    Ok(Box::new(File::open(path).map_err(|error| named(error, path))?))
}

/// Returns an error that tells of which file it is.
pub(crate) fn named(error: io::Error, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", shown(&path.to_string_lossy())))
}
