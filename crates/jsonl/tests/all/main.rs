//! The tests of this crate from outside, in one binary, since each binary costs a link.

#[cfg(not(miri))]
mod canaries;
// Miri is a thousand times slower, so it runs only the tests of `unsafe` code.
mod differential;
#[cfg(not(miri))]
mod recover;
