//! The table of formats: adding one is a crate, and a row here.

use core_model::Format;

/// Every format, one row each.
pub static FORMATS: &[&Format] = &[
    &format_claude_code::FORMAT,
    &format_clido::FORMAT,
    &format_sdk_stream::DUMP,
    &format_sdk_stream::WIRE,
];

/// Returns the format with this name.
pub fn by_name(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name).copied()
}

/// Returns the format that this letter stands for in a carry.
pub(crate) fn by_tag(tag: char) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.tag == tag).copied()
}
