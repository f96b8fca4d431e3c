//! `man`: manual pages, made from the definition of the command line.

use std::io::{self, Write};

use archive::Status;
use clap::CommandFactory;
use clap_mangen::Man;

use crate::{
    cli::{Cli, with_examples},
    terminal::{message::failed, stdout::stdout},
};

/// The page to print.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The command, such as `carry show` [default: the program]
    command: Vec<String>,
}

/// Prints a manual page.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let mut program = with_examples(Cli::command());
    program.build();
    let mut command = &program;
    for name in &args.command {
        let Some(found) = command.find_subcommand(name) else {
            return failed(&format!(
                "no such command: {}; `convert --help` lists them",
                args.command.join(" ")
            ));
        };
        command = found;
    }
    let mut page = Vec::new();
    let version = concat!("convert ", env!("CARGO_PKG_VERSION"));
    Man::new(command.clone()).source(version).render(&mut page)?;
    stdout().write_all(&page)?;
    Ok(Status::Done)
}
