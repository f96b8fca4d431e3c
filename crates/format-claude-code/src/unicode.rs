//! Normal forms of Unicode. Without the feature `unicode`, text is returned unchanged.

/// Returns the characters of a text in the composed form (NFC): `e` and an accent become `é`.
pub(crate) fn nfc(text: &str) -> impl Iterator<Item = char> {
    #[cfg(feature = "unicode")]
    let chars = unicode_normalization::UnicodeNormalization::nfc(text);
    #[cfg(not(feature = "unicode"))]
    let chars = text.chars();
    chars
}

/// Returns the characters of a text in the compatible form (NFKC): `ﬁ` becomes `fi`.
pub(crate) fn nfkc(text: &str) -> impl Iterator<Item = char> {
    #[cfg(feature = "unicode")]
    let chars = unicode_normalization::UnicodeNormalization::nfkc(text);
    #[cfg(not(feature = "unicode"))]
    let chars = text.chars();
    chars
}
