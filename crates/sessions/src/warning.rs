//! Warnings of the search for sessions.

use std::{fmt, path::PathBuf};

/// A fact about a folder of sessions that the user should know. Its text is one line and not
/// escaped for a terminal.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Warning {
    /// A pipe, a socket or a device in a folder was left out.
    NotRegular(PathBuf),
    /// A file with the titles of sessions cannot be read, for this reason.
    TitlesUnread(PathBuf, String),
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::NotRegular(path) => {
                write!(formatter, "{}: no regular file; left out", path.display())
            }
            Warning::TitlesUnread(path, reason) => {
                write!(formatter, "{}: {reason}; titles may be missing", path.display())
            }
        }
    }
}
