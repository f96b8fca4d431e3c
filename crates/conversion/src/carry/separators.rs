//! Escapes the characters at which Node's `readline` ends a line: U+2028 and U+2029.
//!
//! In: `{"text":"a<U+2028>b"}`. Out: `{"text":"a\u2028b"}`, the same value in one line for every client.

use std::sync::LazyLock;

use memchr::{memchr_iter, memmem::Finder};

/// The characters without their last byte, which is `a8` or `a9`.
const START: &[u8] = b"\xe2\x80";

/// The escapes without their last digit, which is `8` or `9`.
const ESCAPE: &[u8] = b"\\u202";

/// Made once, because most lines are short.
static ESCAPES: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(ESCAPE));

/// The length of an escape.
pub(crate) const LONGEST: usize = ESCAPE.len() + 1;

/// Escapes the characters in a line of JSON. They occur only in strings.
pub(crate) fn escape_separators(line: &mut Vec<u8>) {
    let places: Vec<usize> = separators(line).collect();
    if places.is_empty() {
        return;
    }
    let mut escaped = Vec::with_capacity(line.len() + 3 * places.len());
    let mut rest = 0;
    for at in places {
        escaped.extend_from_slice(line.get(rest..at).unwrap_or_default());
        escaped.extend_from_slice(ESCAPE);
        escaped.push(if line.get(at + START.len()) == Some(&0xa8) { b'8' } else { b'9' });
        rest = at + START.len() + 1;
    }
    escaped.extend_from_slice(line.get(rest..).unwrap_or_default());
    *line = escaped;
}

/// Returns the offsets of the characters in a line.
fn separators(line: &[u8]) -> impl Iterator<Item = usize> {
    memchr_iter(START[0], line)
        .filter(|at| matches!(line.get(*at..), Some([0xe2, 0x80, 0xa8 | 0xa9, ..])))
}

/// Returns whether a line of JSON has one of the characters, or an escape of one.
pub(crate) fn has_separators(line: &[u8]) -> bool {
    separators(line).next().is_some() || has_escapes(line)
}

/// Returns whether JSON may have an escape of one of the characters.
pub(crate) fn has_escapes(json: &[u8]) -> bool {
    ESCAPES.find(json).is_some()
}

/// Calls `each` with the pieces of JSON with the characters instead of their escapes. Nothing is copied.
pub(crate) fn each_unescaped(json: &[u8], each: &mut dyn FnMut(&[u8])) {
    let mut rest = 0;
    for at in ESCAPES.find_iter(json) {
        let before = json.get(..at).unwrap_or_default();
        // Behind a backslash that is escaped itself, the letters are text.
        let n_backslashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
        let last = match json.get(at + ESCAPE.len()) {
            Some(b'8') => 0xa8,
            Some(b'9') => 0xa9,
            _ => continue,
        };
        if n_backslashes.is_multiple_of(2) {
            each(json.get(rest..at).unwrap_or_default());
            each(START);
            each(&[last]);
            rest = at + ESCAPE.len() + 1;
        }
    }
    each(json.get(rest..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unescaped(json: &str) -> Vec<u8> {
        let mut plain = Vec::new();
        each_unescaped(json.as_bytes(), &mut |piece| plain.extend_from_slice(piece));
        plain
    }

    #[test]
    fn separators_are_escaped_and_come_back() {
        let plain = "{\"a\":\"\u{2028}x\u{2029}\u{2028}“\\\\\u{2029}\"}";
        let escaped = r#"{"a":"\u2028x\u2029\u2028“\\\u2029"}"#;
        let mut line = plain.as_bytes().to_vec();
        escape_separators(&mut line);
        assert_eq!(std::str::from_utf8(&line), Ok(escaped));
        assert_eq!(unescaped(escaped), plain.as_bytes());
        assert!(has_separators(plain.as_bytes()) && has_separators(escaped.as_bytes()));
        assert!(!has_separators("{\"a\":\"“…\"}".as_bytes()));
        for without in [r#"{"a":"“\\u2028 \u2027"}"#, "{}"] {
            let mut line = without.as_bytes().to_vec();
            escape_separators(&mut line);
            assert_eq!(line, without.as_bytes());
            assert_eq!(unescaped(without), without.as_bytes());
        }
    }
}
