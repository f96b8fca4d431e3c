//! The errors of reading an input.

use std::io;

use conversion::Detected;
use core_model::{Format, system_words};

/// The reason why the format of an input is unknown.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum UnknownFormat {
    /// A format that is recognized and not supported.
    #[error("{0}, which convert does not read")]
    Foreign(&'static str),
    /// An archive or a compressed file, whose content may be sessions.
    #[error("{0}, which convert does not read")]
    Archive(&'static str),
    /// No format recognizes it.
    #[error("not a session in a known format")]
    Unknown,
    /// Two formats recognize it.
    #[error("may be {0} or {1}")]
    Ambiguous(&'static str, &'static str),
}

/// The reason why an input was not read to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Its format is unknown.
    #[error("{0}")]
    Format(#[from] UnknownFormat),
    /// The user stopped the run.
    #[error("interrupted")]
    Interrupted,
    /// Reading failed. An input beyond its limits has a [`storage::Excess`] as inner error.
    #[error("{}", system_words(.0))]
    Io(#[from] io::Error),
}

/// Returns the format that was detected; `None` for an input without a line.
///
/// # Errors
///
/// Returns an error if the format is unknown or ambiguous.
pub fn single_format(detected: Detected) -> Result<Option<&'static Format>, UnknownFormat> {
    match detected {
        Detected::Format(format) => Ok(Some(format)),
        Detected::Empty => Ok(None),
        Detected::Archive(name) => Err(UnknownFormat::Archive(name)),
        Detected::Foreign(name) => Err(UnknownFormat::Foreign(name)),
        Detected::Ambiguous(one, other) => Err(UnknownFormat::Ambiguous(one.name, other.name)),
        Detected::Unknown => Err(UnknownFormat::Unknown),
    }
}
