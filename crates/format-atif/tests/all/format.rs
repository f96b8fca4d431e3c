//! This crate under the name that the shared tests use, and its folders.

pub(crate) use format_atif::*;

/// The folders of the shared data with its records in lines: none, since each file is a document.
pub(crate) const DATA: &[&str] = &[];

/// Whether the inputs of tools are JSON, and not JSON in a string.
pub(crate) const HAS_JSON_INPUTS: bool = true;

/// Returns the style in which a record is written without spaces.
pub(crate) fn style(_: &RecordRef<'_>) -> jsonl::Style {
    jsonl::Style::Compact
}
