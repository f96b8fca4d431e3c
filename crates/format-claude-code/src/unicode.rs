//! Normal forms of Unicode; without feature `unicode`, characters as they are.

/// Returns the characters of a text, composed (NFC).
pub(crate) fn nfc(text: &str) -> impl Iterator<Item = char> {
    #[cfg(feature = "unicode")]
    let chars = unicode_normalization::UnicodeNormalization::nfc(text);
    #[cfg(not(feature = "unicode"))]
    let chars = text.chars();
    chars
}

/// Returns the characters of a text in their compatible forms, composed (NFKC).
pub(crate) fn nfkc(text: &str) -> impl Iterator<Item = char> {
    #[cfg(feature = "unicode")]
    let chars = unicode_normalization::UnicodeNormalization::nfkc(text);
    #[cfg(not(feature = "unicode"))]
    let chars = text.chars();
    chars
}
