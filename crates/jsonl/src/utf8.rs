//! Whether bytes are UTF-8, as fast as the features allow.

/// Returns bytes as text, if they are UTF-8.
#[inline]
pub(crate) fn from_utf8(bytes: &[u8]) -> Option<&str> {
    #[cfg(feature = "simdutf8")]
    let text = simdutf8::basic::from_utf8(bytes).ok();
    #[cfg(not(feature = "simdutf8"))]
    let text = std::str::from_utf8(bytes).ok();
    text
}
