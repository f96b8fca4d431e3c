//! Validates UTF-8, with vector instructions if the feature is on.

/// Returns bytes as text; `None` if they are not UTF-8.
#[inline]
pub(crate) fn from_utf8(bytes: &[u8]) -> Option<&str> {
    #[cfg(feature = "simdutf8")]
    let text = simdutf8::basic::from_utf8(bytes).ok();
    #[cfg(not(feature = "simdutf8"))]
    let text = std::str::from_utf8(bytes).ok();
    text
}
