//! The names that every format crate has: `Reader`, `RecordBuf`, `RecordRef`, `Writer`, `Checker`.

use core_model::{Format, RecordFormat};
use jsonl::Value;

use crate::{FORMAT, Record};

/// Marker type for ATIF documents.
#[derive(Clone, Copy, Debug)]
pub enum Atif {}

impl RecordFormat for Atif {
    type Record<'l> = Record<'l>;

    fn format() -> &'static Format {
        &FORMAT
    }

    fn record(value: Value<'_>) -> Record<'_> {
        Record::decode(value)
    }
}

/// Reader of the records of a document: `Reader::open(path)?`, or `Reader::from_reader(reader)`.
pub type Reader<R> = core_model::Reader<R, Atif>;

/// A record that owns its bytes.
pub type RecordBuf = core_model::RecordBuf<Atif>;

/// A record that borrows from its reader.
pub type RecordRef<'l> = core_model::RecordRef<'l, Atif>;

/// Writer of records of any format as the steps of a document.
pub type Writer<W> = core_model::RecordWriter<W, Atif>;

/// Finder of what Harbor's validator refuses: `Checker::check(path)?`.
pub type Checker = core_model::RecordChecker<Atif>;
