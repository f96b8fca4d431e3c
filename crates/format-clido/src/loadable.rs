//! Makes values loadable for clido, whose decoder refuses some valid JSON (FORMAT.md).

use jsonl::{Style, Text, push_string};

/// The number of arrays and objects that may be open at once in a line.
pub(crate) const MAX_DEPTH: usize = 127;

const TOO_DEEP: &str = "\"[nested too deeply]\"";

/// Returns whether clido loads a value that has `max_depth` levels left in its line.
pub(crate) fn is_loadable(value: &str, max_depth: usize) -> bool {
    loadable(value, max_depth).is_none()
}

/// Returns a value that clido loads in place of one that it refuses; `None` if it loads this one.
///
/// Half a surrogate pair becomes U+FFFD; a number beyond an `f64` and what is nested too deeply
/// become strings.
pub(crate) fn loadable(value: &str, max_depth: usize) -> Option<String> {
    let mut out = Vec::new();
    let mut copied = 0;
    let mut depth = 0;
    let mut at = 0;
    let bytes = value.as_bytes();
    while let Some(byte) = bytes.get(at) {
        let end = match byte {
            b'"' => string_end(bytes, at),
            b'-' | b'0'..=b'9' => number_end(bytes, at),
            b'{' | b'[' if depth == max_depth => container_end(bytes, at),
            _ => at + 1,
        };
        let token = value.get(at..end).unwrap_or_default();
        let replacement = match byte {
            b'"' => loadable_string(token),
            b'-' | b'0'..=b'9' => (!is_in_range(token)).then(|| format!("\"{token}\"")),
            b'{' | b'[' if depth == max_depth => Some(TOO_DEEP.to_owned()),
            _ => None,
        };
        match (byte, replacement) {
            (_, Some(replacement)) => {
                out.extend_from_slice(bytes.get(copied..at).unwrap_or_default());
                out.extend_from_slice(replacement.as_bytes());
                copied = end;
            }
            (b'{' | b'[', None) => depth += 1,
            (b'}' | b']', None) => depth = depth.saturating_sub(1),
            _ => {}
        }
        at = end;
    }
    if copied == 0 {
        return None;
    }
    out.extend_from_slice(bytes.get(copied..).unwrap_or_default());
    String::from_utf8(out).ok()
}

fn loadable_string(written: &str) -> Option<String> {
    if !written.contains("\\ud") && !written.contains("\\uD") {
        return None;
    }
    let text = Text::new(written).filter(|text| text.has_lone_surrogate())?;
    let mut out = Vec::new();
    push_string(&mut out, &text.decode(), Style::Compact);
    String::from_utf8(out).ok()
}

fn is_in_range(number: &str) -> bool {
    // Above this, decoders that round differently may disagree about infinity.
    number.parse::<f64>().is_ok_and(|number| number.abs() < 1.797e308)
}

/// Returns where a string that starts at `at` ends.
fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    loop {
        match bytes.get(at) {
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => return bytes.len(),
        }
    }
}

fn number_end(bytes: &[u8], at: usize) -> usize {
    let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| is_part(byte)).count()
}

fn container_end(bytes: &[u8], at: usize) -> usize {
    let mut depth = 0usize;
    let mut at = at;
    while let Some(byte) = bytes.get(at) {
        at = if *byte == b'"' { string_end(bytes, at) } else { at + 1 };
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clido_loads_stays_as_it_is() {
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
    fn what_it_refuses_becomes_what_it_loads() {
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
