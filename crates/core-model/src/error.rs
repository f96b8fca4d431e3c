//! What stops the reading of a file: the reader, or a line.

use std::io;

use crate::Problem;

/// Why a file, or a line of it, could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The reader failed: nothing comes after it.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A line is not what it should be; the lines after it can be read.
    #[error("{0}")]
    Line(Problem),
}

impl ReadError {
    /// Returns what is wrong with a line, if it is a line that could not be read.
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            ReadError::Line(problem) => Some(problem),
            ReadError::Io(_) => None,
        }
    }
}
