//! `carry`: what a converted file carries, shown or stripped.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::Subcommand;

use crate::{
    Source,
    input::sessions::Lookup,
    inspect,
    run::{Status, inputs},
};

/// What to do with what a file carries.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Print a line for each source line that a file carries: where it rides, and its bytes
    Show {
        /// A converted file; standard input for `-`
        input: PathBuf,
    },
    /// Print a converted file without its carries
    Strip {
        /// A converted file; standard input for `-`
        input: PathBuf,
    },
}

/// Shows or strips what a file carries.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let (What::Show { input } | What::Strip { input }) = &args.command;
    let lookup = Lookup::new(None, None, None);
    let (inputs, _) = inputs(std::slice::from_ref(input), &lookup)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    for input in &inputs {
        let opened = input
            .open()
            .map_err(|error| io::Error::other(format!("{}: {error}", input.label())))?;
        match args.command {
            What::Show { .. } => inspect::show(&mut Source::new(opened), &mut out)?,
            What::Strip { .. } => inspect::strip(&mut Source::new(opened), &mut out)?,
        }
    }
    out.flush()?;
    Ok(Status::Done)
}
