//! `completions`: what a shell completes, made from the definition of the command line.

use std::io::{self, Write};

use clap::CommandFactory;

use crate::{cli::Cli, run::Status};

/// Whose completions to print.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The shell
    shell: clap_complete::Shell,
}

/// Prints the completions of a shell.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "convert", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(Status::Done)
}
