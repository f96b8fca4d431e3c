//! Messages to a person, on standard error.

use std::{fmt::Display, io};

use archive::Status;

use super::{escape::escape_for_terminal, progress::say};

/// Prints a message of one line: what a terminal would obey in it is spelled out.
pub(crate) fn complain(message: &str) {
    say(&format!("convert: {}", escape_for_terminal(message)));
}

/// Prints a warning.
pub(crate) fn warn(warning: impl Display) {
    complain(&warning.to_string());
}

/// Says why nothing can be done.
pub(crate) fn failed(message: &str) -> io::Result<Status> {
    complain(message);
    Ok(Status::Failed)
}
