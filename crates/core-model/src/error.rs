//! Errors of reading a file: an I/O error, or a line.

use std::io;

use crate::Problem;

/// The error of reading a file or a line of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The reader failed. Reading ends.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A line is invalid. The lines after it can be read.
    #[error("{0}")]
    Line(Problem),
}

impl ReadError {
    /// Returns the error of the line, if a line could not be read.
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            ReadError::Line(problem) => Some(problem),
            ReadError::Io(_) => None,
        }
    }
}
