//! The names that every format has: `Reader`, `RecordBuf`, `RecordRef`, `Writer`, `Checker`.

use core_model::{Format, RecordFormat};
use jsonl::Value;

use crate::{QWEN, Record};

/// Marker type for Qwen Code's sessions.
#[derive(Clone, Copy, Debug)]
pub enum Qwen {}

impl RecordFormat for Qwen {
    type Record<'l> = Record<'l>;

    fn format() -> &'static Format {
        &QWEN
    }

    fn record(value: Value<'_>) -> Record<'_> {
        Record::decode(value)
    }
}

/// Reader of the records of a file: `Reader::open(path)?`, or `Reader::from_reader(reader)`.
pub type Reader<R> = core_model::Reader<R, Qwen>;

/// A record that owns its bytes.
pub type RecordBuf = core_model::RecordBuf<Qwen>;

/// A record that borrows from its reader.
pub type RecordRef<'l> = core_model::RecordRef<'l, Qwen>;

/// Writer of records of any format as records of a session.
pub type Writer<W> = core_model::RecordWriter<W, Qwen>;

/// Finder of records that the client would refuse or not send: `Checker::check(path)?`.
pub type Checker = core_model::RecordChecker<Qwen>;
