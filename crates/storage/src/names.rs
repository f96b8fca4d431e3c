//! Names of files that this workspace writes beside others, and paths in messages.

use std::path::{Path, PathBuf};

/// The ending of a sidecar.
pub const SIDECAR: &str = "carry";

/// The ending of a file with bytes that no record has.
pub const RESIDUE: &str = "residue";

/// The name of a folder's journal.
pub const JOURNAL: &str = ".convert-journal.jsonl";

/// The name of the folder for the receipts of workers.
pub const RECEIPTS: &str = ".convert-receipts";

/// Returns the path with a dot and `ending` appended.
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

/// Returns a path for a message of one line, with newlines in it replaced.
pub(crate) fn one_line(path: &Path) -> String {
    path.to_string_lossy().replace('\n', "\\u{a}")
}
