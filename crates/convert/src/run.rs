//! Runs the program: parses the arguments, calls the command, and returns the exit status.

use std::{
    ffi::OsString,
    io::{self, Write},
    path::Path,
};

use archive::Status;
use clap::{FromArgMatches, error::ErrorKind};
use storage::{is_no_space, take_unremoved, unwritten};

use crate::{
    cli::{self, Cli},
    conversions::convert,
    hint::io_message,
    interrupt::{self, is_interrupted},
    terminal::{
        escape::escape_lines,
        message::{complain, warn},
        stdout::check_stdout,
    },
};

/// Runs the program with its arguments, the first of which is its own name, and returns its exit status.
///
/// 0: all was converted. 1: converted, with warnings. 2: wrong usage, or nothing could be
/// converted. 130: interrupted.
pub fn status_of(args: impl IntoIterator<Item = OsString>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    if let Some(shell) = cli::complete::asking_shell() {
        return match cli::complete::answer(&shell, args) {
            Ok(()) => Status::Done as u8,
            // The shell prints nothing for this status.
            Err(_) => Status::Failed as u8,
        };
    }
    if args.len() <= 1 {
        _ = write!(io::stderr(), "{}", cli::overview());
        return Status::Failed as u8;
    }
    let cli = match parse(&args) {
        Ok(cli) => cli,
        Err(error) => {
            if !error.use_stderr() {
                return status_of_output(check_stdout().and_then(|()| {
                    error.print().map_err(|error| unwritten(error, Path::new("standard output")))
                }));
            }
            match mistyped(&args, error.kind()).and_then(cli::unknown_word) {
                Some(message) => complain(&message),
                // The message quotes arguments, which may contain escape sequences.
                None => {
                    _ = write!(io::stderr(), "{}", escape_lines(&error.render().to_string()));
                }
            }
            return Status::Failed as u8;
        }
    };
    if cli.command.is_none() && cli.convert.how.to.is_none() {
        complain(&cli::missing_target(&cli.convert.sources.paths));
        return Status::Failed as u8;
    }
    // A reader who leaves a list or a session needs no words.
    interrupt::listen(cli.command.is_none().then_some(match cli.convert.output() {
        Some(_) => "interrupted; the same command goes on",
        None => "interrupted",
    }));
    let result = match &cli.command {
        None => convert(&cli.convert),
        Some(command) => command.run(),
    };
    take_unremoved().iter().for_each(warn);
    match result {
        _ if is_interrupted() => interrupt::STATUS,
        Ok(status) => status as u8,
        Err(error) => status_of_output(Err(error)),
    }
}

/// Returns the exit status after printing, and prints an error.
fn status_of_output(printed: io::Result<()>) -> u8 {
    match printed {
        Ok(()) => Status::Done as u8,
        // The reader of our output closed the pipe, which is no failure.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Status::Done as u8,
        Err(error) => {
            complain(&io_message(&error));
            // A full disk is no wrong usage.
            let is_full = is_no_space(error.kind());
            if is_full { Status::Attention as u8 } else { Status::Failed as u8 }
        }
    }
}

fn parse(args: &[OsString]) -> Result<Cli, clap::Error> {
    // The help texts take a third of the time here, and only help and errors have them.
    let matches = match cli::parser().try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(_) => cli::command().try_get_matches_from(args)?,
    };
    Cli::from_arg_matches(&matches)
}

/// Returns the word that may be a mistyped command: the first one, which is parsed as an input, so
/// that the options after it are unknown; or the one after `help`.
fn mistyped(args: &[OsString], kind: ErrorKind) -> Option<&str> {
    let word = match kind {
        ErrorKind::UnknownArgument => args.get(1)?.to_str()?,
        ErrorKind::InvalidSubcommand => args.get(2)?.to_str()?,
        _ => return None,
    };
    let is_command = || cli::command().find_subcommand(word).is_some();
    (!word.starts_with('-') && !Path::new(word).exists() && !is_command()).then_some(word)
}
