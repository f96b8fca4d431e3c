//! `completions`: a script that makes a shell ask this program for completions.

use std::io::{self, Write};

use archive::Status;

use crate::cli::complete::registration;

/// Whose completions to print.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The shell
    shell: clap_complete::Shell,
}

/// Prints the completions of a shell.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let script = registration(&args.shell.to_string())?;
    io::stdout().lock().write_all(&script)?;
    Ok(Status::Done)
}
