//! A sink that hashes and counts the bytes written to it.

use std::{
    hash::Hasher,
    io::{self, Write},
};

use sha2::{Digest, Sha256};
use twox_hash::XxHash3_64;

/// The hashes to compute. Each takes time.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Asked {
    /// No hash.
    #[default]
    Nothing,
    /// XXH3, which the journal needs.
    Xxh3,
    /// XXH3 and SHA-256, which a receipt needs.
    Sha256,
}

/// A sink that hashes and counts.
pub struct Hashing<W> {
    /// The inner sink.
    pub inner: W,
    /// Boxed: a session may have tens of thousands of pending files, and most runs ask for no hash.
    hash: Option<Box<XxHash3_64>>,
    /// The number of bytes written.
    pub length: u64,
    /// The SHA-256 so far, if it was asked for.
    pub sha256: Option<Box<Sha256>>,
}

impl<W> Hashing<W> {
    /// Creates a sink that computes XXH3.
    pub fn new(inner: W) -> Self {
        Self::of(inner, Asked::Xxh3)
    }

    /// Creates a sink that computes the given hashes.
    pub fn of(inner: W, asked: Asked) -> Self {
        let hash = (asked != Asked::Nothing).then(|| Box::new(XxHash3_64::new()));
        Self { inner, hash, length: 0, sha256: (asked == Asked::Sha256).then(Box::default) }
    }

    /// Returns the XXH3 of the bytes; 0 if it was not asked for.
    pub fn digest(&self) -> u64 {
        self.hash.as_ref().map_or(0, |hash| hash.finish())
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
