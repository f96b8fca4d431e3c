//! The commands that only look: which format, which formats, what a file carries.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use crate::{
    Detected, FORMATS, Source,
    cli::CarryCommand,
    detect, inspect,
    run::{Status, complain, inputs},
    sessions::Lookup,
    shown::shown,
};

/// Names the format of each input.
pub(crate) fn detect_all(paths: &[PathBuf]) -> io::Result<Status> {
    let (inputs, _) = inputs(paths, &Lookup::new(None, None, None))?;
    let mut out = io::stdout().lock();
    let mut n_known = 0;
    for input in &inputs {
        let found = input.open().and_then(|opened| detect(&mut Source::new(opened)));
        let label = shown(&input.label());
        match found {
            Ok(Detected::Format(format)) => {
                n_known += 1;
                writeln!(out, "{}\t{label}", format.name)?;
            }
            Ok(Detected::Empty) => {
                n_known += 1;
                writeln!(out, "empty\t{label}")?;
            }
            Ok(Detected::Ambiguous(one, other)) => {
                writeln!(out, "{} or {}\t{label}", one.name, other.name)?;
            }
            Ok(Detected::Foreign(name)) => writeln!(out, "{name}\t{label}")?,
            Ok(Detected::Unknown) => writeln!(out, "unknown\t{label}")?,
            Err(error) => complain(&format!("{label}: {error}")),
        }
    }
    Ok(match n_known {
        0 => Status::Failed,
        n if n < inputs.len() => Status::Attention,
        _ => Status::Done,
    })
}

/// Lists the formats.
pub(crate) fn formats() -> io::Result<Status> {
    let mut out = io::stdout().lock();
    for format in FORMATS {
        writeln!(out, "{:16} {}", format.name, format.about)?;
    }
    Ok(Status::Done)
}

/// Shows or strips what a file carries.
pub(crate) fn carry(command: CarryCommand) -> io::Result<Status> {
    let (CarryCommand::Show { input } | CarryCommand::Strip { input }) = &command;
    let lookup = Lookup::new(None, None, None);
    let (inputs, _) = inputs(std::slice::from_ref(input), &lookup)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    for input in &inputs {
        let opened = input
            .open()
            .map_err(|error| io::Error::other(format!("{}: {error}", input.label())))?;
        match command {
            CarryCommand::Show { .. } => inspect::show(&mut Source::new(opened), &mut out)?,
            CarryCommand::Strip { .. } => inspect::strip(&mut Source::new(opened), &mut out)?,
        }
    }
    out.flush()?;
    Ok(Status::Done)
}
