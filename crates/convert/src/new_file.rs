//! Writes a file that must not exist.

use std::{fs, io, io::Write, path::Path};

/// Writes a new file for a session, readable only by its owner. After an error, there is no file.
///
/// # Errors
///
/// Returns an error if the file exists, or cannot be written.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = core_model::create_session_file(path)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if written.is_err() {
        // The error of the write is the one to report.
        _ = fs::remove_file(path);
    }
    written
}
