//! The end of reading because nobody wants more: no failure, but it travels like one.

use std::io;

/// Nobody wants more.
#[derive(Debug, thiserror::Error)]
#[error("enough")]
struct Enough;

/// Returns what ends the reading.
pub(crate) fn enough() -> io::Error {
    io::Error::other(Enough)
}

/// Returns whether reading ended because nobody wanted more.
pub(crate) fn is_enough(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|error| error.is::<Enough>())
}
