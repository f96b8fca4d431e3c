//! Temporary files of the carry.

/// A temporary file; memory on a system without files.
#[cfg(target_family = "wasm")]
pub(super) type Temporary = std::io::Cursor<Vec<u8>>;
#[cfg(not(target_family = "wasm"))]
pub(super) type Temporary = tempfile::SpooledTempFile;

/// Creates a temporary file, which is on the disk from its first byte on.
pub(super) fn temporary() -> Temporary {
    #[cfg(target_family = "wasm")]
    return std::io::Cursor::default();
    #[cfg(not(target_family = "wasm"))]
    Temporary::new(0)
}
