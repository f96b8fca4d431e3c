//! Spells strings, lists and objects in other ways, as programs write them.
//!
//! In: `"é/"` and `{"a":1,"b":[2]}`. Out: `"\u00e9/"`, `"é\/"`, and `{"a": 1, "b": [2]}`, `{ "a": 1, "b": [ 2 ] }`. No
//! spelling has another value.

/// A way to spell a string.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct TextManner {
    /// Whether characters beyond ASCII are escaped.
    is_ascii: bool,
    /// Whether escapes have capital digits: `\u00E9`.
    is_upper: bool,
    /// Whether `/` is `\/`.
    escapes_slash: bool,
    /// Whether `<`, `>` and `&` are escaped.
    escapes_html: bool,
    /// Whether U+2028 and U+2029, which end lines of JavaScript, are escaped.
    escapes_separators: bool,
}

const RAW: TextManner = TextManner {
    is_ascii: false,
    is_upper: false,
    escapes_slash: false,
    escapes_html: false,
    escapes_separators: false,
};
const ASCII: TextManner = TextManner { is_ascii: true, ..RAW };

/// The manners of strings, the most frequent first.
pub(super) const TEXT_MANNERS: [TextManner; 7] = [
    // Python's json, and JavaScript's.
    ASCII,
    RAW,
    TextManner { escapes_separators: true, ..RAW },
    // As PHP and Go print strings.
    TextManner { escapes_slash: true, ..ASCII },
    TextManner { escapes_html: true, escapes_separators: true, ..RAW },
    TextManner { escapes_slash: true, ..RAW },
    TextManner { is_upper: true, ..ASCII },
];

/// A way to spell a list or an object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct ContainerManner {
    comma: &'static str,
    colon: &'static str,
    /// The blank behind an opening and before a closing bracket, if something is between them.
    pad: &'static str,
    text: Option<TextManner>,
}

const SPACED: ContainerManner = ContainerManner { comma: ", ", colon: ": ", pad: "", text: None };

/// The manners of lists and objects, the most frequent first.
pub(super) const CONTAINER_MANNERS: [ContainerManner; 5] = [
    // Python's json, with escapes and without.
    ContainerManner { text: Some(ASCII), ..SPACED },
    ContainerManner { text: Some(RAW), ..SPACED },
    // JavaScript's.
    ContainerManner { comma: ",", colon: ":", pad: "", text: Some(RAW) },
    // As people write them.
    ContainerManner { pad: " ", ..SPACED },
    ContainerManner { comma: ",", colon: ": ", ..SPACED },
];

impl TextManner {
    /// Returns a string, with its quotes, in this manner; `None` if it is not one.
    pub(super) fn spelled(self, string: &str) -> Option<String> {
        let body = string.strip_prefix('"')?.strip_suffix('"')?;
        let mut out = String::with_capacity(string.len());
        out.push('"');
        let mut rest = body;
        while let Some(char) = rest.chars().next() {
            rest = rest.get(char.len_utf8()..)?;
            if char != '\\' {
                self.push(&mut out, char);
                continue;
            }
            let escape = rest.chars().next()?;
            rest = rest.get(escape.len_utf8()..)?;
            match escape {
                '/' => self.push(&mut out, '/'),
                'u' => {
                    let unit = read_unit(rest)?;
                    rest = rest.get(4..)?;
                    let low = || rest.strip_prefix("\\u").and_then(read_unit);
                    match char::from_u32(unit.into()) {
                        Some(char) if char >= ' ' && !matches!(char, '"' | '\\') => {
                            self.push(&mut out, char);
                        }
                        Some(_) => self.push_unit(&mut out, unit),
                        None => match low().and_then(|low| pair(unit, low)) {
                            Some(char) => {
                                self.push(&mut out, char);
                                rest = rest.get(6..)?;
                            }
                            None => self.push_unit(&mut out, unit),
                        },
                    }
                }
                other => out.extend(['\\', other]),
            }
        }
        out.push('"');
        Some(out)
    }

    /// Appends a character that needs no escape.
    fn push(self, out: &mut String, char: char) {
        let is_escaped = match char {
            '/' if self.escapes_slash => return out.push_str("\\/"),
            '<' | '>' | '&' => self.escapes_html,
            '\u{2028}' | '\u{2029}' => self.escapes_separators || self.is_ascii,
            _ => self.is_ascii && !char.is_ascii(),
        };
        match is_escaped {
            true => {
                char.encode_utf16(&mut [0; 2]).iter().for_each(|unit| self.push_unit(out, *unit))
            }
            false => out.push(char),
        }
    }

    fn push_unit(self, out: &mut String, unit: u16) {
        out.push_str(&match self.is_upper {
            true => format!("\\u{unit:04X}"),
            false => format!("\\u{unit:04x}"),
        });
    }
}

/// Reads the four digits of an escape.
fn read_unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.get(..4)?, 16).ok()
}

/// Returns the character of two halves.
fn pair(high: u16, low: u16) -> Option<char> {
    char::decode_utf16([high, low]).next()?.ok()
}

impl ContainerManner {
    /// Returns a list or an object in this manner; `None` if a string in it has no end. Blanks other than spaces are kept.
    pub(super) fn spelled(self, value: &str) -> Option<String> {
        let (bytes, mut out, mut at) = (value.as_bytes(), String::with_capacity(value.len()), 0);
        while let Some(byte) = bytes.get(at) {
            let start = at;
            at += 1;
            match byte {
                b'"' => {
                    while *bytes.get(at)? != b'"' {
                        at += if bytes.get(at) == Some(&b'\\') { 2 } else { 1 };
                    }
                    at += 1;
                    let string = value.get(start..at)?;
                    match self.text {
                        Some(manner) => out.push_str(&manner.spelled(string)?),
                        None => out.push_str(string),
                    }
                }
                b',' => out.push_str(self.comma),
                b':' => out.push_str(self.colon),
                b' ' => {}
                b'{' | b'[' => {
                    out.push(char::from(*byte));
                    if !matches!(bytes.get(at), Some(b'}' | b']')) {
                        out.push_str(self.pad);
                    }
                }
                b'}' | b']' => {
                    if !matches!(bytes.get(start.checked_sub(1)?), Some(b'{' | b'[')) {
                        out.push_str(self.pad);
                    }
                    out.push(char::from(*byte));
                }
                _ => out.push(char::from(*byte)),
            }
        }
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_spelled_in_each_manner() {
        let string = r#""é\u00e9\/\n\u0001\ud83c\udf89<\ud800\u0022""#;
        let spelled = TEXT_MANNERS.map(|manner| manner.spelled(string).expect("a string"));
        assert_eq!(
            spelled,
            [
                r#""\u00e9\u00e9/\n\u0001\ud83c\udf89<\ud800\u0022""#,
                r#""éé/\n\u0001🎉<\ud800\u0022""#,
                r#""éé/\n\u0001🎉<\ud800\u0022""#,
                r#""\u00e9\u00e9\/\n\u0001\ud83c\udf89<\ud800\u0022""#,
                r#""éé/\n\u0001🎉\u003c\ud800\u0022""#,
                r#""éé\/\n\u0001🎉<\ud800\u0022""#,
                r#""\u00E9\u00E9/\n\u0001\uD83C\uDF89<\uD800\u0022""#,
            ]
        );
        for broken in ["\"", "\"\\\"", "\"\\u12\"", "\"\\ué12\"", "1"] {
            assert_eq!(ASCII.spelled(broken), None, "{broken}");
        }
    }

    #[test]
    fn containers_are_spelled_in_each_manner() {
        let value = r#"{"a":[1,{}],"é, ":[]}"#;
        let spelled = CONTAINER_MANNERS.map(|manner| manner.spelled(value).expect("an object"));
        assert_eq!(
            spelled,
            [
                r#"{"a": [1, {}], "\u00e9, ": []}"#,
                r#"{"a": [1, {}], "é, ": []}"#,
                r#"{"a":[1,{}],"é, ":[]}"#,
                r#"{ "a": [ 1, {} ], "é, ": [] }"#,
                r#"{"a": [1,{}],"é, ": []}"#,
            ]
        );
        assert_eq!(SPACED.spelled("[\"a"), None);
    }
}
