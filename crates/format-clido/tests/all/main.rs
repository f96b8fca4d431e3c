//! The tests of this crate from outside, in one binary, since each binary costs a link.

mod face;
mod fixtures;
mod history;
mod session_lines;
mod shared;
mod strict;
#[cfg(feature = "serde")]
mod typed;
