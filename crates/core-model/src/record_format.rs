//! A format's records by themselves: read, written, and checked without another crate.

mod checker;
mod reader;
mod record;
mod summary;
mod writer;

use jsonl::Value;

pub use self::{
    checker::RecordChecker,
    reader::Reader,
    record::{RecordBuf, RecordRef},
    summary::ExitStatus,
    writer::RecordWriter,
};
use crate::Format;

/// A format as a type: its crate names its `Reader`, `Writer` and `Checker` after it.
pub trait RecordFormat {
    /// A record with its known members, as slices of its line.
    type Record<'l>;

    /// Returns the format's row.
    fn format() -> &'static Format;

    /// Finds the members of a record.
    fn record(value: Value<'_>) -> Self::Record<'_>;
}
