//! The names that every format crate has for the same jobs: `Reader`, `Writer`, `Checker`,
//! `RecordBuf`.

use core_model::{Format, RecordFormat};
use jsonl::Value;

use crate::{FORMAT, Record};

/// Marker type for Claude Code's transcripts: the parameter of [`Reader`], [`Writer`] and
/// [`Checker`].
#[derive(Clone, Copy, Debug)]
pub enum ClaudeCode {}

impl RecordFormat for ClaudeCode {
    type Record<'l> = Record<'l>;

    fn format() -> &'static Format {
        &FORMAT
    }

    fn record(value: Value<'_>) -> Record<'_> {
        Record::new(value)
    }
}

/// Reader of the records of a file: `Reader::open(path)?`, or `Reader::from_reader(reader)`.
pub type Reader<R> = core_model::Reader<R, ClaudeCode>;

/// A record that owns its bytes.
pub type RecordBuf = core_model::RecordBuf<ClaudeCode>;

/// A record that borrows from its reader.
pub type RecordRef<'l> = core_model::RecordRef<'l, ClaudeCode>;

/// Writer of records of any format as records of a transcript.
pub type Writer<W> = core_model::RecordWriter<W, ClaudeCode>;

/// Finder of records that the client would refuse: `Checker::check(path)?`.
pub type Checker = core_model::RecordChecker<ClaudeCode>;
