//! Unescapes strings, and decodes values into types with simd-json or serde_json.

use serde::de::DeserializeOwned;

use crate::{Error, ErrorKind, Raw, Result};

/// Decodes a value into a type.
///
/// simd-json decodes a copy, because it rewrites its input. serde_json decodes valid JSON that
/// simd-json rejects: integers of 30 digits, nesting beyond 1,024.
///
/// # Errors
///
/// Returns an error if the value does not have the shape of `T`.
///
/// ```
/// let mut scanner = jsonl::Scanner::default();
/// let value = scanner.scan_slice(br#"{"cost":[0.5,1e-05]}"#, 0)?;
/// let cost: Vec<f64> = jsonl::decode(value.get("cost").expect("a member").raw())?;
/// assert_eq!(cost, [0.5, 1e-5]);
/// # Ok::<(), jsonl::Error>(())
/// ```
pub fn decode<T: DeserializeOwned>(raw: Raw<'_>) -> Result<T> {
    let mut scratch = raw.as_str().as_bytes().to_vec();
    if let Ok(value) = simd_json::serde::from_slice(&mut scratch) {
        return Ok(value);
    }
    serde_json::from_str(raw.as_str())
        .map_err(|error| Error { offset: error.column() as u64, kind: ErrorKind::UnexpectedType })
}

/// The characters of a JSON string's body; `None` for half a surrogate pair.
#[derive(Clone, Debug)]
pub struct Unescape<'l> {
    rest: &'l str,
}

impl<'l> Unescape<'l> {
    /// Creates an iterator over the body of a valid JSON string.
    pub fn new(body: &'l str) -> Self {
        Self { rest: body }
    }

    fn code_unit(&self) -> Option<u32> {
        let digits = self.rest.strip_prefix("\\u")?.get(..4)?;
        u32::from_str_radix(digits, 16).ok()
    }

    /// Returns the rest of the body, as written.
    pub fn rest(&self) -> &'l str {
        self.rest
    }

    fn skip(&mut self, n: usize) {
        self.rest = self.rest.get(n..).unwrap_or_default();
    }
}

impl Iterator for Unescape<'_> {
    type Item = Option<char>;

    fn next(&mut self) -> Option<Option<char>> {
        let first = self.rest.chars().next()?;
        if first != '\\' {
            self.skip(first.len_utf8());
            return Some(Some(first));
        }
        if let Some(unit) = self.code_unit() {
            self.skip(6);
            if !(0xd800..0xdc00).contains(&unit) {
                return Some(char::from_u32(unit));
            }
            let low = self.code_unit().filter(|low| (0xdc00..0xe000).contains(low));
            let pair = low
                .and_then(|low| char::from_u32(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)));
            if pair.is_some() {
                self.skip(6);
            }
            return Some(pair);
        }
        let escaped = self.rest.as_bytes().get(1).copied();
        self.skip(2);
        Some(Some(match escaped {
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(byte) => char::from(byte),
            None => '\\',
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_simd_json_refuses_is_still_decoded() {
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert!(decode::<serde::de::IgnoredAny>(Raw::from_scanned(&deep)).is_ok());
        let big = "[123456789012345678901234567890]";
        assert_eq!(decode::<Vec<f64>>(Raw::from_scanned(big)), Ok(vec![1.2345678901234568e29]));
    }
}
