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
    out.reserve(text.len() + 2);
    out.push(b'"');
    let mut rest = text;
    loop {
        let n_plain = match style {
            Style::Compact => plain_len(rest.as_bytes(), escaped),
            Style::Python => plain_len(rest.as_bytes(), escaped_by_python),
        };
        let (plain, after) = rest.split_at(n_plain);
        out.extend_from_slice(plain.as_bytes());
        let escape: [u8; 2] = match after.as_bytes().first() {
            None => break,
            Some(b'\n') => *b"\\n",
            Some(b'"') => *b"\\\"",
            Some(b'\\') => *b"\\\\",
            Some(_) => {
                let mut chars = after.chars();
                chars.next().into_iter().for_each(|char| push_char(out, char, style));
                rest = chars.as_str();
                continue;
            }
        };
        out.extend_from_slice(&escape);
        rest = after.get(1..).unwrap_or_default();
    }
    out.push(b'"');
}

/// Returns `text` as a JSON string in [`Style::Compact`].
///
/// ```
/// assert_eq!(jsonl::json_string("é\n"), r#""é\n""#);
/// ```
pub fn json_string(text: &str) -> String {
    let mut out = Vec::new();
    push_string(&mut out, text, Style::Compact);
    String::from_utf8(out).unwrap_or_default()
}

/// The bytes that are looked at together.
const WORD: usize = 8;

/// Each byte of a word 1, and the highest bit of each byte.
const ONES: u64 = u64::MAX / 255;
const HIGHEST: u64 = ONES << 7;

/// Sets the highest bit of the first byte that is escaped, if there is one, and of no byte before it.
/// The borrow of a subtraction may set bits behind it.
fn escaped(word: u64) -> u64 {
    let is_zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let is_control = word.wrapping_sub(ONES * u64::from(b' ')) & !word;
    let is_quote = is_zero(word ^ (ONES * u64::from(b'"')));
    let is_backslash = is_zero(word ^ (ONES * u64::from(b'\\')));
    (is_control | is_quote | is_backslash) & HIGHEST
}

/// Also sets the bits of bytes from 0x7f on.
fn escaped_by_python(word: u64) -> u64 {
    escaped(word) | (word | word.wrapping_add(ONES)) & HIGHEST
}

/// Returns the number of bytes before the first escaped one. In: `no "quotes"`. Out: 3.
fn plain_len(bytes: &[u8], escaped: impl Fn(u64) -> u64) -> usize {
    let (words, rest) = bytes.as_chunks::<WORD>();
    for (word_idx, word) in words.iter().enumerate() {
        let escaped = escaped(u64::from_le_bytes(*word));
        if escaped != 0 {
            return word_idx * WORD + escaped.trailing_zeros() as usize / 8;
        }
    }
    let is_escaped = |byte: &u8| escaped(ONES * u64::from(*byte)) != 0;
    bytes.len() - rest.len() + rest.iter().position(is_escaped).unwrap_or(rest.len())
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
    fn the_first_escaped_byte_is_found_at_any_place() {
        for byte in u8::MIN..=u8::MAX {
            for place in 0..20 {
                let mut bytes = [b'a'; 20];
                bytes[place] = byte;
                let is_escaped = byte < b' ' || matches!(byte, b'"' | b'\\');
                let expected = if is_escaped { place } else { 20 };
                assert_eq!(plain_len(&bytes, escaped), expected, "{byte} at {place}");
                let expected = if is_escaped || byte > b'~' { place } else { 20 };
                assert_eq!(plain_len(&bytes, escaped_by_python), expected, "{byte} at {place}");
            }
        }
    }

    #[test]
    fn runs_are_spelled_like_their_characters() {
        let long = "more than a word of eight bytes, é and 漢, ".repeat(3);
        let text = "plain \"quoted\" \\ \u{7f}\u{80}é漢🎉\n\r\t\u{8}\u{c}\u{1}\0 end ~";
        let text = &format!("{text}{long}{text}{long}\"");
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
