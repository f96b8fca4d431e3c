//! Warnings of the search for sessions.

use std::{fmt, path::PathBuf};

/// A fact about a folder of sessions that the user should know. Its text is one line and not
/// escaped for a terminal.
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
