//! Reads, writes and checks the records of one format, for users of one format crate alone.

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
    writer::{RecordWriter, WrittenRecords},
};
use crate::Format;

/// Marker type for a format. Its crate defines `Reader`, `Writer` and `Checker` with it.
pub trait RecordFormat {
    /// A record with its members, as slices of its line.
    type Record<'l>;

    /// Returns the format's row.
    fn format() -> &'static Format;

    /// Finds the members of a record.
    fn record(value: Value<'_>) -> Self::Record<'_>;
}
