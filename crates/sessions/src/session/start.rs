//! Reads a file up to a size, and remembers the hash of the bytes, to detect later changes.

use std::{
    hash::Hasher,
    io::{self, Read, Take},
    sync::{Mutex, PoisonError},
};

use twox_hash::XxHash3_64;

use super::{SessionFile, place::Bytes};

/// The hash of a file's start.
#[derive(Debug, Default)]
pub(super) struct Seen(Mutex<Hashes>);

/// The hashes of all complete passes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Hashes {
    /// There was no pass.
    #[default]
    None,
    /// All passes had this one.
    One(u64),
    /// Two passes had different ones.
    Several,
}

impl Clone for Seen {
    /// Copies the hash. Later passes of one of the two do not count for the other.
    fn clone(&self) -> Self {
        Self(Mutex::new(*self.hashes()))
    }
}

impl Seen {
    fn hashes(&self) -> std::sync::MutexGuard<'_, Hashes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the hash of a pass.
    fn insert(&self, hash: u64) {
        let mut hashes = self.hashes();
        *hashes = match *hashes {
            Hashes::None => Hashes::One(hash),
            Hashes::One(known) if known == hash => Hashes::One(hash),
            Hashes::One(_) | Hashes::Several => Hashes::Several,
        };
    }

    /// Returns whether the start of a file still has the hash of all passes.
    pub(super) fn is_start_of(&self, file: &SessionFile) -> io::Result<bool> {
        let now = Self::default();
        let mut start = Start::new(file.bytes()?, file.size, &now);
        io::copy(&mut start, &mut io::sink())?;
        drop(start);
        let (seen, now) = (*self.hashes(), *now.hashes());
        Ok(matches!(seen, Hashes::One(_)) && seen == now)
    }
}

/// The first bytes of a file.
pub struct Start<'s> {
    bytes: Take<Box<dyn Bytes>>,
    hash: XxHash3_64,
    seen: &'s Seen,
}

impl<'s> Start<'s> {
    /// Creates a reader of the first `size` bytes of a file.
    pub(super) fn new(bytes: Box<dyn Bytes>, size: u64, seen: &'s Seen) -> Self {
        Self { bytes: bytes.take(size), hash: XxHash3_64::new(), seen }
    }
}

impl Read for Start<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.bytes.read(buffer)?;
        self.hash.write(buffer.get(..n).unwrap_or_default());
        if n == 0 && !buffer.is_empty() {
            // If the file was cut short, this hash equals no later one.
            self.seen.insert(self.hash.finish());
        }
        Ok(n)
    }
}
