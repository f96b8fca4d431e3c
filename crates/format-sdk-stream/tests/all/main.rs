//! The tests of this crate from outside, in one binary, since each binary costs a link.

mod face;
mod fixtures;
mod library;
#[cfg(feature = "serde")]
mod typed;
mod views;
