//! The table of formats: adding one is a crate, and a row here.

use core_model::Format;

use crate::carry::CarriedFormat;

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

/// Returns the format that a carry names.
pub(crate) fn carried(name: CarriedFormat<'_>) -> Option<&'static Format> {
    FORMATS.iter().find(|format| name.is(format)).copied()
}
