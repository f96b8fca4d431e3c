//! This crate under the name that the shared tests use, and its folders.

pub(crate) use format_copilot::*;

/// The folders of its fixtures.
pub(crate) const FIXTURES: &[&str] = &["copilot"];

/// Whether its records have models, tool calls and ends of runs.
pub(crate) const HAS: (bool, bool, bool) = (true, true, false);

/// The folders of the shared data with its records.
#[cfg(feature = "serde")]
pub(crate) const DATA: &[&str] = &["copilot"];

/// Whether the inputs of tools are JSON, and not JSON in a string.
#[cfg(feature = "serde")]
pub(crate) const HAS_JSON_INPUTS: bool = true;

/// Returns the style in which the client writes a record.
#[cfg(feature = "serde")]
pub(crate) fn style(_: &RecordRef<'_>) -> jsonl::Style {
    jsonl::Style::Compact
}
