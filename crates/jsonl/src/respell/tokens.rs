//! Respells values that are too deep or too long for the index, token by token.
//!
//! In: `[ 1 , "é" ]` for the compact style. Out: `[1,"é"]`.

use super::{body_of, push_string};
use crate::{Style, number::push_python_number, tokens::Tokens};

/// Appends a value without an index token by token. Duplicate members are kept.
pub(super) fn respell_tokens(out: &mut Vec<u8>, written: &str, style: Style) {
    for (_, token) in Tokens::new(written, 0) {
        match token.as_bytes() {
            [b'"', ..] => {
                push_string(out, body_of(token).unwrap_or_default(), style, style);
            }
            [b',', ..] => out.extend_from_slice(style.comma().as_bytes()),
            [b':', ..] => out.extend_from_slice(style.colon().as_bytes()),
            [b'-' | b'0'..=b'9', ..] if style == Style::Python => push_python_number(out, token),
            token => out.extend_from_slice(token),
        }
    }
}
