//! The names that every format crate has: `Reader`, `RecordBuf`, `RecordRef`, `Writer`, `Checker`.

use core_model::{Format, RecordFormat};
use jsonl::Value;

use crate::{FORMAT, Record};

/// Marker type for Copilot's sessions.
#[derive(Clone, Copy, Debug)]
pub enum Copilot {}

impl RecordFormat for Copilot {
    type Record<'l> = Record<'l>;

    fn format() -> &'static Format {
        &FORMAT
    }

    fn record(value: Value<'_>) -> Record<'_> {
        Record::decode(value)
    }
}

/// Reader of the records of a file: `Reader::open(path)?`, or `Reader::from_reader(reader)`.
pub type Reader<R> = core_model::Reader<R, Copilot>;

/// A record that owns its bytes.
pub type RecordBuf = core_model::RecordBuf<Copilot>;

/// A record that borrows from its reader.
pub type RecordRef<'l> = core_model::RecordRef<'l, Copilot>;

/// Writer of records of any format as records of a Copilot session.
pub type Writer<W> = core_model::RecordWriter<W, Copilot>;

/// Finder of records that Copilot would refuse or not send: `Checker::check(path)?`.
pub type Checker = core_model::RecordChecker<Copilot>;
