//! Keeps the first and the last bytes of a session while it is read.
//!
//! In: a reader of 3 MB. Out: its first and its last 64 KiB, and the size.

use std::io::{self, Read};

/// The bytes at each end in which the SDK looks for a title.
const WINDOW: usize = 64 * 1024;

/// A reader that keeps the ends of its bytes.
pub(super) struct Ends<R> {
    reader: R,
    head: Vec<u8>,
    /// At least the last [`WINDOW`] bytes, if there are as many.
    last: Vec<u8>,
    n_bytes: u64,
}

impl<R> Ends<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, head: Vec::new(), last: Vec::new(), n_bytes: 0 }
    }

    /// Returns the first bytes that were read.
    pub(super) fn head(&self) -> &[u8] {
        &self.head
    }

    /// Returns the last bytes that were read.
    pub(super) fn tail(&self) -> &[u8] {
        self.last.rchunks(WINDOW).next().unwrap_or_default()
    }

    /// Returns the number of bytes that were read.
    pub(super) fn n_bytes(&self) -> u64 {
        self.n_bytes
    }
}

impl<R: Read> Read for Ends<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buffer)?;
        let read = buffer.get(..n).unwrap_or_default();
        let room = WINDOW.saturating_sub(self.head.len());
        self.head.extend_from_slice(read.get(..room.min(n)).unwrap_or_default());
        if self.last.len() >= 4 * WINDOW {
            self.last.drain(..self.last.len().saturating_sub(WINDOW));
        }
        self.last.extend_from_slice(read.rchunks(WINDOW).next().unwrap_or_default());
        self.n_bytes = self.n_bytes.saturating_add(n as u64);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_do_not_depend_on_the_reads() {
        for length in [0, 10, WINDOW - 1, WINDOW, WINDOW + 1, 3 * WINDOW + 7, 9 * WINDOW] {
            let bytes: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            for size in [1000, WINDOW, 5 * WINDOW] {
                let mut ends = Ends::new(&bytes[..]);
                let mut buffer = vec![0; size];
                while ends.read(&mut buffer).expect("bytes") > 0 {}
                assert_eq!(ends.head(), bytes.chunks(WINDOW).next().unwrap_or_default());
                assert_eq!(ends.tail(), bytes.rchunks(WINDOW).next().unwrap_or_default());
                assert_eq!(ends.n_bytes(), length as u64);
            }
        }
    }
}
