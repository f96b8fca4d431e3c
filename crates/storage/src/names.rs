//! Names that this workspace gives to files beside others, and names in messages.

use std::path::{Path, PathBuf};

/// The ending of a sidecar.
pub const SIDECAR: &str = "carry";

/// The ending of a file with bytes that no record holds.
pub const RESIDUE: &str = "residue";

/// The name of a folder's journal.
pub const JOURNAL: &str = ".convert-journal.jsonl";

/// The name of the folder with the receipts of workers.
pub const RECEIPTS: &str = ".convert-receipts";

/// Returns the path of a file whose name goes on with a dot and `ending`.
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

/// Returns a path for a message of one line: a newline in a name does not end it.
pub(crate) fn one_line(path: &Path) -> String {
    path.to_string_lossy().replace('\n', "\\u{a}")
}
