//! Sessions done by many processes: the units of a plan, what becomes of them, and their receipts.
//!
//! docs/WORKER.md describes the lines; the commands are `plan`, `work` and `merge`.

pub(crate) mod chunk;
pub(crate) mod join;
pub(crate) mod merged;
pub(crate) mod planned;
pub(crate) mod queue;
pub(crate) mod receipt;
pub(crate) mod store;

/// The version of the protocol.
pub(crate) const VERSION: u64 = 1;

/// What a receipt says wrote it.
pub(crate) const TOOL: &str = env!("CARGO_PKG_VERSION");
