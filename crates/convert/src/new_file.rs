//! Writes a file that must not exist.

use std::{
    io::{self, Write},
    path::Path,
};

use archive::{ConvertError, RunOutputs};
use sessions::{Input, sidecar_path};
use storage::FILE_MODE;

use crate::{
    interrupt::INTERRUPTION,
    terminal::{escape::escape_for_terminal, message::complain},
};

/// Writes a changed copy of a session with `write`, readable only by its owner, and a copy of its sidecar beside it: the
/// records that are as they were come home with it. Both appear whole or not at all. If the process dies between them,
/// the same command finishes them.
///
/// # Errors
///
/// Returns an error if one of the files exists with other bytes, or cannot be read or written, or if `write` returns
/// one.
pub(crate) fn write_new_with_sidecar(
    input: &Input,
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let outputs = RunOutputs::anywhere(false, INTERRUPTION);
    let mut files = Vec::new();
    if let Some((mut file, _)) = input.sidecar_file()? {
        let mut sidecar = outputs.create(&sidecar_path(path), FILE_MODE)?;
        io::copy(&mut file, &mut sidecar)?;
        files.push(sidecar.finish()?);
    }
    let mut copy = outputs.create(path, FILE_MODE)?;
    write(&mut copy)?;
    files.push(copy.finish()?);
    outputs.publish(files).map_err(|error| match error {
        ConvertError::Exists(path) => {
            let message = format!("{path}: exists; name a file that does not, with -o");
            io::Error::new(io::ErrorKind::AlreadyExists, message)
        }
        ConvertError::Io(error) => error,
        error => io::Error::other(error),
    })
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
