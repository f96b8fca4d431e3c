//! Respells values that are too deep or too long for the index, token by token.
//!
//! In: `[ 1 , "é" ]` for the compact style. Out: `[1,"é"]`.

use super::{body_of, push_string};
use crate::{Result, Style, number::push_python_number, tokens::Tokens, validate};

/// The size in bytes at which a buffer is passed on.
const FULL: usize = if cfg!(test) { 8 } else { 64 * 1024 };

/// Appends a value without an index token by token. Duplicate members are kept.
pub(super) fn respell_tokens(out: &mut Vec<u8>, written: &str, style: Style) {
    Tokens::new(written, 0).for_each(|(_, token)| push_token(out, token, style));
}

/// Appends one token in a style.
pub(crate) fn push_token(out: &mut Vec<u8>, token: &str, style: Style) {
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

/// Calls `each` with the pieces of JSON in the spelling of a style. It is the spelling of [`respell`](crate::respell) but
/// for duplicate members, which are kept. A long value takes the memory of its longest string.
///
/// # Errors
///
/// Returns an error if the text is not one JSON value.
///
/// ```
/// let (value, mut joined) = (r#"{ "b":[1, 2.50], "a":"\u00e9" }"#, Vec::new());
/// jsonl::each_respelt(value, jsonl::Style::Compact, &mut |piece| joined.extend_from_slice(piece))?;
/// assert_eq!(joined, r#"{"b":[1,2.50],"a":"é"}"#.as_bytes());
/// # Ok::<(), jsonl::Error>(())
/// ```
pub fn each_respelt(written: &str, style: Style, each: &mut dyn FnMut(&[u8])) -> Result<()> {
    validate(written.as_bytes())?;
    let mut buffer = Vec::new();
    for (_, token) in Tokens::new(written, 0) {
        push_token(&mut buffer, token, style);
        if buffer.len() >= FULL {
            each(&buffer);
            buffer.clear();
            // Frees the memory of a long string.
            buffer.shrink_to(2 * FULL);
        }
    }
    each(&buffer);
    Ok(())
}

/// Returns whether a valid value in the spelling of a style is `written`, without a copy of it. `None` if
/// [`respell`](crate::respell) could spell it in another way than token by token: in Python's style it leaves out
/// duplicate members, and it copies the deepest values.
pub(super) fn is_spelled_as(value: &str, style: Style, written: &str) -> Option<bool> {
    /// Limit on the depth up to which all values are respelt.
    const MAX_DEPTH: usize = 1000;
    if style == Style::Python {
        return None;
    }
    let (mut rest, mut buffer, mut depth) = (written.as_bytes(), Vec::new(), 0_usize);
    for (_, token) in Tokens::new(value, 0) {
        match token {
            "[" | "{" => depth = depth.saturating_add(1),
            "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return None;
        }
        push_token(&mut buffer, token, style);
        if buffer.len() >= FULL {
            let Some(behind) = rest.strip_prefix(&*buffer) else { return Some(false) };
            rest = behind;
            buffer.clear();
            buffer.shrink_to(2 * FULL);
        }
    }
    Some(rest == buffer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::respell_str;

    #[test]
    fn a_value_in_pieces_is_the_value() {
        for written in [
            "{ \"b\":[1, 2.50,1E5 ], \"a\":\"\\u00e9 \\/ and a longer text\", \"c\":{} }",
            "[[[[[[[[[[[[[[[[[[[[ -0 , true,null ]]]]]]]]]]]]]]]]]]]]",
            "\"é\\ud800\"",
            " 1.0 ",
        ] {
            for style in [Style::Compact, Style::Python] {
                let (mut joined, mut expected) = (Vec::new(), Vec::new());
                each_respelt(written, style, &mut |piece| joined.extend_from_slice(piece))
                    .expect("JSON");
                respell_str(&mut expected, written.trim(), style);
                assert_eq!(String::from_utf8(joined), String::from_utf8(expected), "{written}");
            }
        }
    }
}
