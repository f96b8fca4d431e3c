//! The sidecar: a compressed file with the carries of another file, in the order of its records.
//!
//! In: carries. Out: a zstd frame of `carry 2\n` and then, for each carry, `length ":" carry "\n"`,
//! the length in base 36: the carry `2Fb:..` of 40 bytes is `14:2Fb:..` and a newline. The guard in
//! a carry's head identifies its record, so that records may be inserted and removed. Version 1 has
//! `guard occurrence ","` before the length. A file without records has its carry under the guard
//! of an empty record.

mod ahead;
mod aside;
mod frame;

use std::{
    collections::{HashMap, HashSet, VecDeque},
    fmt,
    io::{self, BufRead, BufReader, Cursor, Read, Write},
    sync::Arc,
};

use self::{ahead::Ahead, aside::Aside, frame::FrameWriter};
use crate::carry::{Carry, Queue, guard_of, push_number, read_guard, read_number};

const MAGIC: &[u8] = b"carry 2\n";
const MAGIC_1: &[u8] = b"carry 1\n";

/// Limit on the bytes of carries that are read ahead, in search of a record's carry.
const MAX_AHEAD: usize = 8 * 1024 * 1024;

/// Limit on the digits of a length, and on the bytes before it in version 1.
const MAX_LENGTH_DIGITS: u64 = 13;
const MAX_KEY: u64 = 11 + 13 + 1;

/// Writes a sidecar to a sink, one carry at a time.
pub(crate) struct SidecarWriter<W: Write> {
    bytes: Vec<u8>,
    frame: FrameWriter<Counted<W>>,
}

/// A sink, and the number of bytes written to it.
struct Counted<W> {
    sink: W,
    n_bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.sink.write(bytes)?;
        self.n_bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

impl<W: Write> SidecarWriter<W> {
    /// Creates a writer.
    ///
    /// # Errors
    ///
    /// Returns an error if the compressor cannot be created.
    pub(crate) fn new(sink: W) -> io::Result<Self> {
        let mut frame = FrameWriter::new(Counted { sink, n_bytes: 0 })?;
        frame.write_all(MAGIC)?;
        Ok(Self { bytes: Vec::new(), frame })
    }

    /// Adds the carry of a written record: its head, its own entries, the entries that it holds,
    /// and its end mark, which may be empty.
    ///
    /// # Errors
    ///
    /// Returns an error if the sink cannot be written, or the temporary file of the entries cannot
    /// be read.
    pub(crate) fn add(
        &mut self,
        start: [&[u8]; 2],
        held: &mut Queue,
        end: &[u8],
    ) -> io::Result<()> {
        self.bytes.clear();
        let n_bytes: usize = start.iter().map(|part| part.len()).sum();
        push_number(&mut self.bytes, (n_bytes + end.len()) as u64 + held.n_bytes());
        self.bytes.push(b':');
        self.frame.write_all(&self.bytes)?;
        for part in start {
            self.frame.write_all(part)?;
        }
        held.drain(|part| self.frame.write_all(part))?;
        self.frame.write_all(end)?;
        self.frame.write_all(b"\n")
    }

    /// Ends the sidecar and returns its size in bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the sink cannot be written.
    pub(crate) fn finish(self) -> io::Result<u64> {
        let mut counted = self.frame.finish()?;
        counted.flush()?;
        Ok(counted.n_bytes)
    }
}

/// A sidecar that is read along with its file. One carry and a megabyte of others are in memory.
pub struct Sidecar {
    file: BufReader<Box<dyn Read + Send>>,
    is_v1: bool,
    is_at_end: bool,
    limit: u64,
    n_read: u64,
    /// The carries that were read and not taken.
    ahead: Ahead,
    /// The carries that were read and belong to no record.
    aside: Aside,
    next_seq: u64,
    /// The numbers of the carries with a guard.
    places: HashMap<u64, VecDeque<u64>>,
    given: HashSet<u64>,
    /// The guards and occurrences of the carries of version 1 that were read.
    keys: HashSet<(u64, u64)>,
    /// The carries of version 1 that were left out, because their guard and occurrence came before.
    n_doubled: u64,
}

impl fmt::Debug for Sidecar {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Sidecar").field("n_read", &self.n_read).finish_non_exhaustive()
    }
}

impl Sidecar {
    /// Reads a compressed sidecar into memory. [`Sidecar::open`] reads from the file as needed.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read or does not begin as a sidecar.
    pub fn read(mut file: impl Read) -> io::Result<Self> {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Self::open(Cursor::new(bytes))
    }

    /// Opens a sidecar.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read or does not begin as a sidecar.
    pub fn open(file: impl Read + Send + 'static) -> io::Result<Self> {
        Self::open_within(file, u64::MAX)
    }

    /// Opens a sidecar of at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// As for [`Sidecar::open`].
    pub fn open_within(file: impl Read + Send + 'static, limit: u64) -> io::Result<Self> {
        let mut file = BufReader::new(frame::decoder(file)?);
        let mut magic = [0; MAGIC.len()];
        let is_v1 = match file.read_exact(&mut magic) {
            Ok(()) if magic == MAGIC => false,
            Ok(()) if magic == MAGIC_1 => true,
            Ok(()) if magic.starts_with(b"carry ") => return Err(newer_sidecar()),
            Err(error) if !is_of_content(&error) => return Err(error),
            _ => return Err(not_a_sidecar()),
        };
        Ok(Self {
            file,
            is_v1,
            is_at_end: false,
            limit,
            n_read: 0,
            ahead: Ahead::default(),
            aside: Aside::default(),
            next_seq: 0,
            places: HashMap::new(),
            given: HashSet::new(),
            keys: HashSet::new(),
            n_doubled: 0,
        })
    }

    /// Reads the next carry. Returns false at the end.
    fn read_ahead(&mut self) -> io::Result<bool> {
        if self.is_at_end || self.file.fill_buf()?.is_empty() {
            self.is_at_end = true;
            return Ok(false);
        }
        let key = if self.is_v1 { Some(self.number_until(b',', MAX_KEY)?) } else { None };
        let digits = self.number_until(b':', MAX_LENGTH_DIGITS)?;
        let mut rest = &digits[..];
        let length =
            read_number(&mut rest).filter(|_| rest.is_empty()).ok_or_else(not_a_sidecar)?;
        self.n_read = self.n_read.saturating_add(length);
        if self.n_read > self.limit {
            let limit = self.limit;
            return Err(io::Error::other(format!("the sidecar holds more than {limit} bytes")));
        }
        let mut carry = Vec::new();
        // A length may be forged: reading grows with the bytes that are there, not with the length.
        (&mut self.file).take(length + 1).read_to_end(&mut carry)?;
        if carry.pop() != Some(b'\n') || carry.len() as u64 != length {
            return Err(not_a_sidecar());
        }
        let carry = String::from_utf8(carry).map_err(|_| not_a_sidecar())?;
        let guard = match key {
            Some(key) => {
                let mut rest = &key[..];
                let guard = read_guard(&mut rest);
                let key = guard.zip(read_number(&mut rest));
                // In version 2, the ordinals tell.
                if key.is_some_and(|key| !self.keys.insert(key)) {
                    self.n_doubled += 1;
                    return Ok(true);
                }
                guard
            }
            None => Carry::guard_in(&carry),
        };
        // Megabytes of them may be between the carries of two records.
        if !self.is_v1 && self.next_seq > 0 && guard == Some(guard_of(&[b""])) {
            self.aside.push(self.next_seq, &carry)?;
            self.next_seq += 1;
            return Ok(true);
        }
        // A carry without a guard belongs to no record; it is counted at the end.
        if let Some(guard) = guard {
            self.places.entry(guard).or_default().push_back(self.next_seq);
        }
        self.ahead.push(self.next_seq, carry)?;
        self.next_seq += 1;
        Ok(true)
    }

    /// Reads at most `most` bytes up to `end`, which is not returned.
    fn number_until(&mut self, end: u8, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        (&mut self.file).take(most + 1).read_until(end, &mut bytes)?;
        if bytes.pop() == Some(end) { Ok(bytes) } else { Err(not_a_sidecar()) }
    }

    /// Returns the first `n` carries, or all if there are fewer, without taking them.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn head(&mut self, n: usize) -> io::Result<Vec<String>> {
        Ok(self.shared_head(n)?.iter().map(|carry| carry.to_string()).collect())
    }

    /// Returns the first carries as [`Sidecar::head`] does. A long one is in memory once.
    pub(crate) fn shared_head(&mut self, n: usize) -> io::Result<Vec<Arc<String>>> {
        while self.ahead.len() < n && self.ahead.n_bytes() <= MAX_AHEAD && self.read_ahead()? {}
        self.ahead.head(n)
    }

    /// Moves the carries that were read ahead to a temporary file, if they are long.
    pub(crate) fn settle(&mut self) -> io::Result<()> {
        self.ahead.settle()
    }

    /// Returns whether the file has no carry, because it was cut: a sidecar is only written with a carry. Version 1
    /// wrote sidecars without one too.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub(crate) fn is_empty(&mut self) -> io::Result<bool> {
        Ok(!self.is_v1 && self.next_seq == 0 && self.peek()?.is_none())
    }

    /// Returns the next carry without taking it; `None` at the end.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn peek(&mut self) -> io::Result<Option<&str>> {
        while self.ahead.is_empty() && self.read_ahead()? {}
        self.ahead.first_text()
    }

    /// Returns the next carry as [`Sidecar::peek`] does. A long one is in memory once.
    pub(crate) fn peek_shared(&mut self) -> io::Result<Option<Arc<String>>> {
        while self.ahead.is_empty() && self.read_ahead()? {}
        self.ahead.first().map_or(Ok(None), |first| self.ahead.get(first))
    }

    /// Returns whether one of the first carries has this guard.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn knows(&mut self, guard: u64) -> io::Result<bool> {
        while !self.places.contains_key(&guard)
            && self.ahead.n_bytes() <= MAX_AHEAD
            && self.read_ahead()?
        {}
        Ok(self.places.contains_key(&guard))
    }

    /// Returns whether a carry that was not taken may have a guard that is none of `guards`.
    pub(crate) fn may_have_other_than(&self, guards: &HashSet<u64>) -> bool {
        let is_other = |guard: &u64| *guard != guard_of(&[b""]) && !guards.contains(guard);
        !self.is_at_end || self.places.keys().any(is_other)
    }

    /// Returns whether the carry of a record with this guard was taken.
    pub fn has_given(&self, guard: u64) -> bool {
        self.given.contains(&guard)
    }

    /// Takes the carry of the next record with this guard; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn take(&mut self, guard: u64) -> io::Result<Option<String>> {
        if !self.knows(guard)? {
            return Ok(None);
        }
        let Some(places) = self.places.get_mut(&guard) else { return Ok(None) };
        let place = places.pop_front();
        if places.is_empty() {
            self.places.remove(&guard);
        }
        self.given.insert(guard);
        place.map_or(Ok(None), |place| self.ahead.remove(place))
    }

    /// Takes the next carry that belongs to no record: entries for which the carry of the record before had no room.
    ///
    /// # Errors
    ///
    /// Returns an error if the file, or the temporary file of these carries, cannot be read.
    pub(crate) fn take_alone(&mut self) -> io::Result<Option<String>> {
        while self.ahead.is_empty() && self.aside.first().is_none() && self.read_ahead()? {}
        let next = self.ahead.first();
        let is_next = self.aside.first().is_some_and(|first| next.is_none_or(|next| first < next));
        if is_next { self.aside.pop() } else { Ok(None) }
    }

    /// Returns the number of second copies of carries that were left out since the last call. In a sidecar of
    /// version 2 it is 0: the restorer finds second copies by their ordinals.
    pub(crate) fn take_doubled(&mut self) -> u64 {
        std::mem::take(&mut self.n_doubled)
    }

    /// Takes the next carry whose record did not come; `None` at the end.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn next_left(&mut self) -> io::Result<Option<String>> {
        while self.ahead.is_empty() && self.aside.first().is_none() && self.read_ahead()? {}
        self.places.clear();
        match self.ahead.first() {
            Some(place) => self.ahead.remove(place),
            None => self.aside.pop(),
        }
    }
}

/// Returns whether the bytes of a file, and not the system, caused an error of its decompression.
fn is_of_content(error: &io::Error) -> bool {
    let is_of_zstd = error.kind() == io::ErrorKind::Other && error.raw_os_error().is_none();
    is_of_zstd || error.kind() == io::ErrorKind::UnexpectedEof
}

fn newer_sidecar() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "carry of a newer version")
}

fn not_a_sidecar() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not a sidecar, or a damaged one")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::carry::{CarryEncoder, Template};

    #[test]
    fn carries_are_found_by_their_guards() {
        let encoder = CarryEncoder::new("clido", Template::default());
        let mut file = Vec::new();
        let mut writer = SidecarWriter::new(&mut file).expect("a compressor");
        let mut carries = Vec::new();
        for (ordinal, guard) in [7, 9, 7, 0].into_iter().enumerate() {
            let mut head = Vec::new();
            encoder.push_head(&mut head, guard, ordinal as u64, b"");
            let start = [&head[..], "é".as_bytes()];
            writer.add(start, &mut Queue::default(), b"").expect("written");
            head.extend_from_slice("é".as_bytes());
            carries.push(String::from_utf8(head).expect("text"));
        }
        let n_bytes = writer.finish().expect("written");
        assert_eq!(n_bytes, file.len() as u64);
        let mut sidecar = Sidecar::read(&file[..]).expect("read");
        assert_eq!(sidecar.head(2).expect("read"), carries[..2]);
        let mut take = |guard| sidecar.take(guard).expect("read");
        assert_eq!(take(9).as_ref(), Some(&carries[1]));
        assert_eq!(take(7).as_ref(), Some(&carries[0]));
        assert_eq!(take(7).as_ref(), Some(&carries[2]));
        assert_eq!(take(7), None);
        assert!(sidecar.has_given(7) && !sidecar.has_given(0));
        assert_eq!(sidecar.next_left().expect("read").as_ref(), Some(&carries[3]));
        assert_eq!(sidecar.next_left().expect("read"), None);
        let mut torn = Sidecar::read(&file[..file.len() - 3]).expect("its start");
        assert!((0..9).any(|_| torn.next_left().is_err()));
        assert!(Sidecar::read(&b"no"[..]).is_err());
    }
}
