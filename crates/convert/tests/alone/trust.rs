//! What happens to a folder when something happens to a run: killed, interrupted, out of space,
//! refused by the system at any call, tricked by links, or not alone.
//!
//! `cargo xtask trust` runs as many rounds as RELIABILITY.md says; a plain test run a few.

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
