//! The body of a JSON string, or a part of it.
//!
//! In: Codex's `"image_url":"data:image/png;base64,iVBO.."`. Out: `image/png` and `iVBO..`.

use std::borrow::Cow;

use jsonl::Text;

/// The body of a JSON string, or a part of it, as written: without quotes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TextBody<'l>(&'l str);

impl<'l> TextBody<'l> {
    /// Creates a body from a part of a string's body. The part must not end inside an escape.
    pub fn new(body: &'l str) -> Self {
        Self(body)
    }

    /// Returns the body as written.
    pub fn as_str(&self) -> &'l str {
        self.0
    }

    /// Returns the unescaped text.
    ///
    /// ```
    /// assert_eq!(core_model::TextBody::new(r"image\/png").decode(), "image/png");
    /// ```
    pub fn decode(&self) -> Cow<'l, str> {
        if !self.0.contains('\\') {
            return Cow::Borrowed(self.0);
        }
        let quoted = format!("\"{}\"", self.0);
        let decoded = Text::new(&quoted).map(|text| text.decode().into_owned());
        Cow::Owned(decoded.unwrap_or_else(|| self.0.to_owned()))
    }

    /// Returns whether the unescaped text equals `text`.
    pub fn is(&self, text: &str) -> bool {
        self.decode() == text
    }

    /// Returns whether the body is base64 as a browser's `fetch` decodes it in a data URL: digits in groups of
    /// four, of which the last may be shorter, and the padding that completes it or none.
    ///
    /// ```
    /// let is_base64 = |body| core_model::TextBody::new(body).is_base64();
    /// assert!(is_base64("iVBORw==") && is_base64("iVBORw") && is_base64(""));
    /// assert!(!is_base64("iVBOR") && !is_base64("iVBORw=") && !is_base64("[image removed]"));
    /// ```
    pub fn is_base64(&self) -> bool {
        let decoded = self.decode();
        let body = decoded.as_bytes();
        let digits = match body {
            [digits @ .., b'=', b'='] | [digits @ .., b'='] if body.len().is_multiple_of(4) => {
                digits
            }
            _ => body,
        };
        let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
        digits.len() % 4 != 1 && digits.iter().all(is_digit)
    }

    /// Returns whether the body is base64 with its padding, without which OpenCode's client ends with an error.
    ///
    /// ```
    /// let is_padded = |body| core_model::TextBody::new(body).is_padded_base64();
    /// assert!(is_padded("iVBORw==") && !is_padded("iVBORw"));
    /// ```
    pub fn is_padded_base64(&self) -> bool {
        self.is_base64() && self.decode().len().is_multiple_of(4)
    }

    /// Returns whether the body is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'l> From<Text<'l>> for TextBody<'l> {
    fn from(text: Text<'l>) -> Self {
        Self(text.body())
    }
}
