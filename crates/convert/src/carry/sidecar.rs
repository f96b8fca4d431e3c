//! The sidecar: the carries of a file in a file of their own, compressed.
//!
//! A zstd frame of entries, each `guard occurrence length ":" carry "\n"`: the guard in base 64, the
//! numbers in base 36. The occurrence tells lines of equal guard apart, so that lines may be inserted
//! and appended. A file without any line has its carries under the guard of an empty line.

use std::{
    collections::HashMap,
    io::{self, Read, Write},
};

use crate::carry::{push_guard, push_number, read_guard, read_number};

const MAGIC: &[u8] = b"carry 1\n";
const LEVEL: i32 = 3;

/// Writes a sidecar.
pub(crate) struct SidecarWriter {
    bytes: Vec<u8>,
    encoder: zstd::stream::write::Encoder<'static, Vec<u8>>,
    seen: HashMap<u64, u64>,
}

impl SidecarWriter {
    /// Creates a writer.
    ///
    /// # Errors
    ///
    /// If the compressor cannot be set up.
    pub(crate) fn new() -> io::Result<Self> {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), LEVEL)?;
        encoder.include_checksum(true)?;
        encoder.write_all(MAGIC)?;
        Ok(Self { bytes: Vec::new(), encoder, seen: HashMap::new() })
    }

    /// Adds the carry of a written line: its head and its records.
    ///
    /// # Errors
    ///
    /// The compressor's own.
    pub(crate) fn add(&mut self, guard: u64, carry: [&[u8]; 2]) -> io::Result<()> {
        let occurrence = self.seen.entry(guard).or_default();
        self.bytes.clear();
        push_guard(&mut self.bytes, guard);
        push_number(&mut self.bytes, *occurrence);
        self.bytes.push(b',');
        push_number(&mut self.bytes, carry.iter().map(|part| part.len() as u64).sum());
        self.bytes.push(b':');
        *occurrence += 1;
        self.encoder.write_all(&self.bytes)?;
        for part in carry {
            self.encoder.write_all(part)?;
        }
        self.encoder.write_all(b"\n")
    }

    /// Returns the file.
    ///
    /// # Errors
    ///
    /// The compressor's own.
    pub(crate) fn finish(self) -> io::Result<Vec<u8>> {
        self.encoder.finish()
    }
}

/// A sidecar, read.
#[derive(Debug, Default)]
pub struct Sidecar {
    carries: HashMap<(u64, u64), String>,
    order: Vec<(u64, u64)>,
    seen: HashMap<u64, u64>,
}

impl Sidecar {
    /// Reads a sidecar.
    ///
    /// # Errors
    ///
    /// If it is not one, is damaged, or cannot be read.
    pub fn read(file: impl Read) -> io::Result<Self> {
        Self::read_within(file, u64::MAX)
    }

    /// Reads a sidecar that may hold so many bytes.
    ///
    /// # Errors
    ///
    /// As for [`Sidecar::read`], and if it holds more.
    pub(crate) fn read_within(file: impl Read, limit: u64) -> io::Result<Self> {
        let mut bytes = Vec::new();
        let decoder = zstd::stream::read::Decoder::new(file)?;
        decoder.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return Err(io::Error::other(format!("the sidecar holds more than {limit} bytes")));
        }
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "not a sidecar");
        let mut rest = bytes.strip_prefix(MAGIC).ok_or_else(damaged)?;
        let mut sidecar = Self::default();
        while !rest.is_empty() {
            let key = sidecar.read_entry(&mut rest).ok_or_else(damaged)?;
            sidecar.order.push(key);
        }
        Ok(sidecar)
    }

    /// Returns all carries in their order.
    pub(crate) fn carries(&self) -> impl Iterator<Item = &str> {
        self.order.iter().filter_map(|key| self.carries.get(key).map(String::as_str))
    }

    fn read_entry(&mut self, rest: &mut &[u8]) -> Option<(u64, u64)> {
        let guard = read_guard(rest)?;
        let occurrence = read_number(rest)?;
        *rest = rest.strip_prefix(b",")?;
        let length = read_number(rest)? as usize;
        *rest = rest.strip_prefix(b":")?;
        let (carry, after) = rest.split_at_checked(length)?;
        *rest = after.strip_prefix(b"\n")?;
        let carry = std::str::from_utf8(carry).ok()?;
        self.carries.insert((guard, occurrence), carry.to_owned());
        Some((guard, occurrence))
    }

    /// Returns the first carry, which knows the format of the source.
    pub fn first(&self) -> Option<&str> {
        self.carries.get(self.order.first()?).map(String::as_str)
    }

    /// Returns the carries of the first `n` lines.
    pub(crate) fn head(&self, n: usize) -> Self {
        let order: Vec<_> = self.order.iter().take(n).copied().collect();
        let carry = |key: &(u64, u64)| Some((*key, self.carries.get(key)?.clone()));
        let carries = order.iter().filter_map(carry).collect();
        Self { carries, order, seen: HashMap::new() }
    }

    /// Returns whether it has the carry of a line with this guard.
    pub(crate) fn knows(&self, guard: u64) -> bool {
        self.carries.contains_key(&(guard, 0))
    }

    /// Returns the carry of the next line with this guard.
    pub fn take(&mut self, guard: u64) -> Option<String> {
        let occurrence = self.seen.entry(guard).or_default();
        let key = (guard, *occurrence);
        *occurrence += 1;
        self.carries.remove(&key)
    }

    /// Returns, in order, the carries whose lines did not come.
    pub fn take_rest(&mut self) -> Vec<String> {
        let order = std::mem::take(&mut self.order);
        order.iter().filter_map(|key| self.carries.remove(key)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carries_are_found_by_guard_and_occurrence() {
        let mut writer = SidecarWriter::new().expect("a compressor");
        for (guard, carry) in [(7, "one\n"), (9, "two"), (7, "three"), (0, "é")] {
            let (head, records) = carry.split_at(carry.floor_char_boundary(1));
            writer.add(guard, [head.as_bytes(), records.as_bytes()]).expect("written");
        }
        let file = writer.finish().expect("written");
        let mut sidecar = Sidecar::read(&file[..]).expect("read");
        assert_eq!(sidecar.first(), Some("one\n"));
        assert_eq!(sidecar.take(9).as_deref(), Some("two"));
        assert_eq!(sidecar.take(7).as_deref(), Some("one\n"));
        assert_eq!(sidecar.take(7).as_deref(), Some("three"));
        assert_eq!(sidecar.take(7), None);
        assert_eq!(sidecar.take_rest(), ["é"]);
        assert!(Sidecar::read(&file[..file.len() - 3]).is_err());
        assert!(Sidecar::read(&b"no"[..]).is_err());
    }
}
