//! Prints messages on standard error.

use std::{fmt::Display, io};

use archive::Status;

use super::{escape::escape_for_terminal, progress::say};

/// Prints a message of one line, escaped for the terminal.
pub(crate) fn complain(message: &str) {
    say(&format!("convert: {}", escape_for_terminal(message)));
}

/// Prints a warning.
pub(crate) fn warn(warning: impl Display) {
    complain(&warning.to_string());
}

/// Prints the reason for a failure, and returns the status for it.
pub(crate) fn failed(message: &str) -> io::Result<Status> {
    complain(message);
    Ok(Status::Failed)
}
