//! The table of formats that the programs share.

/// The formats whose features are on.
#[cfg(feature = "formats")]
pub static FORMATS: format_pi::core_model::Formats = format_pi::core_model::Formats::new(&[
    &format_claude_code::FORMAT,
    &format_clido::FORMAT,
    &format_codex::FORMAT,
    &format_pi::FORMAT,
]);
