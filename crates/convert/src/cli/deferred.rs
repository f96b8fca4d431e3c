//! Defines the arguments of a command only when the command is called.
//!
//! In: `Deferred<show::Args>`, and the command line `convert a.jsonl --to clido`. Out: a parser that knows the name of
//! `show` and none of its arguments. To define the arguments of all commands takes a fifth of the program's start.

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

/// The arguments of a command, which are defined when the command is called or its help is printed.
#[derive(Debug)]
pub(crate) struct Deferred<A>(pub(crate) A);

impl<A: Args> Args for Deferred<A> {
    fn augment_args(command: Command) -> Command {
        command.defer(define::<A>)
    }

    fn augment_args_for_update(command: Command) -> Command {
        A::augment_args_for_update(command)
    }
}

/// Defines the arguments. The command keeps its own line in the overview.
fn define<A: Args>(command: Command) -> Command {
    let about = command.get_about().cloned();
    let long_about = command.get_long_about().cloned();
    let mut command = A::augment_args(command);
    if let Some(about) = about {
        command = command.about(about);
    }
    match long_about {
        Some(long_about) => command.long_about(long_about),
        None => command,
    }
}

impl<A: FromArgMatches> FromArgMatches for Deferred<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        A::from_arg_matches(matches).map(Self)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        A::from_arg_matches_mut(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}
