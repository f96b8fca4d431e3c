//! SHA-1, only for UUIDs of version 5 (RFC 9562): from `sha1_smol`, or from this crate's own code
//! without the feature.

#[cfg(any(test, not(feature = "fast-hashes")))]
mod portable;

/// Returns the SHA-1 of some bytes.
pub(crate) fn sha1(bytes: &[u8]) -> [u8; 20] {
    #[cfg(feature = "fast-hashes")]
    let hash = sha1_smol::Sha1::from(bytes).digest().bytes();
    #[cfg(not(feature = "fast-hashes"))]
    let hash = portable::sha1(bytes);
    hash
}
