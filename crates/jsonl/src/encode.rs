//! The two ways in which the formats spell JSON.

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

pub(crate) fn push_char(out: &mut Vec<u8>, char: char, style: Style) {
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

pub(crate) fn push_code_unit(out: &mut Vec<u8>, unit: u16) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.extend_from_slice(b"\\u");
    for shift in [12, 8, 4, 0] {
        out.push(DIGITS[usize::from(unit >> shift & 15)]);
    }
}
