//! Converts sessions in many processes: the units of a plan, and their receipts.
//!
//! docs/WORKER.md describes the lines; the commands are `plan`, `work` and `merge`.

pub(crate) mod chunk;
mod collected;
mod kept_lines;
pub(crate) mod merged;
pub(crate) mod place;
pub(crate) mod plan_index;
pub(crate) mod planned;
pub(crate) mod queue;
pub(crate) mod receipt;
pub(crate) mod store;

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use core_model::system_words;
use storage::{Excess, LineMeter, Metered, is_url, without_query};

/// The version of the protocol.
pub(crate) const VERSION: u64 = 1;

/// The version in receipts.
pub(crate) const TOOL: &str = env!("CARGO_PKG_VERSION");

/// Limit on the bytes of a line of a plan or of receipts. A unit with a million sub-agents has fewer.
const MAX_LINE: u64 = if cfg!(test) { 64 * 1024 } else { 256 * 1024 * 1024 };

/// Returns a reader of a plan or of receipts that fails at a line that is too long, such as `/dev/zero`.
fn metered<R: Read>(reader: R) -> Metered<R> {
    Metered { reader, meter: LineMeter::new(MAX_LINE) }
}

/// Explains the error of a reader with a line that is too long.
fn explained(error: io::Error) -> io::Error {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Excess>()) {
        Some(Excess::Line(max)) => io::Error::other(format!(
            "a line has more than {max} bytes: it is no unit of a plan and no receipt"
        )),
        _ => error,
    }
}

/// Opens a plan, or a file of receipts; standard input for `-`.
///
/// # Errors
///
/// Returns an error with the path if the system does.
pub fn open(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(io::stdin()));
    }
    Ok(Box::new(File::open(path).map_err(|error| named(error, path))?))
}

/// Adds the path or URL, without secrets in it, to an error.
pub fn named(error: io::Error, path: &Path) -> io::Error {
    let path = if is_url(path) { &without_query(path) } else { path };
    io::Error::new(error.kind(), format!("{}: {}", path.display(), system_words(&error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_tells_of_its_place_and_of_no_secret() {
        for (path, said) in [
            ("/a b/what?#.jsonl", "/a b/what?#.jsonl: no"),
            ("https://ada:secret@host/x?sig=secret", "https://host/x: no"),
            ("s3://id:secret@bucket/x", "s3://bucket/x: no"),
        ] {
            assert_eq!(named(io::Error::other("no"), Path::new(path)).to_string(), said);
        }
    }
}
