//! The tests of this crate from outside, in one binary, since each binary costs a link.

#[path = "../../../core-model/tests/shared/face.rs"]
mod face;
mod fixtures;
mod format;
mod history;
mod session_lines;
mod shared;
#[path = "../../../core-model/tests/shared/skipped.rs"]
mod skipped;
mod strict;
#[cfg(feature = "serde")]
#[path = "../../../core-model/tests/shared/typed.rs"]
mod typed;
