//! The tests of this crate from outside, in one binary, since each binary costs a link.

#[cfg(feature = "serde")]
mod face;
mod fixtures;
#[cfg(feature = "serde")]
mod format;
#[cfg(feature = "serde")]
#[path = "../../../core-model/tests/shared/skipped.rs"]
mod skipped;
#[cfg(feature = "serde")]
#[path = "../../../core-model/tests/shared/typed.rs"]
mod typed;
mod verdicts;
