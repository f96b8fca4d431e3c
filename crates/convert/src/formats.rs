//! The table of formats. To add a format, add a crate and a row here.

use std::io::{self, Read, Seek};

use conversion::{Detected, Source};
use core_model::{Format, Formats};

/// All formats that the program knows, one row each. A new format is a crate with a `static` of the type
/// [`Format`], which is its row, and a line here.
pub static FORMATS: Formats = Formats::new(&[
    &format_claude_code::FORMAT,
    &format_clido::FORMAT,
    &format_codex::FORMAT,
    &format_codex::STREAM,
    &format_copilot::FORMAT,
    &format_atif::FORMAT,
    &format_gemini::GEMINI,
    &format_gemini::GEMINI_DOCUMENT,
    &format_opencode::FORMAT,
    &format_pi::FORMAT,
    &format_gemini::QWEN,
    &format_sdk_stream::DUMP,
    &format_sdk_stream::WIRE,
]);

/// Returns the format with this name.
pub fn by_name(name: &str) -> Option<&'static Format> {
    FORMATS.by_name(name)
}

/// Detects the format of a source.
///
/// # Errors
///
/// Returns an error if the source cannot be read.
pub fn detect<R: Read + Seek + Send>(source: &mut Source<R>) -> io::Result<Detected> {
    conversion::detect_format(FORMATS, source)
}
