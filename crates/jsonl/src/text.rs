//! Strings and values as slices of their line, as written.
//!
//! In: `"a\u0062"`. Out: a [`Text`] with the body `a\u0062`, which decodes to `ab`.

use std::{borrow::Cow, fmt};

use crate::{
    Unescape,
    scan::{unescape, validate},
    tokens::Children,
};

/// A JSON string as written, quotes included.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Text<'l>(&'l str);

impl<'l> Text<'l> {
    /// Creates a text from a slice that the scanner validated as a string.
    pub(crate) fn from_scanned(written: &'l str) -> Self {
        Self(written)
    }

    /// Creates a text from a JSON string literal, or returns `None` if it is not one.
    ///
    /// ```
    /// assert_eq!(jsonl::Text::new(r#""a\n""#).map(|text| text.decode()).as_deref(), Some("a\n"));
    /// assert!(jsonl::Text::new("a").is_none());
    /// ```
    pub fn new(written: &'l str) -> Option<Self> {
        let is_string = written.starts_with('"') && written.ends_with('"');
        (is_string && validate(written.as_bytes()).is_ok()).then_some(Self(written))
    }

    /// Returns the string as written, quotes included.
    pub fn as_str(&self) -> &'l str {
        self.0
    }

    /// Returns the characters between the quotes, as written.
    #[inline]
    pub fn body(&self) -> &'l str {
        self.0.get(1..self.0.len() - 1).unwrap_or_default()
    }

    /// Returns the unescaped text, with U+FFFD for lone surrogates.
    #[inline]
    pub fn decode(&self) -> Cow<'l, str> {
        let body = self.body();
        if has_backslash(body.as_bytes()) { self.unescape() } else { Cow::Borrowed(body) }
    }

    /// Returns the unescaped text; `None` if it has a lone surrogate, which no Rust string can hold.
    ///
    /// ```
    /// let text = |written| jsonl::Text::new(written).expect("a string");
    /// assert_eq!(text(r#""\ud83c\udf89\n""#).try_decode().as_deref(), Some("🎉\n"));
    /// assert_eq!(text(r#""\ud83c\n""#).try_decode(), None);
    /// ```
    pub fn try_decode(&self) -> Option<Cow<'l, str>> {
        let body = self.body();
        if !has_backslash(body.as_bytes()) {
            return Some(Cow::Borrowed(body));
        }
        let (decoded, is_whole) = unescape(body);
        is_whole.then_some(Cow::Owned(decoded))
    }

    #[cold]
    fn unescape(&self) -> Cow<'l, str> {
        Cow::Owned(unescape(self.body()).0)
    }

    /// Returns whether the unescaped text equals `text`.
    // Every member of a record is compared with names by this function. If it is called instead, a
    // conversion takes 1 % more instructions.
    #[inline(always)]
    pub fn is(&self, text: &str) -> bool {
        let body = self.body();
        if body.len() == text.len() {
            return body == text && !has_backslash(body.as_bytes());
        }
        let [first, expected] = [body, text].map(|text| text.as_bytes().first());
        let is_alike = first == expected || first == Some(&b'\\');
        is_alike && body.len() > text.len() && self.is_escaped(text)
    }

    /// Returns whether the string has escapes and equals `text` without them.
    #[cold]
    fn is_escaped(&self, text: &str) -> bool {
        /// The length of `\u0061`, the longest escape of one byte.
        const LONGEST_ESCAPE: usize = 6;
        let body = self.body();
        body.len() <= text.len().saturating_mul(LONGEST_ESCAPE)
            && has_backslash(body.as_bytes())
            && self.unescape() == text
    }

    /// Returns whether the string is empty.
    pub fn is_empty(&self) -> bool {
        self.body().is_empty()
    }

    /// Returns whether the unescaped string is empty or white space, as JavaScript's `trim` sees it ([`is_js_space`]).
    ///
    /// ```
    /// let text = |written| jsonl::Text::new(written).expect("a string");
    /// assert!(text(r#"" \n\u00a0\t""#).is_blank() && text("\"\"").is_blank());
    /// assert!(text(r#""\ufeff""#).is_blank() && !text(r#""\u0085""#).is_blank());
    /// assert!(!text(r#"" \\n""#).is_blank() && !text(r#"" \ud800""#).is_blank());
    /// ```
    pub fn is_blank(&self) -> bool {
        Unescape::new(self.body()).all(|char| char.is_some_and(is_js_space))
    }

    /// Returns whether the string contains a `\u` escape of a printable ASCII character. If not, a
    /// word without quotes and slashes can be searched in the body as it is written.
    ///
    /// ```
    /// let text = |written| jsonl::Text::new(written).expect("a string");
    /// assert!(text(r#""\u0065rror""#).has_needless_escape());
    /// assert!(!text(r#""\u001b[31m\n\ud83d\ude00""#).has_needless_escape());
    /// ```
    pub fn has_needless_escape(&self) -> bool {
        let body = self.body();
        let is_printable = |at: usize| matches!(body.as_bytes().get(at), Some(b'2'..=b'7'));
        body.contains("\\u00") && body.match_indices("\\u00").any(|(at, _)| is_printable(at + 4))
    }

    /// Returns whether the string contains the escape of a surrogate.
    pub fn has_lone_surrogate(&self) -> bool {
        let mut rest = self.body();
        if !rest.contains("\\ud") && !rest.contains("\\uD") {
            return false;
        }
        while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
            let mut chars = Unescape::new(rest.get(at..).unwrap_or_default());
            if chars.next() == Some(None) {
                return true;
            }
            rest = chars.rest();
        }
        false
    }
}

/// Returns whether JavaScript's `trim` removes a character: white space as in Unicode, with U+FEFF and without U+0085.
///
/// ```
/// assert_eq!("\u{feff} a\u{85}".trim_matches(jsonl::is_js_space), "a\u{85}");
/// ```
pub fn is_js_space(char: char) -> bool {
    char == '\u{feff}' || char != '\u{85}' && char.is_whitespace()
}

/// Returns whether there is a backslash. Fast for short strings such as keys and ids.
#[inline]
pub(crate) fn has_backslash(body: &[u8]) -> bool {
    if body.len() > 64 {
        return memchr::memchr(b'\\', body).is_some();
    }
    let (words, rest) = body.as_chunks::<8>();
    // Read the last eight bytes; they overlap the bytes before them.
    let last = body.last_chunk::<8>();
    words.iter().chain(last).any(|word| word_has_backslash(*word))
        || last.is_none() && rest.contains(&b'\\')
}

/// Returns whether one of eight bytes is a backslash: a backslash becomes 0, and only a 0 borrows.
#[inline]
fn word_has_backslash(word: [u8; 8]) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let zeros = u64::from_ne_bytes(word) ^ (ONES * b'\\' as u64);
    zeros.wrapping_sub(ONES) & !zeros & (ONES << 7) != 0
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.decode())
    }
}

/// Any JSON value as written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Raw<'l>(&'l str);

impl<'l> Raw<'l> {
    /// The value `null`.
    pub const NULL: Raw<'static> = Raw("null");

    /// The value `{}`.
    pub const EMPTY_OBJECT: Raw<'static> = Raw("{}");

    /// Creates a value from a slice that the scanner validated.
    pub(crate) fn from_scanned(written: &'l str) -> Self {
        Self(written)
    }

    /// Returns the value as written.
    pub fn as_str(&self) -> &'l str {
        self.0
    }

    /// Returns the value as a text, if it is a string.
    pub fn as_text(&self) -> Option<Text<'l>> {
        self.0.starts_with('"').then_some(Text(self.0))
    }

    /// Returns whether the value is `null`.
    pub fn is_null(&self) -> bool {
        self.0 == "null"
    }

    /// Returns the items of an array as they are written, without an index. Other values have none.
    ///
    /// ```
    /// let list = jsonl::RawBuf::new(r#"[1, [2,3], "a"]"#)?;
    /// let items: Vec<&str> = list.as_raw().items().map(|item| item.as_str()).collect();
    /// assert_eq!(items, ["1", "[2,3]", "\"a\""]);
    /// # Ok::<(), jsonl::Error>(())
    /// ```
    pub fn items(&self) -> impl Iterator<Item = Raw<'l>> + use<'l> {
        let children = self.0.starts_with('[').then(|| Children::from(self.0, 1));
        children.into_iter().flatten().map(|(_, item)| Raw(item))
    }

    /// Returns the members of an object as they are written, without an index. Other values have none.
    ///
    /// ```
    /// let object = jsonl::RawBuf::new(r#"{"a":1, "b":{"c":2}}"#)?;
    /// let members = object.as_raw().members().map(|(key, value)| (key.as_str(), value.as_str()));
    /// assert_eq!(members.collect::<Vec<_>>(), [("\"a\"", "1"), ("\"b\"", "{\"c\":2}")]);
    /// # Ok::<(), jsonl::Error>(())
    /// ```
    pub fn members(&self) -> impl Iterator<Item = (Text<'l>, Raw<'l>)> + use<'l> {
        let children = self.0.starts_with('{').then(|| Children::from(self.0, 1));
        let mut children = children.into_iter().flatten();
        std::iter::from_fn(move || {
            let ((_, key), (_, value)) = (children.next()?, children.next()?);
            Some((Text(key), Raw(value)))
        })
    }

    /// Returns the value as an unsigned integer, if it is spelled as one.
    pub fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// Returns the value as a float, if it is a number.
    pub fn as_f64(&self) -> Option<f64> {
        let is_number = self.0.starts_with(|char: char| char == '-' || char.is_ascii_digit());
        is_number.then(|| self.0.parse().ok()).flatten()
    }
}

impl<'l> From<Text<'l>> for Raw<'l> {
    fn from(text: Text<'l>) -> Self {
        Self(text.0)
    }
}

impl fmt::Display for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(written: &str) -> Text<'_> {
        Text::new(written).expect("a string")
    }

    #[test]
    fn meaning_of_escapes() {
        assert_eq!(text(r#""\ud83c\udf89\u00e9\/\b""#).decode(), "🎉é/\u{8}");
        assert_eq!(text(r#""a\ud800b""#).decode(), "a\u{fffd}b");
        assert!(text(r#""a\ud800b""#).has_lone_surrogate());
        assert!(text(r#""\udc00\ud800""#).has_lone_surrogate());
        assert!(!text(r#""\ud83c\udf89 \\ud800""#).has_lone_surrogate());
        for (written, is_lone) in [
            (r#""\ud83c\udf89é\n\ud83c\udf89""#, false),
            (r#""\ud83c\udf89é\n\ud83cé""#, true),
            (r#""\ud83c\ud83c\udf89""#, true),
            (r#""\\\uDC00""#, true),
            (r#""\\uDC00\\""#, false),
            (r#""é\uD800""#, true),
        ] {
            let of_each = Unescape::new(text(written).body()).any(|char| char.is_none());
            assert_eq!(
                (text(written).has_lone_surrogate(), of_each),
                (is_lone, is_lone),
                "{written}"
            );
        }
        assert!(text(r#""us\u0065r""#).is("user"));
    }

    #[test]
    fn an_escaped_string_is_what_it_means_and_no_other() {
        assert!(text(r#""a\nb""#).is("a\nb"));
        assert!(!text(r#""a\nb""#).is(r"a\nb"));
        assert!(text(r#""a\\nb""#).is(r"a\nb"));
        assert!(!text(r#""us\u0065""#).is("user"));
        for before in 0..50 {
            let (start, end) = ("x".repeat(before), "y".repeat(50 - before));
            assert_eq!(text(&format!("\"{start}\\n{end}\"")).decode(), format!("{start}\n{end}"));
            assert_eq!(text(&format!("\"{start}\\n\"")).decode(), format!("{start}\n"));
            assert_eq!(text(&format!("\"{start}[]\"")).decode(), format!("{start}[]"));
        }
    }

    #[test]
    fn numbers_are_not_rewritten() {
        assert_eq!(Raw("1e-05").as_f64(), Some(1e-5));
        assert_eq!(Raw("18446744073709551615").as_u64(), Some(u64::MAX));
        assert_eq!(Raw("5.0").as_u64(), None);
        assert_eq!(Raw("\"5\"").as_f64(), None);
    }
}
