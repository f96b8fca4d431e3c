//! Writes a file that must not exist.

use std::{fs, io, io::Write, path::Path};

use sessions::{Input, sidecar_path};
use storage::unwritten;

use crate::terminal::{escape::escape_for_terminal, message::complain};

/// Writes a changed copy of a session, and a copy of its sidecar beside it: the records that are as they were come
/// home with it.
///
/// # Errors
///
/// Returns an error if one of the files exists, or cannot be read or written.
pub(crate) fn write_new_with_sidecar(input: &Input, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let Some((mut file, _)) = input.sidecar_file()? else { return write_new(path, bytes) };
    let mut sidecar = Vec::new();
    file.read_to_end(&mut sidecar)?;
    let beside = sidecar_path(path);
    write_new(&beside, &sidecar).map_err(|error| unwritten(error, &beside))?;
    let written = write_new(path, bytes);
    if written.is_err() {
        // The error of the write is the one to report.
        _ = fs::remove_file(beside);
    }
    written
}

/// Says that the sidecar of a session is not copied, if it has one: standard output has no place for it.
///
/// # Errors
///
/// Returns an error if the sidecar cannot be looked for.
pub(crate) fn warn_of_sidecar(input: &Input) -> io::Result<()> {
    if input.sidecar_file()?.is_some() {
        let label = escape_for_terminal(&input.label());
        complain(&format!("{label}: its sidecar is not copied to standard output; -o copies both"));
    }
    Ok(())
}

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
