//! An error value that stops reading early, when the caller needs no more.

use std::io;

/// The marker of an early stop.
#[derive(Debug, thiserror::Error)]
#[error("enough")]
struct Enough;

/// Returns the error that stops reading.
pub(crate) fn enough() -> io::Error {
    io::Error::other(Enough)
}

/// Returns whether an error is an early stop.
pub(crate) fn is_enough(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|error| error.is::<Enough>())
}
