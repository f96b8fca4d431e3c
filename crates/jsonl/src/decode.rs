//! Decodes values into Rust types: with simd-json first, and with serde_json where it refuses.

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
