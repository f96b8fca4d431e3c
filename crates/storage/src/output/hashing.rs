//! A sink that hashes and counts what passes it.

use std::{
    hash::Hasher,
    io::{self, Write},
};

use sha2::{Digest, Sha256};
use twox_hash::XxHash3_64;

/// What will be asked of the bytes that pass, beside how many they are: each takes time.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Asked {
    /// Nothing.
    #[default]
    Nothing,
    /// Their XXH3, of which the journal tells.
    Xxh3,
    /// Their SHA-256 too, of which a receipt tells.
    Sha256,
}

/// A sink that hashes and counts.
pub struct Hashing<W> {
    /// The sink.
    pub inner: W,
    hash: Option<XxHash3_64>,
    /// The bytes written so far.
    pub length: u64,
    /// The hash of them, if it was asked for.
    pub sha256: Option<Sha256>,
}

impl<W> Hashing<W> {
    /// Creates a sink that will be asked for the XXH3.
    pub fn new(inner: W) -> Self {
        Self::of(inner, Asked::Xxh3)
    }

    /// Creates a sink.
    pub fn of(inner: W, asked: Asked) -> Self {
        let hash = (asked != Asked::Nothing).then(XxHash3_64::new);
        Self { inner, hash, length: 0, sha256: (asked == Asked::Sha256).then(Sha256::new) }
    }

    /// Returns the XXH3 of what passed; 0 if that was not to be asked.
    pub fn digest(&self) -> u64 {
        self.hash.as_ref().map_or(0, Hasher::finish)
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.inner.write(bytes)?;
        let written = bytes.get(..n).unwrap_or(bytes);
        if let Some(hash) = &mut self.hash {
            hash.write(written);
        }
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
