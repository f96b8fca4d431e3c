//! A file as it was when it was opened: appended bytes are not read, and changes are detected.
//!
//! In: a file of 100 bytes to which a client appends 20. Out: 100 bytes, and `is_prefix` returns
//! true.

use std::{
    fs::{File, Metadata},
    hash::Hasher,
    io::{self, Read, Seek, SeekFrom},
};

use twox_hash::XxHash3_64;

use crate::{
    backend::{Bytes, Stat, documents::Document},
    folder::FILE_MODE,
    system,
};

#[cfg(feature = "cloud")]
use crate::backend::cloud::Reader;

/// Limit on the bytes of a read that asks only for the type of a file.
const MAX_MAGIC: usize = 32;

/// The bytes that are read for it: all of a small file.
const HEAD: usize = 8 * 1024;

/// A file up to its length when it was opened.
pub struct Snapshot {
    bytes: Box<dyn Bytes>,
    stat: Stat,
    /// The number of bytes.
    length: u64,
    mode: u32,
    position: u64,
    /// The position of the file handle, if it is known. Seeks to it are skipped.
    system_position: Option<u64>,
    /// The first bytes, if a few of them were asked for.
    head: Vec<u8>,
    hash: XxHash3_64,
    n_hashed: u64,
    /// Whether bytes are hashed as they are read.
    is_hashing: bool,
}

impl Snapshot {
    /// Opens a snapshot of a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn new(file: File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self::with_metadata(file, &metadata))
    }

    /// Opens a snapshot of a file with its metadata.
    pub fn with_metadata(file: File, metadata: &Metadata) -> Self {
        Self::of(Box::new(file), Stat::of(metadata), system::mode(metadata))
    }

    /// Opens a snapshot of an object. Its permissions are the default.
    #[cfg(feature = "cloud")]
    pub fn of_object(object: Reader) -> Self {
        let stat = object.stat().clone();
        Self::of(Box::new(object), stat, FILE_MODE)
    }

    /// Opens a snapshot of a document of a store. Its metadata are those in the store.
    pub fn of_document(document: Document) -> Self {
        let (stat, length) = (document.stat.clone(), document.length);
        Self { length, ..Self::of(Box::new(document), stat, FILE_MODE) }
    }

    fn of(bytes: Box<dyn Bytes>, stat: Stat, mode: u32) -> Self {
        let length = stat.length;
        let (hash, n_hashed, is_hashing) = (XxHash3_64::new(), 0, true);
        Self {
            bytes,
            stat,
            length,
            mode,
            position: 0,
            system_position: Some(0),
            head: Vec::new(),
            hash,
            n_hashed,
            is_hashing,
        }
    }

    /// Returns the metadata at the time of opening.
    pub fn stat(&self) -> &Stat {
        &self.stat
    }

    /// Does not hash bytes as they are read, because no hash will be asked for.
    pub fn skip_hash(&mut self) {
        self.is_hashing = false;
    }

    /// Returns the length at the time of opening, in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the permissions.
    pub fn mode(&self) -> u32 {
        self.mode
    }

    /// Returns whether the file is unchanged since it was opened.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn is_unchanged(&self) -> io::Result<bool> {
        self.bytes.is_unchanged(&self.stat)
    }

    /// Returns the XXH3 of the whole snapshot. Reads the bytes that were not read or not hashed.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn hash(&mut self) -> io::Result<u64> {
        self.is_hashing = true;
        if self.n_hashed < self.length {
            self.seek(SeekFrom::Start(self.n_hashed))?;
            io::copy(self, &mut io::sink())?;
        }
        Ok(self.hash.finish())
    }

    /// Returns whether the bytes that were read are still the start of the file, so that it only
    /// grew. False if bytes were not hashed.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn is_prefix(&mut self) -> io::Result<bool> {
        if !self.bytes.may_change() {
            return self.is_unchanged();
        }
        if !self.is_hashing {
            return Ok(false);
        }
        let read = self.hash()?;
        let is_whole = self.n_hashed == self.length;
        (self.hash, self.n_hashed) = (XxHash3_64::new(), 0);
        self.head = Vec::new();
        Ok(is_whole && self.hash()? == read && self.n_hashed == self.length)
    }
}

impl Snapshot {
    /// Moves the handle, unless it is there. Its position is then unknown.
    fn seek_system(&mut self, position: u64) -> io::Result<()> {
        if self.system_position.take() != Some(position) {
            self.bytes.seek(SeekFrom::Start(position))?;
        }
        Ok(())
    }
}

impl Read for Snapshot {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.length.saturating_sub(self.position);
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        if wanted == 0 {
            return Ok(0);
        }
        let buffer = &mut buffer[..wanted];
        if self.position == 0 && buffer.len() <= MAX_MAGIC && self.head.is_empty() {
            // A caller that asks for the first few bytes asks for all of them next.
            self.seek_system(0)?;
            let mut head = vec![0; usize::try_from(self.length).unwrap_or(HEAD).min(HEAD)];
            let n = self.bytes.read(&mut head)?;
            head.truncate(n);
            (self.head, self.system_position) = (head, Some(n as u64));
        }
        let kept = usize::try_from(self.position).ok().and_then(|start| self.head.get(start..));
        let n = match kept {
            Some(kept) if !kept.is_empty() => {
                let n = kept.len().min(buffer.len());
                buffer[..n].copy_from_slice(&kept[..n]);
                n
            }
            _ => {
                self.seek_system(self.position)?;
                let n = self.bytes.read(buffer)?;
                self.system_position = Some(self.position + n as u64);
                n
            }
        };
        let end = self.position + n as u64;
        if self.is_hashing && self.position <= self.n_hashed && end > self.n_hashed {
            self.hash.write(&buffer[(self.n_hashed - self.position) as usize..n]);
            self.n_hashed = end;
        }
        self.position = end;
        Ok(n)
    }
}

impl Seek for Snapshot {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Start(offset) => offset,
            SeekFrom::End(offset) => self.length.saturating_add_signed(offset),
            SeekFrom::Current(offset) => self.position.saturating_add_signed(offset),
        };
        self.position = to;
        Ok(to)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use twox_hash::XxHash3_64;

    use super::*;

    fn file(bytes: &[u8]) -> (tempfile::NamedTempFile, Snapshot) {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(bytes).expect("written");
        let snapshot = Snapshot::new(file.reopen().expect("opened")).expect("a snapshot");
        (file, snapshot)
    }

    fn read(snapshot: &mut Snapshot) -> Vec<u8> {
        let mut bytes = Vec::new();
        snapshot.rewind().expect("rewound");
        snapshot.read_to_end(&mut bytes).expect("read");
        bytes
    }

    #[test]
    fn what_is_appended_is_not_read() {
        let (mut file, mut snapshot) = file(b"one\n");
        file.write_all(b"two\n").expect("written");
        assert_eq!(read(&mut snapshot), b"one\n");
        assert!(!snapshot.is_unchanged().expect("asked"));
        assert!(snapshot.is_prefix().expect("asked"));
        assert_eq!(snapshot.hash().expect("read"), XxHash3_64::oneshot(b"one\n"));
    }

    #[test]
    fn what_is_truncated_or_written_anew_is_no_prefix() {
        let (file_, mut snapshot) = file(b"one\ntwo\n");
        assert!(snapshot.is_unchanged().expect("asked"));
        file_.as_file().set_len(3).expect("cut");
        assert_eq!(read(&mut snapshot), b"one");
        assert!(!snapshot.is_unchanged().expect("asked") && !snapshot.is_prefix().expect("asked"));
        let (mut file, mut snapshot) = file(b"one\n");
        read(&mut snapshot);
        file.rewind().expect("rewound");
        file.write_all(b"ONE\n").expect("written");
        assert!(!snapshot.is_prefix().expect("asked"));
    }

    #[test]
    fn the_first_bytes_are_read_once_and_again_for_a_prefix() {
        for length in [0, 3, HEAD - 1, HEAD, HEAD + 1, 3 * HEAD] {
            let text: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            let (mut file, mut snapshot) = file(&text);
            let mut magic = Vec::new();
            snapshot.by_ref().take(4).read_to_end(&mut magic).expect("read");
            assert_eq!(magic, text[..length.min(4)]);
            assert_eq!(read(&mut snapshot), text);
            assert!(snapshot.is_prefix().expect("asked"));
            assert_eq!(snapshot.hash().expect("read"), XxHash3_64::oneshot(&text));
            if length > 0 {
                file.rewind().expect("rewound");
                file.write_all(b"\xff").expect("written");
                assert!(!snapshot.is_prefix().expect("asked"));
            }
        }
    }

    #[test]
    fn each_byte_is_hashed_once_in_whatever_order_they_are_read() {
        let text: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        let (_file, mut snapshot) = file(&text);
        let mut buffer = [0; 1000];
        for offset in [0, 500, 900, 3000, 0, 1800] {
            snapshot.seek(SeekFrom::Start(offset)).expect("a place");
            snapshot.read_exact(&mut buffer).expect("read");
        }
        assert_eq!(snapshot.hash().expect("read"), XxHash3_64::oneshot(&text));
    }
}
