//! A value that owns its text, for callers that keep it longer than the line.
//!
//! In: `[1, 1e-05]`. Out: a value with the same text.

use std::fmt;

use crate::{Raw, Result, Scanner, Style, Text, respell::respell_scanned, validate};

/// Any JSON value as written, owned.
///
/// ```
/// let input = jsonl::RawBuf::new(r#"{"n":1e-05}"#)?;
/// assert_eq!(input.as_str(), r#"{"n":1e-05}"#);
/// assert!(jsonl::RawBuf::new("{").is_err());
/// # Ok::<(), jsonl::Error>(())
/// ```
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct RawBuf(String);

impl RawBuf {
    /// Creates a value from its text.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not one JSON value.
    pub fn new(written: impl Into<String>) -> Result<Self> {
        let written = written.into();
        validate(written.as_bytes())?;
        Ok(Self(written))
    }

    /// Creates a value from its text, in [`Style::Compact`].
    ///
    /// ```
    /// assert_eq!(jsonl::RawBuf::compact(r#" {"n": 1.50} "#)?.as_str(), r#"{"n":1.50}"#);
    /// assert!(jsonl::RawBuf::compact("{").is_err());
    /// # Ok::<(), jsonl::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not one JSON value.
    pub fn compact(written: &str) -> Result<Self> {
        let mut scanner = Scanner::default();
        let value = scanner.scan_text(written, 0)?;
        let mut compact = Vec::with_capacity(written.len());
        respell_scanned(&mut compact, value, Style::Compact);
        match String::from_utf8(compact) {
            Ok(compact) => Ok(Self(compact)),
            // Never: parts of a text were copied.
            Err(_) => Self::new(written),
        }
    }

    /// Creates a value from text that is known to be one JSON value.
    #[cfg(feature = "serde")]
    pub(crate) fn from_text(written: String) -> Self {
        Self(written)
    }

    /// Returns the value as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the value as a slice.
    pub fn as_raw(&self) -> Raw<'_> {
        Raw::from_scanned(&self.0)
    }

    /// Returns the value as a text, if it is a string.
    pub fn as_text(&self) -> Option<Text<'_>> {
        self.as_raw().as_text()
    }
}

impl From<Raw<'_>> for RawBuf {
    fn from(raw: Raw<'_>) -> Self {
        Self(raw.as_str().to_owned())
    }
}

impl fmt::Display for RawBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
