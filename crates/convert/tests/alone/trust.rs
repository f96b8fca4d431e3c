//! Tests of disturbed runs: killed, interrupted, out of space, with failing system calls, tricked by
//! links, or several at once.
//!
//! `cargo xtask trust` runs the rounds that RELIABILITY.md names. A plain test run does a few.

#![expect(clippy::print_stderr, reason = "a figure, or that a test is skipped, is said")]

mod alone;
mod beside;
mod bombs;
mod calls;
mod crash;
mod disk;
mod killed;
mod links;
mod live;
mod resumed;
pub(crate) mod stage;
mod workers;
