//! `carry`: prints or removes the carry of a converted file.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use archive::Status;
use clap::Subcommand;
use conversion::Source;
use sessions::Input;
use storage::Limits;

use crate::{
    environment::{inputs, lookup},
    hint::io_message,
    inspect,
    terminal::{
        escape::escape_for_terminal, progress::say, session_bytes::session_stdout, stdout::stdout,
    },
};

/// The action.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Print each carried source line: the number of the written line, the offset, the bytes
    Show {
        /// A converted file; standard input for `-`
        input: PathBuf,
    },
    /// Print a converted file without its carry
    Strip {
        /// A converted file; standard input for `-`
        input: PathBuf,
    },
}

/// Returns the message for a file without a carry, which names the sidecar if there is one.
fn nothing_carried(input: &Input) -> String {
    let label = escape_for_terminal(&input.label());
    match input.found_sidecar() {
        Some(sidecar) => format!(
            "{label}: no carry in its lines; its carry is in {}",
            escape_for_terminal(&sidecar.to_string_lossy())
        ),
        None => format!("{label}: no carry: the file was not converted, or not with a carry"),
    }
}

/// Prints or removes the carry of a file.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let (What::Show { input } | What::Strip { input }) = &args.command;
    let lookup = &lookup(None, None, None);
    let (inputs, _) = inputs(std::slice::from_ref(input), lookup)?;
    let mut out = io::BufWriter::new(stdout());
    let mut stripped = io::BufWriter::new(session_stdout());
    for input in &inputs {
        let opened = input.open(Limits::default()).map_err(|error| {
            io::Error::other(format!("{}: {}", input.label(), io_message(&error)))
        })?;
        match args.command {
            What::Show { .. } => {
                let n_carries = inspect::show(&mut Source::new(opened), &mut out)?;
                if n_carries == 0 {
                    out.flush()?;
                    say(&nothing_carried(input));
                }
            }
            What::Strip { .. } => inspect::strip(&mut Source::new(opened), &mut stripped)?,
        }
    }
    out.flush()?;
    stripped.flush()?;
    Ok(Status::Done)
}
