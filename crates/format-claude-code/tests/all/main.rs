//! The tests of this crate from outside, in one binary, since each binary costs a link.

mod chain;
mod data;
mod edit;
#[path = "../../../core-model/tests/shared/face.rs"]
mod face;
mod fixtures;
mod format;
mod layout;
mod listing;
mod markdown;
mod reader;
mod shared;
#[path = "../../../core-model/tests/shared/skipped.rs"]
mod skipped;
mod transcript;
#[cfg(feature = "serde")]
#[path = "../../../core-model/tests/shared/typed.rs"]
mod typed;
mod validate;
mod verdicts;
mod views;
