//! `formats`: lists the formats.

use std::io::{self, Write};

use archive::Status;

use crate::{FORMATS, terminal::stdout::stdout};

/// Prints the formats.
pub(crate) fn run() -> io::Result<Status> {
    let mut out = stdout();
    for format in FORMATS.iter() {
        writeln!(out, "{:16} {}", format.name, format.about)?;
    }
    Ok(Status::Done)
}
