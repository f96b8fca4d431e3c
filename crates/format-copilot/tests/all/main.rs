//! The tests of this crate from outside, in one binary, since each binary costs a link.

mod cases;
#[path = "../../../core-model/tests/shared/face.rs"]
mod face;
mod fixtures;
mod format;
#[cfg(feature = "serde")]
#[path = "../../../core-model/tests/shared/skipped.rs"]
mod skipped;
mod store;
#[cfg(feature = "serde")]
#[path = "../../../core-model/tests/shared/typed.rs"]
mod typed;
