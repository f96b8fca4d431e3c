//! The names that every format crate has for the same jobs: `Reader`, `Writer`, `Checker`,
//! `RecordBuf`.

use core_model::{Format, RecordFormat};
use jsonl::Value;

use crate::{DUMP, Record};

/// Marker type for SDK streams of either flavor: the parameter of [`Reader`], [`Writer`] and
/// [`Checker`].
#[derive(Clone, Copy, Debug)]
pub enum SdkStream {}

impl RecordFormat for SdkStream {
    type Record<'l> = Record<'l>;

    fn format() -> &'static Format {
        &DUMP
    }

    fn record(value: Value<'_>) -> Record<'_> {
        Record::new(value)
    }
}

/// Reader of the records of a file: `Reader::open(path)?`, or `Reader::from_reader(reader)`.
pub type Reader<R> = core_model::Reader<R, SdkStream>;

/// A record that owns its bytes.
pub type RecordBuf = core_model::RecordBuf<SdkStream>;

/// A record that borrows from its reader.
pub type RecordRef<'l> = core_model::RecordRef<'l, SdkStream>;

/// Writer of records of any format as records of a dump.
pub type Writer<W> = core_model::RecordWriter<W, SdkStream>;

/// Finder of lines that the readers of streams would refuse: `Checker::check(path)?`.
pub type Checker = core_model::RecordChecker<SdkStream>;
