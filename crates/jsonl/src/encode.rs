//! The two ways in which the formats spell JSON, and how to get from one to the other.

use crate::{Kind, Raw, Scanner, Value, decode::Unescape};

/// How a program spells JSON.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Style {
    /// JavaScript's `JSON.stringify` and serde_json: no spaces, non-ASCII characters as they are.
    Compact,
    /// Python's `json.dumps`: `", "` and `": "`, ASCII only, Python's numbers.
    Python,
}

impl Style {
    /// What stands between two members or items.
    pub fn comma(self) -> &'static str {
        match self {
            Style::Compact => ",",
            Style::Python => ", ",
        }
    }

    /// What stands between a key and its value.
    pub fn colon(self) -> &'static str {
        match self {
            Style::Compact => ":",
            Style::Python => ": ",
        }
    }
}

/// Appends `text` as a JSON string.
///
/// ```
/// let mut out = Vec::new();
/// jsonl::push_string(&mut out, "é\n", jsonl::Style::Python);
/// assert_eq!(out, br#""\u00e9\n""#);
/// ```
pub fn push_string(out: &mut Vec<u8>, text: &str, style: Style) {
    out.push(b'"');
    for char in text.chars() {
        push_char(out, char, style);
    }
    out.push(b'"');
}

/// Appends the bodies of JSON strings, as written, joined by an escaped newline, as one string.
pub fn push_joined<'l>(out: &mut Vec<u8>, bodies: impl IntoIterator<Item = &'l str>) {
    out.push(b'"');
    for (n, body) in bodies.into_iter().enumerate() {
        if n > 0 {
            out.extend_from_slice(b"\\n");
        }
        out.extend_from_slice(body.as_bytes());
    }
    out.push(b'"');
}

fn push_char(out: &mut Vec<u8>, char: char, style: Style) {
    match char {
        '"' => out.extend_from_slice(b"\\\""),
        '\\' => out.extend_from_slice(b"\\\\"),
        '\n' => out.extend_from_slice(b"\\n"),
        '\r' => out.extend_from_slice(b"\\r"),
        '\t' => out.extend_from_slice(b"\\t"),
        '\u{8}' => out.extend_from_slice(b"\\b"),
        '\u{c}' => out.extend_from_slice(b"\\f"),
        ' '..='~' => out.push(char as u8),
        _ if char >= ' ' && style == Style::Compact => {
            out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
        }
        _ => {
            for unit in char.encode_utf16(&mut [0; 2]) {
                push_code_unit(out, *unit);
            }
        }
    }
}

fn push_code_unit(out: &mut Vec<u8>, unit: u16) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.extend_from_slice(b"\\u");
    for shift in [12, 8, 4, 0] {
        out.push(DIGITS[usize::from(unit >> shift & 15)]);
    }
}

/// Appends a value in a style: strings and spaces as that style spells them, order kept.
///
/// Numbers keep their spelling in [`Style::Compact`]; in [`Style::Python`] they are what
/// `json.dumps(json.loads(..))` prints, and of duplicate members the last value stands at the first
/// place.
///
/// ```
/// let mut scanner = jsonl::Scanner::default();
/// let value = scanner.scan_slice("{\"é\":[1E-5,-0]}".as_bytes(), 0)?;
/// let mut out = Vec::new();
/// jsonl::respell(&mut out, value.raw(), jsonl::Style::Python);
/// assert_eq!(out, br#"{"\u00e9": [1e-05, 0]}"#);
/// # Ok::<(), jsonl::Error>(())
/// ```
pub fn respell(out: &mut Vec<u8>, raw: Raw<'_>, style: Style) {
    respell_to_depth(out, raw, style, 64);
}

/// Appends what is known to be one JSON value in a style, as [`respell`] does; anything else as it is.
pub fn respell_str(out: &mut Vec<u8>, written: &str, style: Style) {
    respell(out, Raw::from_scanned(written), style);
}

fn respell_to_depth(out: &mut Vec<u8>, raw: Raw<'_>, style: Style, depth: usize) {
    let mut scanner = Scanner::default();
    match scanner.scan_raw(raw) {
        Ok(value) => respell_value(out, value, style, depth, 0),
        Err(_) => out.extend_from_slice(raw.as_str().as_bytes()),
    }
}

fn respell_value(out: &mut Vec<u8>, value: Value<'_>, style: Style, depth: usize, level: usize) {
    let raw = value.raw().as_str();
    match value.kind() {
        Kind::String => respell_string(out, raw, style),
        Kind::Number if style == Style::Python => push_python_number(out, raw),
        Kind::Array | Kind::Object if level == crate::grammar::MAX_INDEXED_DEPTH => {
            // Deeper values are not indexed: scan them by themselves, to a depth that a stack bears.
            match depth.checked_sub(1) {
                Some(depth) => respell_to_depth(out, value.raw(), style, depth),
                None => out.extend_from_slice(raw.as_bytes()),
            }
        }
        Kind::Array => {
            out.push(b'[');
            for (n, item) in value.items().enumerate() {
                if n > 0 {
                    out.extend_from_slice(style.comma().as_bytes());
                }
                respell_value(out, item, style, depth, level + 1);
            }
            out.push(b']');
        }
        Kind::Object => {
            out.push(b'{');
            let members = members_of(value, style);
            for (n, (key, member)) in members.into_iter().enumerate() {
                if n > 0 {
                    out.extend_from_slice(style.comma().as_bytes());
                }
                respell_string(out, key, style);
                out.extend_from_slice(style.colon().as_bytes());
                respell_value(out, member, style, depth, level + 1);
            }
            out.push(b'}');
        }
        _ => out.extend_from_slice(raw.as_bytes()),
    }
}

/// Returns the members; in Python's style, of duplicates the last value at the first place.
fn members_of(value: Value<'_>, style: Style) -> Vec<(&str, Value<'_>)> {
    let members = value.members().map(|(key, member)| (key.as_str(), member));
    if style == Style::Compact {
        return members.collect();
    }
    let mut places = std::collections::HashMap::new();
    let mut kept: Vec<(&str, Value<'_>)> = Vec::new();
    for (key, member) in members {
        let place = *places.entry(key).or_insert(kept.len());
        match kept.get_mut(place) {
            Some(earlier) => earlier.1 = member,
            None => kept.push((key, member)),
        }
    }
    kept
}

fn respell_string(out: &mut Vec<u8>, written: &str, style: Style) {
    let body = written.get(1..written.len() - 1).unwrap_or_default();
    let is_plain = match style {
        Style::Compact => !body.contains('\\'),
        Style::Python => body.bytes().all(|byte| (b' '..=b'~').contains(&byte) && byte != b'\\'),
    };
    if is_plain {
        out.extend_from_slice(written.as_bytes());
        return;
    }
    out.push(b'"');
    let mut chars = Unescape::new(body);
    let mut rest = body;
    while let Some(char) = chars.next() {
        let after = chars.clone();
        match char {
            Some(char) => push_char(out, char, style),
            // Half a surrogate pair: both styles escape it in lower case.
            None => push_code_unit(out, rest.get(2..6).map_or(0xfffd, hex)),
        }
        rest = after.rest();
    }
    out.push(b'"');
}

fn hex(digits: &str) -> u16 {
    u16::from_str_radix(digits, 16).unwrap_or(0xfffd)
}

/// Appends a number as Python's `json` module prints what it read.
fn push_python_number(out: &mut Vec<u8>, written: &str) {
    let is_integer = !written.contains(['.', 'e', 'E']);
    if is_integer {
        out.extend_from_slice(if written == "-0" { "0" } else { written }.as_bytes());
        return;
    }
    let Ok(number) = written.parse::<f64>() else {
        out.extend_from_slice(written.as_bytes());
        return;
    };
    if number.is_infinite() {
        // Python prints `Infinity`, which is no JSON; as written it is, and Python reads it alike.
        out.extend_from_slice(written.as_bytes());
        return;
    }
    // Rust and Python agree on the shortest digits; only where the point stands differs.
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let text = if (-4..16).contains(&exponent) {
        format!("{number:?}")
    } else {
        format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
    };
    let text = if text.contains(['e', '.']) { text } else { text + ".0" };
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn python(written: &str) -> String {
        let mut out = Vec::new();
        respell(&mut out, Raw::from_scanned(written), Style::Python);
        String::from_utf8(out).expect("ASCII")
    }

    fn compact(written: &str) -> String {
        let mut out = Vec::new();
        respell(&mut out, Raw::from_scanned(written), Style::Compact);
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn numbers_as_python_prints_them() {
        let cases = [
            ("1e-5", "1e-05"),
            ("0.00001", "1e-05"),
            ("0.0001", "0.0001"),
            ("1E5", "100000.0"),
            ("1e16", "1e+16"),
            ("1e15", "1000000000000000.0"),
            ("1.50", "1.5"),
            ("-0.0", "-0.0"),
            ("-0", "0"),
            ("1e400", "1e400"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
            ("0.025106700000000003", "0.025106700000000003"),
            ("5e-324", "5e-324"),
            ("0e0", "0.0"),
            ("123456789.123e5", "12345678912300.0"),
        ];
        for (written, expected) in cases {
            assert_eq!(python(written), expected, "{written}");
        }
    }

    #[test]
    fn strings_as_python_prints_them() {
        assert_eq!(python("\"é🎉\u{7f}\\/\\u00E9\\b\""), r#""\u00e9\ud83c\udf89\u007f/\u00e9\b""#);
        assert_eq!(python(r#""\uD800x""#), r#""\ud800x""#);
        assert_eq!(
            compact(r#""\u00e9\ud83c\udf89\u001b\udfff\u2028""#),
            "\"é🎉\\u001b\\udfff\u{2028}\""
        );
    }

    #[test]
    fn spaces_and_duplicates() {
        assert_eq!(python(r#"{ "a":[1,{}],"b":2,"a":[]}"#), r#"{"a": [], "b": 2}"#);
        assert_eq!(compact(r#"{ "a" : [1, {}], "a": 1.50 }"#), r#"{"a":[1,{}],"a":1.50}"#);
    }

    #[test]
    fn nesting_beyond_the_index() {
        let deep = format!("{}1 , \"\\u00e9\"{}", "[ ".repeat(40), "]".repeat(40));
        assert_eq!(compact(&deep), format!("{}1,\"é\"{}", "[".repeat(40), "]".repeat(40)));
    }
}
