//! The tests of this crate from outside, in one binary, since each binary costs a link.

mod fixtures;
mod store;
mod writer;
