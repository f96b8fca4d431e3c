//! `completions`: a script that makes a shell ask this program for completions.

use std::io::{self, Write};

use archive::Status;

use crate::{cli::complete::registration, terminal::stdout::stdout};

/// The shell to print a script for.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The shell
    shell: clap_complete::Shell,
}

/// Prints the script of a shell.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let script = registration(&args.shell.to_string())?;
    stdout().write_all(&script)?;
    Ok(Status::Done)
}
