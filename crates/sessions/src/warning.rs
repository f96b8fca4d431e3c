//! Warnings of the search for sessions.

use std::{fmt, path::PathBuf};

/// Something in a folder of sessions that a person should know of. Its text is one line, as it is:
/// whoever prints it escapes it for a terminal.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Warning {
    /// A pipe, a socket or a device in a folder was left out.
    NotRegular(PathBuf),
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::NotRegular(path) => {
                write!(formatter, "{}: no regular file; left out", path.display())
            }
        }
    }
}
