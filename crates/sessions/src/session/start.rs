//! Reads a file up to a size, and remembers the hash of the bytes, to detect later changes.

use std::{
    collections::BTreeSet,
    hash::Hasher,
    io::{self, Read, Take},
    sync::{Arc, Mutex, PoisonError},
};

use twox_hash::XxHash3_64;

use super::{SessionFile, place::Bytes};

/// The hashes of a file's start, one for each complete pass.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen(Arc<Mutex<BTreeSet<u64>>>);

impl Seen {
    fn hashes(&self) -> std::sync::MutexGuard<'_, BTreeSet<u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the start of a file still has all of these hashes.
    pub(super) fn is_start_of(&self, file: &SessionFile) -> io::Result<bool> {
        let now = Self::default();
        let mut start = Start::new(file.bytes()?, file.entry.size, now.clone());
        io::copy(&mut start, &mut io::sink())?;
        let (seen, now) = (self.hashes().clone(), now.hashes().clone());
        Ok(seen.len() == 1 && seen == now)
    }
}

/// The first bytes of a file.
pub struct Start {
    bytes: Take<Box<dyn Bytes>>,
    hash: XxHash3_64,
    seen: Seen,
}

impl Start {
    /// Creates a reader of the first `size` bytes of a file.
    pub(super) fn new(bytes: Box<dyn Bytes>, size: u64, seen: Seen) -> Self {
        Self { bytes: bytes.take(size), hash: XxHash3_64::new(), seen }
    }
}

impl Read for Start {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.bytes.read(buffer)?;
        self.hash.write(buffer.get(..n).unwrap_or_default());
        if n == 0 && !buffer.is_empty() {
            // If the file was cut short, this hash equals no later one.
            self.seen.hashes().insert(self.hash.finish());
        }
        Ok(n)
    }
}
