//! The names that every format crate has for the same jobs: `Reader`, `Writer`, `Checker`,
//! `RecordBuf`.

use core_model::{Format, RecordFormat};
use jsonl::Value;

use crate::{FORMAT, Record};

/// Marker type for clido's session files: the parameter of [`Reader`], [`Writer`] and [`Checker`].
#[derive(Clone, Copy, Debug)]
pub enum Clido {}

impl RecordFormat for Clido {
    type Record<'l> = Record<'l>;

    fn format() -> &'static Format {
        &FORMAT
    }

    fn record(value: Value<'_>) -> Record<'_> {
        Record::decode(value)
    }
}

/// Reader of the records of a file: `Reader::open(path)?`, or `Reader::from_reader(reader)`.
pub type Reader<R> = core_model::Reader<R, Clido>;

/// A record that owns its bytes.
pub type RecordBuf = core_model::RecordBuf<Clido>;

/// A record that borrows from its reader.
pub type RecordRef<'l> = core_model::RecordRef<'l, Clido>;

/// Writer of records of any format as records of a clido session.
pub type Writer<W> = core_model::RecordWriter<W, Clido>;

/// Finder of records that clido would refuse: `Checker::check(path)?`.
pub type Checker = core_model::RecordChecker<Clido>;
