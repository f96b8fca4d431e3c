//! The names that every format has, with `Gemini` before them, since [`crate::Reader`] reads the sessions
//! of Qwen Code.

use core_model::{Format, RecordFormat};
use jsonl::Value;

use super::{GEMINI, GeminiRecord};

/// Marker type for the sessions of Gemini CLI.
#[derive(Clone, Copy, Debug)]
pub enum Gemini {}

impl RecordFormat for Gemini {
    type Record<'l> = GeminiRecord<'l>;

    fn format() -> &'static Format {
        &GEMINI
    }

    fn record(value: Value<'_>) -> GeminiRecord<'_> {
        GeminiRecord::decode(value)
    }
}

/// Reader of the records of a file: `GeminiReader::open(path)?`, or `GeminiReader::from_reader(reader)`.
pub type GeminiReader<R> = core_model::Reader<R, Gemini>;

/// A record that owns its bytes.
pub type GeminiRecordBuf = core_model::RecordBuf<Gemini>;

/// A record that borrows from its reader.
pub type GeminiRecordRef<'l> = core_model::RecordRef<'l, Gemini>;

/// Writer of records of any format as records of a session.
pub type GeminiWriter<W> = core_model::RecordWriter<W, Gemini>;

/// Finder of records that the client would refuse or not send: `GeminiChecker::check(path)?`.
pub type GeminiChecker = core_model::RecordChecker<Gemini>;
