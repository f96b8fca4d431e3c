//! The names that every format crate has: `Reader`, `RecordBuf`, `RecordRef`, `Writer`, `Checker`.

use core_model::{Format, RecordFormat};
use jsonl::Value;

use crate::{FORMAT, Record};

/// Marker type for pi's sessions.
#[derive(Clone, Copy, Debug)]
pub enum Pi {}

impl RecordFormat for Pi {
    type Record<'l> = Record<'l>;

    fn format() -> &'static Format {
        &FORMAT
    }

    fn record(value: Value<'_>) -> Record<'_> {
        Record::decode(value)
    }
}

/// Reader of the records of a file: `Reader::open(path)?`, or `Reader::from_reader(reader)`.
pub type Reader<R> = core_model::Reader<R, Pi>;

/// A record that owns its bytes.
pub type RecordBuf = core_model::RecordBuf<Pi>;

/// A record that borrows from its reader.
pub type RecordRef<'l> = core_model::RecordRef<'l, Pi>;

/// Writer of records of any format as records of a pi session.
pub type Writer<W> = core_model::RecordWriter<W, Pi>;

/// Finder of records that pi would refuse or not send: `Checker::check(path)?`.
pub type Checker = core_model::RecordChecker<Pi>;
