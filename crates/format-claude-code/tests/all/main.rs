//! The tests of this crate from outside, in one binary, since each binary costs a link.

mod bundle;
mod chain;
mod data;
mod edit;
mod face;
mod fixtures;
mod listing;
mod markdown;
mod reader;
mod shared;
mod transcript;
#[cfg(feature = "serde")]
mod typed;
mod validate;
mod verdicts;
mod views;
