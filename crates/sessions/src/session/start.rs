//! The start of a file, up to a size: what is appended meanwhile is not read, and what is read is
//! remembered.

use std::{
    collections::BTreeSet,
    hash::Hasher,
    io::{self, Read, Take},
    sync::{Arc, Mutex, PoisonError},
};

use twox_hash::XxHash3_64;

use super::{SessionFile, place::Bytes};

/// What was read of a file: the hashes of its start, each time that all of it was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen(Arc<Mutex<BTreeSet<u64>>>);

impl Seen {
    fn hashes(&self) -> std::sync::MutexGuard<'_, BTreeSet<u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether a file still starts with what was read of it, each time.
    pub(super) fn is_start_of(&self, file: &SessionFile) -> io::Result<bool> {
        let now = Self::default();
        let mut start = Start::new(file.bytes()?, file.volume.size, now.clone());
        io::copy(&mut start, &mut io::sink())?;
        let (seen, now) = (self.hashes().clone(), now.hashes().clone());
        Ok(seen.len() == 1 && seen == now)
    }
}

/// The start of a file.
pub struct Start {
    bytes: Take<Box<dyn Bytes>>,
    hash: XxHash3_64,
    seen: Seen,
}

impl Start {
    /// Takes the first `size` bytes of a file.
    pub(super) fn new(bytes: Box<dyn Bytes>, size: u64, seen: Seen) -> Self {
        Self { bytes: bytes.take(size), hash: XxHash3_64::new(), seen }
    }
}

impl Read for Start {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.bytes.read(buffer)?;
        self.hash.write(buffer.get(..n).unwrap_or_default());
        if n == 0 && !buffer.is_empty() {
            // Of a file that was cut short this is less than its start, and equal to no other.
            self.seen.hashes().insert(self.hash.finish());
        }
        Ok(n)
    }
}
