//! Temporary files of the carry, and of lines that wait.

use core_model::LineFile;

/// A temporary file; memory on a system without files.
#[cfg(target_family = "wasm")]
pub(crate) type Temporary = std::io::Cursor<Vec<u8>>;
#[cfg(not(target_family = "wasm"))]
pub(crate) type Temporary = tempfile::SpooledTempFile;

/// Creates a temporary file, which is on the disk from its first byte on.
pub(crate) fn temporary() -> Temporary {
    #[cfg(target_family = "wasm")]
    return std::io::Cursor::default();
    #[cfg(not(target_family = "wasm"))]
    Temporary::new(0)
}

/// Creates a temporary file for lines that wait.
pub(crate) fn temporary_lines() -> Box<dyn LineFile> {
    Box::new(temporary())
}
