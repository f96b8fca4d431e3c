//! Respells values that are too deep or too long for the index, token by token.
//!
//! In: `[ 1 , "é" ]` for the compact style. Out: `[1,"é"]`.

use super::{body_of, push_string};
use crate::{Style, number::push_python_number};

/// Appends a value without an index token by token. Duplicate members are kept.
pub(super) fn respell_tokens(out: &mut Vec<u8>, written: &str, style: Style) {
    let mut rest = written;
    while let Some(first) = rest.as_bytes().first() {
        let length = match first {
            b'"' => end_of_string(rest.as_bytes()),
            b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
                rest.bytes().take_while(is_part).count()
            }
            _ => 1,
        };
        let (token, after) = rest.split_at(length.min(rest.len()));
        rest = after;
        match first {
            b'"' => {
                push_string(out, body_of(token).unwrap_or_default(), style, style);
            }
            b',' => out.extend_from_slice(style.comma().as_bytes()),
            b':' => out.extend_from_slice(style.colon().as_bytes()),
            b' ' | b'\t' | b'\n' | b'\r' => {}
            b'-' | b'0'..=b'9' if style == Style::Python => push_python_number(out, token),
            _ => out.extend_from_slice(token.as_bytes()),
        }
    }
}

/// Returns the end of the string at the start of some bytes.
fn end_of_string(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
        at += found + 1;
        if bytes.get(at - 1) == Some(&b'"') {
            return at;
        }
        at += 1;
    }
    bytes.len()
}
