//! Warnings of the search for sessions.

use std::{fmt, path::PathBuf};

/// The advice about a folder that cannot be read.
pub(crate) const MAKE_READABLE: &str = "; make it readable, or move it away";

/// A fact about a folder of sessions that the user should know. Its text is one line and not
/// escaped for a terminal.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Warning {
    /// A pipe, a socket or a device in a folder was left out.
    NotRegular(PathBuf),
    /// A file with the titles of sessions cannot be read, for this reason.
    TitlesUnread(PathBuf, String),
    /// The sessions of a database or of a folder of small files cannot be read, for this reason.
    StoreUnread(PathBuf, String),
    /// The folder of a client cannot be listed, for this reason, which has its path.
    FolderUnread(String),
    /// A session cannot be read, for this reason.
    SessionUnread(PathBuf, String),
    /// A store has this number of sessions whose ids are no safe names.
    OddIds(PathBuf, u64),
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
            Warning::StoreUnread(path, reason) => {
                write!(formatter, "{}: its sessions are left out: {reason}", path.display())
            }
            Warning::FolderUnread(reason) => {
                write!(formatter, "{reason}{MAKE_READABLE}: its sessions are left out")
            }
            Warning::SessionUnread(path, reason) => {
                write!(formatter, "{}: left out: {reason}", path.display())
            }
            Warning::OddIds(path, n_sessions) => {
                let path = path.display();
                write!(formatter, "{path}: sessions with odd ids are left out: {n_sessions}")
            }
        }
    }
}
