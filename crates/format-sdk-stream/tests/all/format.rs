//! This crate under the name that the shared tests use, and its folders.

pub(crate) use format_sdk_stream::*;

/// The folders of its fixtures.
pub(crate) const FIXTURES: &[&str] = &["sdk-stream", "sdk-wire"];

/// Whether its records have models, tool calls and ends of runs.
pub(crate) const HAS: (bool, bool, bool) = (true, true, true);

/// The folders of the shared data with its records.
#[cfg(feature = "serde")]
pub(crate) const DATA: &[&str] = &["sdk-dump", "clients/sdk"];

/// Whether the inputs of tools are JSON, and not JSON in a string.
#[cfg(feature = "serde")]
pub(crate) const HAS_JSON_INPUTS: bool = true;

/// Returns the style in which the client of a record writes: Python's in a dump, else compact.
#[cfg(feature = "serde")]
pub(crate) fn style(record: &RecordRef<'_>) -> jsonl::Style {
    let is_dump = record.record().flavor == Flavor::Dump;
    if is_dump { jsonl::Style::Python } else { jsonl::Style::Compact }
}
