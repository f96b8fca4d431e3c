//! This crate under the name that the shared tests use, and its folders.

pub(crate) use format_opencode::*;

/// The folders of the shared data with its records.
pub(crate) const DATA: &[&str] = &["opencode"];

/// Whether the inputs of tools are JSON, and not JSON in a string.
pub(crate) const HAS_JSON_INPUTS: bool = true;

/// Returns the style in which the client writes a record.
pub(crate) fn style(_: &RecordRef<'_>) -> jsonl::Style {
    jsonl::Style::Compact
}
