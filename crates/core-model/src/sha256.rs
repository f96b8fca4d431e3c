//! SHA-256 of bytes in pieces: from the `sha2` crate, or from this crate's own code without the
//! feature.

#[cfg(any(test, not(feature = "fast-hashes")))]
mod portable;

/// SHA-256 of bytes in pieces.
///
/// With the feature `fast-hashes` it uses instructions of the CPU. The result is the same.
///
/// ```
/// let mut hash = core_model::Sha256::default();
/// hash.update(b"a");
/// hash.update(b"bc");
/// assert!(hash.hex().starts_with("ba7816bf8f01cfea"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Sha256(
    #[cfg(feature = "fast-hashes")] sha2::Sha256,
    #[cfg(not(feature = "fast-hashes"))] portable::Portable,
);

impl Sha256 {
    /// Returns the hash of some bytes.
    pub fn of(bytes: &[u8]) -> [u8; 32] {
        let mut hash = Self::default();
        hash.update(bytes);
        hash.finish()
    }

    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        #[cfg(feature = "fast-hashes")]
        sha2::Digest::update(&mut self.0, bytes);
        #[cfg(not(feature = "fast-hashes"))]
        self.0.update(bytes);
    }

    /// Returns the hash of all bytes added.
    pub fn finish(self) -> [u8; 32] {
        #[cfg(feature = "fast-hashes")]
        let hash = sha2::Digest::finalize(self.0).into();
        #[cfg(not(feature = "fast-hashes"))]
        let hash = self.0.finish();
        hash
    }

    /// Returns the hash of all bytes added as 64 hexadecimal digits.
    pub fn hex(self) -> String {
        self.finish().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
