//! Replaces values that clients with a decoder in Rust refuse, although they are valid JSON.
//!
//! In: `{"a":1e400,"b":"\ud800"}`. Out: `{"a":"1e400","b":"\ufffd"}`.

use memchr::memchr2;

use crate::{Text, json_string};

/// Number of arrays and objects that may be open at once in a value that serde_json decodes.
pub const MAX_SERDE_DEPTH: usize = 127;

const TOO_DEEP: &str = "\"[nested too deeply]\"";

/// Returns whether a decoder in Rust accepts a value that may have `max_depth` levels.
pub fn is_loadable(value: &str, max_depth: usize) -> bool {
    loadable(value, max_depth).is_none()
}

/// Returns a replacement for a value that a decoder in Rust, such as serde_json, refuses; `None` if it accepts the value.
///
/// Half a surrogate pair becomes U+FFFD. A number beyond an `f64`, and a container beyond
/// `max_depth`, become strings.
///
/// ```
/// let mended = jsonl::loadable(r#"{"a":1e400,"b":[[]]}"#, 2);
/// assert_eq!(mended.as_deref(), Some(r#"{"a":"1e400","b":["[nested too deeply]"]}"#));
/// assert_eq!(jsonl::loadable(r#"{"a":1e300}"#, 2), None);
/// ```
pub fn loadable(value: &str, max_depth: usize) -> Option<String> {
    let mut mended: Option<String> = None;
    let mut depth = 0_usize;
    let mut rest = value;
    while let Some(token) = token(rest, depth == max_depth) {
        let replacement = match token.as_bytes() {
            [b'"', ..] => loadable_string(token),
            [b'-' | b'0'..=b'9', ..] => (!is_in_range(token)).then(|| format!("\"{token}\"")),
            [b'{' | b'[', ..] if depth == max_depth => Some(TOO_DEEP.to_owned()),
            [b'{' | b'[', ..] => {
                depth = depth.saturating_add(1);
                None
            }
            [b'}' | b']', ..] => {
                depth = depth.saturating_sub(1);
                None
            }
            _ => None,
        };
        if let Some(replacement) = replacement {
            let before = || value.strip_suffix(rest).unwrap_or_default().to_owned();
            mended.get_or_insert_with(before).push_str(&replacement);
        } else if let Some(mended) = &mut mended {
            mended.push_str(token);
        }
        rest = rest.get(token.len()..)?;
    }
    mended
}

/// Returns the first token of some JSON: a string, a number, or one other character. If no further
/// container may be open (`is_full`), a whole container is one token.
fn token(json: &str, is_full: bool) -> Option<&str> {
    let is_number = |char: char| matches!(char, '0'..='9' | '.' | 'e' | 'E' | '+' | '-');
    match json.as_bytes().first()? {
        b'"' => string(json),
        b'-' | b'0'..=b'9' => json.split(|char| !is_number(char)).next(),
        b'{' | b'[' if is_full => container(json),
        _ => json.split_inclusive(|_| true).next(),
    }
}

fn loadable_string(written: &str) -> Option<String> {
    if !written.contains("\\ud") && !written.contains("\\uD") {
        return None;
    }
    let text = Text::new(written).filter(|text| text.has_lone_surrogate())?;
    Some(json_string(&text.decode()))
}

fn is_in_range(number: &str) -> bool {
    // Above this limit, decoders that round differently may disagree about infinity.
    number.parse::<f64>().is_ok_and(|number| number.abs() < 1.797e308)
}

/// Returns the string at the start of some JSON.
fn string(json: &str) -> Option<&str> {
    let mut at = 1_usize;
    while let Some(n) = memchr2(b'"', b'\\', json.as_bytes().get(at..)?) {
        at = at.saturating_add(n);
        if json.as_bytes().get(at) == Some(&b'"') {
            return json.get(..=at);
        }
        at = at.saturating_add(2);
    }
    Some(json)
}

/// Returns the array or object at the start of some JSON.
fn container(json: &str) -> Option<&str> {
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    let is_last = |char| {
        match char {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => in_string = !in_string,
            '{' | '[' if !in_string => depth = depth.saturating_add(1),
            '}' | ']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    };
    json.split_inclusive(is_last).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_accepted_stays_as_it_is() {
        for value in [
            "1",
            "-0.5e-5",
            "1e-400",
            "\"\\ud83c\\udf89 \\\\ud800\"",
            "[[1],[2]]",
            "{\"a\":{}}",
            "123456789012345678901234567890",
            "true",
            "\"[[[\\\"{{{\"",
        ] {
            assert_eq!(loadable(value, 2), None, "{value}");
        }
    }

    #[test]
    fn what_is_refused_is_replaced() {
        let cases = [
            ("1e400", "\"1e400\""),
            ("{\"\\ud800é\":[-1E+999,2]}", "{\"\u{fffd}é\":[\"-1E+999\",2]}"),
            ("[[[\"]\",{}]],3]", "[[\"[nested too deeply]\"],3]"),
        ];
        for (value, expected) in cases {
            assert_eq!(loadable(value, 2).as_deref(), Some(expected));
            assert!(is_loadable(expected, 2));
        }
        let long = "9".repeat(400);
        assert_eq!(loadable(&long, 2), Some(format!("\"{long}\"")));
    }
}
