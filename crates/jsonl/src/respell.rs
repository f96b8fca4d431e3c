//! Converts values between the two spellings of JSON.
//!
//! ```text
//! compact  {"é":[1E-5,-0],"n":1.50}
//! python   {"\u00e9": [1e-05, 0], "n": 1.5}
//! ```
//!
//! The way back restores the compact spelling of strings and spaces. It cannot restore numbers such
//! as `1E-5`, so [`Respeller`] reports whether the original bytes can be restored.

mod duplicates;
mod tokens;

pub use self::tokens::each_respelt;
pub(crate) use self::tokens::push_token;
use self::{
    duplicates::{has_duplicates, has_many_members, without_duplicates},
    tokens::{is_spelled_as, respell_tokens},
};
use crate::{
    Kind, Raw, Scanner, Style, Unescape, Value,
    encode::{push_char, push_code_unit},
    number::push_python_number,
    scan::same::n_same,
};

/// Appends a value in the spelling of a style. Members keep their order.
///
/// Numbers keep their spelling in [`Style::Compact`]. In [`Style::Python`] numbers are printed as
/// by `json.dumps(json.loads(..))`, and of duplicate members the last value is at the first place.
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
    respell_to_depth(&mut Scanner::default(), out, raw, style, MAX_RESCANS);
}

/// Appends a value that is scanned already, as [`respell`] does.
pub(crate) fn respell_scanned(out: &mut Vec<u8>, value: Value<'_>, style: Style) {
    respell_value(out, value, style, MAX_RESCANS, 0);
}

/// Appends a JSON value in a style, as [`respell`] does. Appends other text unchanged.
pub fn respell_str(out: &mut Vec<u8>, written: &str, style: Style) {
    respell(out, Raw::from_scanned(written), style);
}

/// The result of respelling a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Respelt {
    /// The bytes are unchanged.
    Same,
    /// The bytes changed. Respelling them in the first style restores them.
    Reversible,
    /// The original bytes cannot be restored.
    Other,
}

/// Respeller of values, with reused buffers.
///
/// ```
/// use jsonl::{Respeller, Respelt, Style, Text};
///
/// let mut respeller = Respeller::default();
/// let mut respell = |written: &str| {
///     let text = Text::new(written).expect("a string");
///     respeller.respell(&mut Vec::new(), text.into(), Style::Compact, Style::Python)
/// };
/// assert_eq!(respell("\"e\\n\""), Respelt::Same);
/// assert_eq!(respell("\"é\\n\""), Respelt::Reversible);
/// assert_eq!(respell("\"é\\u00e9\""), Respelt::Other);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Respeller {
    scanner: Scanner,
    scratch: Vec<u8>,
}

impl Respeller {
    /// Appends a value of the style `from` in the style `to`. Returns whether the original bytes
    /// can be restored from the appended ones.
    pub fn respell(&mut self, out: &mut Vec<u8>, raw: Raw<'_>, from: Style, to: Style) -> Respelt {
        let written = raw.as_str().as_bytes();
        let start = out.len();
        // Whether a string has its style's spelling is visible while it is read.
        if let Some(body) = body_of(raw.as_str()) {
            let is_canonical = push_string(out, body, to, from);
            return match out.get(start..) {
                Some(appended) if appended == written => Respelt::Same,
                _ if is_canonical => Respelt::Reversible,
                _ => Respelt::Other,
            };
        }
        respell_to_depth(&mut self.scanner, out, raw, to, MAX_RESCANS);
        self.free_long();
        let appended = out.get(start..).unwrap_or_default();
        if appended == written {
            return Respelt::Same;
        }
        self.scratch.clear();
        if let Ok(appended) = std::str::from_utf8(appended) {
            if appended.len() > LONG
                && let Some(is_reversible) = is_spelled_as(appended, from, raw.as_str())
            {
                return if is_reversible { Respelt::Reversible } else { Respelt::Other };
            }
            let back = Raw::from_scanned(appended);
            respell_to_depth(&mut self.scanner, &mut self.scratch, back, from, MAX_RESCANS);
        }
        let is_reversible = self.scratch == written;
        self.free_long();
        if is_reversible { Respelt::Reversible } else { Respelt::Other }
    }

    /// Frees the memory of a long value. It would stay beside the next one.
    fn free_long(&mut self) {
        self.scanner.free_beyond(LONG);
        if self.scratch.capacity() > LONG {
            self.scratch = Vec::new();
        }
    }

    /// Appends a value in a style, as [`respell`] does.
    pub fn append(&mut self, out: &mut Vec<u8>, raw: Raw<'_>, style: Style) {
        respell_to_depth(&mut self.scanner, out, raw, style, MAX_RESCANS);
        self.scanner.free_beyond(LONG);
    }
}

/// Length in bytes beyond which a value leaves no memory, and is compared without a copy.
const LONG: usize = if cfg!(test) { 64 } else { 1024 * 1024 };

/// Appends the body of a JSON string, in a style.
pub fn respell_body(out: &mut Vec<u8>, body: &str, style: Style) {
    push_body(out, body, style, style);
}

fn respell_to_depth(
    scanner: &mut Scanner,
    out: &mut Vec<u8>,
    raw: Raw<'_>,
    style: Style,
    depth: usize,
) {
    let written = raw.as_str();
    // A string needs no index.
    if let Some(body) = body_of(written) {
        push_string(out, body, style, style);
        return;
    }
    match scanner.scan_raw(raw) {
        Ok(value) => respell_value(out, value, style, depth, 0),
        Err(_) => out.extend_from_slice(written.as_bytes()),
    }
}

/// The number of scans inside each other that fit on a stack.
const MAX_RESCANS: usize = 64;

/// Length in bytes up to which a value that is too deep for the index is scanned separately.
const MAX_RESCANNED: usize = 64 * 1024;

/// Returns the characters between the quotes of a string.
fn body_of(written: &str) -> Option<&str> {
    written.strip_prefix('"')?.strip_suffix('"')
}

fn respell_value(out: &mut Vec<u8>, value: Value<'_>, style: Style, depth: usize, level: usize) {
    let raw = value.raw().as_str();
    match value.kind() {
        Kind::String => {
            push_string(out, body_of(raw).unwrap_or_default(), style, style);
        }
        Kind::Number if style == Style::Python => push_python_number(out, raw),
        Kind::Array | Kind::Object if level == crate::scan::grammar::MAX_INDEXED_DEPTH => {
            // Deeper values are not indexed. Scan them separately, to a depth that fits on a stack.
            // Long values are excluded, because the scan of each level stays in memory.
            match depth.checked_sub(1) {
                Some(_) if raw.len() > MAX_RESCANNED => respell_tokens(out, raw, style),
                Some(depth) => {
                    respell_to_depth(&mut Scanner::default(), out, value.raw(), style, depth);
                }
                None => out.extend_from_slice(raw.as_bytes()),
            }
        }
        Kind::Array | Kind::Object if !value.is_indexed() => respell_tokens(out, raw, style),
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
            let mut push = |n: usize, key: &str, member: Value<'_>| {
                if n > 0 {
                    out.extend_from_slice(style.comma().as_bytes());
                }
                push_string(out, body_of(key).unwrap_or_default(), style, style);
                out.extend_from_slice(style.colon().as_bytes());
                respell_value(out, member, style, depth, level + 1);
            };
            let has_duplicates = style == Style::Python && has_duplicates(value);
            if has_duplicates && has_many_members(value) {
                out.pop();
                return respell_tokens(out, raw, style);
            }
            if !has_duplicates {
                for (n, (key, member)) in value.members().enumerate() {
                    push(n, key.as_str(), member);
                }
            } else {
                for (n, (key, member)) in without_duplicates(value).into_iter().enumerate() {
                    push(n, key, member);
                }
            }
            out.push(b'}');
        }
        _ => out.extend_from_slice(raw.as_bytes()),
    }
}

/// Appends a string by its body as written.
///
/// Returns whether the body has the spelling of the style `from`.
fn push_string(out: &mut Vec<u8>, body: &str, to: Style, from: Style) -> bool {
    out.push(b'"');
    let is_canonical = push_body(out, body, to, from);
    out.push(b'"');
    is_canonical
}

fn push_body(out: &mut Vec<u8>, body: &str, to: Style, from: Style) -> bool {
    let is_ascii = to == Style::Python || from == Style::Python;
    let mut is_canonical = true;
    let mut rest = body;
    loop {
        let (same, other) =
            rest.split_at_checked(n_same(rest.as_bytes(), is_ascii)).unwrap_or((rest, ""));
        out.extend_from_slice(same.as_bytes());
        if other.is_empty() {
            return is_canonical;
        }
        let mut chars = Unescape::new(other);
        let char = chars.next().flatten();
        rest = chars.rest();
        let written = other.get(..other.len() - rest.len()).unwrap_or_default();
        let start = out.len();
        push_either(out, char, written, from);
        is_canonical &= out.get(start..) == Some(written.as_bytes());
        if to != from {
            out.truncate(start);
            push_either(out, char, written, to);
        }
    }
}

/// Appends a character, or half a surrogate pair: both styles escape it, in lower case.
fn push_either(out: &mut Vec<u8>, char: Option<char>, written: &str, style: Style) {
    match char {
        Some(char) => push_char(out, char, style),
        None => push_code_unit(out, written.get(2..6).map_or(0xfffd, hex)),
    }
}

fn hex(digits: &str) -> u16 {
    u16::from_str_radix(digits, 16).unwrap_or(0xfffd)
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
        // Keys are compared unescaped. The two halves of a surrogate pair are different keys.
        assert_eq!(python(r#"{"\u0061":1,"é":2,"a":3,"\u00e9":4}"#), r#"{"a": 3, "\u00e9": 4}"#);
        assert_eq!(python(r#"{"\ud800":1,"\uD801":2}"#), r#"{"\ud800": 1, "\ud801": 2}"#);
    }

    #[test]
    fn more_values_than_the_index_has_room_for() {
        let item = r#"{"é" : [1E5, -0,true , null],"\"\\":"x\\","":{}}"#;
        let n_items = crate::scan::node::MIN_LIMIT / 8;
        let many = format!("[{item}{}]", format!(", {item}").repeat(n_items));
        let one = format!("[{item}]");
        for respell in [python, compact] {
            let expected = respell(&one).trim_start_matches('[').trim_end_matches(']').to_owned();
            let separator = if expected.contains(": ") { ", " } else { "," };
            let expected = vec![expected; n_items + 1].join(separator);
            assert!(respell(&many) == format!("[{expected}]"));
        }
    }

    #[test]
    fn nesting_beyond_the_index() {
        let deep = format!("{}1 , \"\\u00e9\"{}", "[ ".repeat(40), "]".repeat(40));
        assert_eq!(compact(&deep), format!("{}1,\"é\"{}", "[".repeat(40), "]".repeat(40)));
    }

    #[test]
    fn the_way_back_is_told_as_it_is() {
        let pieces = [
            "a",
            "0123456789",
            "\\n",
            "\\\"",
            "\\\\",
            "\\/",
            "é",
            "\\u00e9",
            "\\u00E9",
            "🎉",
            "\\u0007",
            "\\ud83c\\udf89",
            "\\ud83c",
            "\\udf89",
            "\\uDF89",
            "\\u000a",
            "\u{7f}",
            "\\u007f",
            "\u{2028}",
        ];
        let mut respeller = Respeller::default();
        let mut state = 1_u64;
        let mut seen = [0; 3];
        for _ in 0..if cfg!(miri) { 60 } else { 5_000 } {
            let mut written = String::from("\"");
            for _ in 0..state % 7 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                written.push_str(pieces[(state >> 33) as usize % pieces.len()]);
            }
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1) >> 1;
            written.push('"');
            // Long values are compared without a copy.
            let object = format!("{{\"é\":[1E5, {written}],\"b\":{written},\"é\":{{}}}}");
            for written in [written.clone(), format!("[{written}]"), object] {
                for (from, to) in [(Style::Compact, Style::Python), (Style::Python, Style::Compact)]
                {
                    let mut out = Vec::new();
                    let told = respeller.respell(&mut out, Raw::from_scanned(&written), from, to);
                    let mut back = Vec::new();
                    respell_str(&mut back, std::str::from_utf8(&out).expect("UTF-8"), from);
                    let expected = if out == written.as_bytes() {
                        Respelt::Same
                    } else if back == written.as_bytes() {
                        Respelt::Reversible
                    } else {
                        Respelt::Other
                    };
                    assert_eq!(told, expected, "{written} from {from:?}");
                    seen[told as usize] += 1;
                }
            }
        }
        assert!(seen.iter().all(|n| *n > 10), "{seen:?}");
    }
}
