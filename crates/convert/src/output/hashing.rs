//! A sink that hashes and counts what passes it.

use std::io::{self, Write};

use sha2::{Digest, Sha256};
use xxhash_rust::xxh3::Xxh3;

/// A sink that hashes and counts.
pub(crate) struct Hashing<W> {
    pub(crate) inner: W,
    pub(crate) hash: Xxh3,
    pub(crate) length: u64,
    /// What a receipt says of the bytes; none where nobody asks for it, since it takes time.
    pub(crate) sha256: Option<Sha256>,
}

impl<W> Hashing<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, hash: Xxh3::new(), length: 0, sha256: None }
    }

    /// Creates a sink that finds the SHA-256 too, if that is asked for.
    pub(crate) fn signed(inner: W, is_signed: bool) -> Self {
        Self { sha256: is_signed.then(Sha256::new), ..Self::new(inner) }
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.inner.write(bytes)?;
        let written = bytes.get(..n).unwrap_or(bytes);
        self.hash.update(written);
        if let Some(sha256) = &mut self.sha256 {
            sha256.update(written);
        }
        self.length += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
