//! Parses the words of a command for calls from other programs.
//!
//! In: `["--jobs", "1"]`. Out: the options of `work`, or an error with the message that the program prints.

use std::io;

use clap::{Args, Command, FromArgMatches};

/// Returns the options in words that follow a command.
///
/// # Errors
///
/// Returns an error with the message of the command line.
pub(crate) fn words<A: Args + FromArgMatches>(command: &str, words: &[String]) -> io::Result<A> {
    let parser = A::augment_args(Command::new("convert").bin_name(format!("convert {command}")));
    let words = std::iter::once("convert").chain(words.iter().map(String::as_str));
    let matches = parser.no_binary_name(false).try_get_matches_from(words);
    let parsed = matches.and_then(|matches| A::from_arg_matches(&matches));
    parsed.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, message(&error)))
}

/// Returns the message of an error without the word `error`, which the caller's language adds.
fn message(error: &clap::Error) -> String {
    let text = error.render().to_string();
    text.strip_prefix("error: ").unwrap_or(&text).trim_end().to_owned()
}
