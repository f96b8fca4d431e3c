//! A sink that hashes and counts what passes it.

use std::io::{self, Write};

use xxhash_rust::xxh3::Xxh3;

/// A sink that hashes and counts.
pub(crate) struct Hashing<W> {
    pub(crate) inner: W,
    pub(crate) hash: Xxh3,
    pub(crate) length: u64,
}

impl<W> Hashing<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, hash: Xxh3::new(), length: 0 }
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.inner.write(bytes)?;
        self.hash.update(bytes.get(..n).unwrap_or(bytes));
        self.length += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
