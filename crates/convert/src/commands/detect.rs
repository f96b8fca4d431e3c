//! `detect`: prints the format of each input.

use std::io::{self, Write};

use archive::Status;
use conversion::{Detected, Source};
use storage::Limits;

use crate::{
    cli::Sources,
    formats::detect,
    hint::io_message,
    terminal::{escape::escape_for_terminal, message::complain, stdout::stdout},
};

/// The inputs.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    sources: Sources,
}

/// Prints the format of each input.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let (inputs, _) = args.sources.inputs(None, None)?;
    let mut out = stdout();
    let mut n_known = 0;
    for input in &inputs {
        let found =
            input.open(Limits::default()).and_then(|opened| detect(&mut Source::new(opened)));
        let label = escape_for_terminal(&input.label());
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
            Ok(Detected::Foreign(name) | Detected::Archive(name)) => {
                writeln!(out, "{name}\t{label}")?
            }
            Ok(Detected::Unknown) => writeln!(out, "unknown\t{label}")?,
            Err(error) => complain(&format!("{label}: {}", io_message(&error))),
        }
    }
    if inputs.is_empty() {
        complain(&args.sources.nothing_found("detect"));
    }
    Ok(match n_known {
        0 => Status::Failed,
        n if n < inputs.len() => Status::Attention,
        _ => Status::Done,
    })
}
