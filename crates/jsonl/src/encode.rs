//! Appends JSON in one of the two spellings of the formats.
//!
//! In: `é`. Out: `"é"` in the compact style, `"\u00e9"` in Python's.

/// A spelling of JSON.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Style {
    /// JavaScript's `JSON.stringify` and serde_json: no spaces, non-ASCII characters unescaped.
    Compact,
    /// Python's `json.dumps`: `", "` and `": "`, ASCII only, Python's numbers.
    Python,
}

impl Style {
    /// Returns the separator of members and items.
    pub fn comma(self) -> &'static str {
        match self {
            Style::Compact => ",",
            Style::Python => ", ",
        }
    }

    /// Returns the separator of a key and its value.
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
    let is_plain = |byte: u8| match byte {
        b'"' | b'\\' => false,
        b' '..=b'~' => true,
        _ => byte >= 0x80 && style == Style::Compact,
    };
    out.push(b'"');
    let mut rest = text;
    loop {
        let n_plain = rest.bytes().position(|byte| !is_plain(byte)).unwrap_or(rest.len());
        let (plain, after) = rest.split_at(n_plain);
        out.extend_from_slice(plain.as_bytes());
        let mut chars = after.chars();
        let Some(char) = chars.next() else { break };
        push_char(out, char, style);
        rest = chars.as_str();
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
        out.extend(DIGITS.get(usize::from(unit >> shift & 15)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_spelled_like_their_characters() {
        let text = "plain \"quoted\" \\ \u{7f}\u{80}é漢🎉\n\r\t\u{8}\u{c}\u{1}\0 end ~";
        for style in [Style::Compact, Style::Python] {
            for (start, _) in text.char_indices() {
                let (mut runs, mut chars) = (Vec::new(), vec![b'"']);
                push_string(&mut runs, &text[start..], style);
                text[start..].chars().for_each(|char| push_char(&mut chars, char, style));
                chars.push(b'"');
                assert_eq!(runs, chars);
            }
        }
    }
}
