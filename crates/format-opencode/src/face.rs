//! The names that every format crate has: `Reader`, `RecordBuf`, `RecordRef`, `Writer`, `Checker`.

use core_model::{Format, RecordFormat};
use jsonl::Value;

use crate::{FORMAT, Record};

/// Marker type for OpenCode's sessions.
#[derive(Clone, Copy, Debug)]
pub enum OpenCode {}

impl RecordFormat for OpenCode {
    type Record<'l> = Record<'l>;

    fn format() -> &'static Format {
        &FORMAT
    }

    fn record(value: Value<'_>) -> Record<'_> {
        Record::decode(value)
    }
}

/// Reader of the records of a file: `Reader::open(path)?`, or `Reader::from_reader(reader)`.
pub type Reader<R> = core_model::Reader<R, OpenCode>;

/// A record that owns its bytes.
pub type RecordBuf = core_model::RecordBuf<OpenCode>;

/// A record that borrows from its reader.
pub type RecordRef<'l> = core_model::RecordRef<'l, OpenCode>;

/// Writer of records of any format as records of an OpenCode session.
pub type Writer<W> = core_model::RecordWriter<W, OpenCode>;

/// Finder of faults on which an import stops: `Checker::check(path)?`.
pub type Checker = core_model::RecordChecker<OpenCode>;
