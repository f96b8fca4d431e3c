//! The tests of this crate from outside, in one binary, since each binary costs a link.

mod cases;
#[path = "../../../core-model/tests/shared/face.rs"]
mod face;
mod fixtures;
mod format;
mod gemini;
#[cfg(feature = "serde")]
#[path = "../../../core-model/tests/shared/skipped.rs"]
mod skipped;
#[cfg(feature = "serde")]
#[path = "../../../core-model/tests/shared/typed.rs"]
mod typed;
