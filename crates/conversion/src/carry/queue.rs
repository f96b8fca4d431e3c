//! A queue of entries that keeps a megabyte in memory and the rest in a temporary file.
//!
//! In: entries of any length. Out: the same entries, in order. An entry is one frame, or several if
//! it is long. A frame is its length and the size of the entry in a member, as eight bytes each,
//! and then the text.

use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};

use super::temporary::{Temporary, temporary};

/// Limit on the bytes of entries in memory, and of a frame.
const MAX_IN_MEMORY: usize = 1024 * 1024;

/// The number of bytes that are read from the file at a time.
const BLOCK: usize = 128 * 1024;

const HEADER: usize = 2 * size_of::<u64>();

/// The size in the header of a frame that continues an entry.
const GOES_ON: u64 = u64::MAX;

/// Entries in order: first `front`, then the file, then `back`.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    front: Vec<u8>,
    /// The number of bytes of `front` that were taken.
    taken: usize,
    file: Option<Spilled>,
    back: Vec<u8>,
    n_bytes: u64,
    n_escaped: usize,
}

/// The unread part of a temporary file.
#[derive(Debug)]
struct Spilled {
    file: Temporary,
    at: u64,
    end: u64,
}

/// The header of a frame.
#[derive(Clone, Copy)]
struct Header {
    length: usize,
    escaped: u64,
}

impl Header {
    fn bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        let (length, escaped) = bytes.split_at_mut(HEADER / 2);
        length.copy_from_slice(&(self.length as u64).to_le_bytes());
        escaped.copy_from_slice(&self.escaped.to_le_bytes());
        bytes
    }

    fn read(bytes: &[u8; HEADER]) -> Self {
        let [length, escaped] = [0, HEADER / 2].map(|at| {
            let word = bytes.get(at..).and_then(<[u8]>::first_chunk);
            u64::from_le_bytes(word.copied().unwrap_or_default())
        });
        Self { length: length as usize, escaped }
    }
}

impl Queue {
    /// Adds an entry that `write` appends to a buffer. `measure` returns its size in a member.
    ///
    /// # Errors
    ///
    /// Returns an error if the temporary file cannot be written.
    pub(crate) fn push(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>),
        measure: impl FnOnce(&[u8]) -> usize,
    ) -> io::Result<()> {
        let start = self.back.len();
        self.back.extend_from_slice(&[0; HEADER]);
        write(&mut self.back);
        let entry = self.back.get(start + HEADER..).unwrap_or_default();
        let (length, escaped) = (entry.len(), measure(entry));
        self.n_bytes += length as u64;
        self.n_escaped += escaped;
        let header = Header { length: length.min(MAX_IN_MEMORY), escaped: escaped as u64 };
        if let Some(place) = self.back.get_mut(start..start + HEADER) {
            place.copy_from_slice(&header.bytes());
        }
        if self.back.len() > MAX_IN_MEMORY { self.spill(start, length) } else { Ok(()) }
    }

    /// Moves `back` to the file. Its last entry starts at `start` and has `length` bytes.
    fn spill(&mut self, start: usize, length: usize) -> io::Result<()> {
        let spilled = match &mut self.file {
            Some(spilled) => spilled,
            none => none.insert(Spilled { file: temporary(), at: 0, end: 0 }),
        };
        let (first, others) = self.back.split_at(start + HEADER + length.min(MAX_IN_MEMORY));
        spilled.write(first)?;
        for part in others.chunks(MAX_IN_MEMORY) {
            spilled.write(&Header { length: part.len(), escaped: GOES_ON }.bytes())?;
            spilled.write(part)?;
        }
        self.back.clear();
        // Frees the memory of a long entry.
        self.back.shrink_to(MAX_IN_MEMORY);
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.n_bytes == 0
    }

    /// Returns the size of the entries in bytes.
    pub(crate) fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    /// Returns the size of the entries in a member.
    pub(crate) fn n_escaped(&self) -> usize {
        self.n_escaped
    }

    /// Moves the first entries that fit into `room` bytes in a member to another queue. Returns
    /// whether there were any.
    ///
    /// # Errors
    ///
    /// Returns an error if a temporary file cannot be read or written.
    pub(crate) fn move_to(&mut self, other: &mut Queue, room: usize) -> io::Result<bool> {
        let is_any = !self.is_empty();
        if other.is_empty() && self.n_escaped <= room {
            std::mem::swap(self, other);
            return Ok(is_any);
        }
        let n_before = other.n_bytes;
        let mut room = room as u64;
        while let Some(header) = self.header()? {
            if header.escaped != GOES_ON {
                if header.escaped > room {
                    break;
                }
                room -= header.escaped;
            }
            self.move_frame(other)?;
        }
        Ok(other.n_bytes > n_before)
    }

    fn move_frame(&mut self, other: &mut Queue) -> io::Result<()> {
        let Some((header, text)) = self.next()? else { return Ok(()) };
        other.n_bytes += header.length as u64;
        other.n_escaped += if header.escaped == GOES_ON { 0 } else { header.escaped as usize };
        let start = other.back.len();
        other.back.extend_from_slice(&header.bytes());
        other.back.extend_from_slice(text);
        if other.back.len() > MAX_IN_MEMORY { other.spill(start, header.length) } else { Ok(()) }
    }

    /// Takes all entries, in pieces of any length.
    ///
    /// # Errors
    ///
    /// Returns an error if the temporary file cannot be read, or if `take` returns one.
    pub(crate) fn drain(
        &mut self,
        mut take: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        while let Some((_, text)) = self.next()? {
            take(text)?;
        }
        Ok(())
    }

    fn header(&mut self) -> io::Result<Option<Header>> {
        self.fill(HEADER)?;
        let rest = self.front.get(self.taken..).unwrap_or_default();
        Ok(rest.first_chunk().map(Header::read))
    }

    /// Takes the next frame; `None` if the queue is empty.
    fn next(&mut self) -> io::Result<Option<(Header, &[u8])>> {
        let Some(header) = self.header()? else { return Ok(None) };
        self.fill(HEADER + header.length)?;
        let start = self.taken + HEADER;
        let text = self.front.get(start..start + header.length);
        let text = text.ok_or(ErrorKind::UnexpectedEof)?;
        self.taken = start + header.length;
        self.n_bytes -= header.length as u64;
        if header.escaped != GOES_ON {
            self.n_escaped -= header.escaped as usize;
        }
        Ok(Some((header, text)))
    }

    /// Reads into `front` until it has `n` bytes more, or the file ends.
    fn fill(&mut self, n: usize) -> io::Result<()> {
        if self.front.len() - self.taken >= n {
            return Ok(());
        }
        self.front.drain(..self.taken);
        self.taken = 0;
        if let Some(spilled) = &mut self.file {
            spilled.read(&mut self.front, n)?;
            if spilled.at == spilled.end {
                self.file = None;
            }
        }
        if self.front.is_empty() {
            std::mem::swap(&mut self.front, &mut self.back);
        }
        Ok(())
    }
}

impl Spilled {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(bytes)?;
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Reads into a buffer until it has at least `n` bytes, or the file ends.
    fn read(&mut self, buffer: &mut Vec<u8>, n: usize) -> io::Result<()> {
        let start = buffer.len();
        let wanted = (n - start).max(BLOCK) as u64;
        let length = wanted.min(self.end - self.at);
        buffer.resize(start + length as usize, 0);
        let place = buffer.get_mut(start..).unwrap_or_default();
        self.file.seek(SeekFrom::Start(self.at))?;
        self.file.read_exact(place)?;
        self.at += length;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(queue: &mut Queue) -> Vec<u8> {
        let mut text = Vec::new();
        let append = |part: &[u8]| {
            text.extend_from_slice(part);
            Ok(())
        };
        queue.drain(append).expect("read");
        assert!(queue.is_empty() && queue.n_escaped() == 0);
        text
    }

    #[test]
    fn entries_come_back_in_their_order() {
        // The cases: no entry, some, or all but the last exceed the memory limit.
        for lengths in [
            vec![1, 0, 20],
            vec![100_000; 50],
            vec![3 * MAX_IN_MEMORY + 5, 7, MAX_IN_MEMORY, MAX_IN_MEMORY + 1, 2],
            vec![7; 300_000],
        ] {
            let (mut queue, mut other, mut expected) = <(Queue, Queue, Vec<u8>)>::default();
            for (n, length) in lengths.iter().enumerate() {
                let entry = vec![b'a' + (n % 26) as u8; *length];
                expected.extend_from_slice(&entry);
                queue.push(|out| out.extend_from_slice(&entry), <[u8]>::len).expect("kept");
                assert!(queue.back.capacity() <= 4 * MAX_IN_MEMORY + 4096, "{n}");
                if n == lengths.len() / 2 {
                    assert!(queue.move_to(&mut other, lengths[0]).expect("moved") || n == 0);
                }
            }
            assert_eq!((queue.n_bytes + other.n_bytes) as usize, expected.len());
            assert_eq!(other.n_bytes(), lengths[0] as u64);
            queue.move_to(&mut other, usize::MAX).expect("moved");
            assert!(queue.is_empty());
            assert!(text(&mut other) == expected);
            assert!(!other.move_to(&mut queue, usize::MAX).expect("none"));
        }
    }
}
