//! The entries of lines that are not written yet.
//!
//! In: the line `{"text":"a\u2028` that grows to `{"text":"a\u2028b"}`. Out: its entries, and that it has U+2028, after each
//! byte was searched once.

use std::io;

use core_model::{LineId, PackedLines};

use crate::carry::{
    EntryText, Queue, Skips,
    separators::{LONGEST, has_separators},
    temporary_lines,
};

/// The entries of a line that has not been emitted yet.
#[derive(Default)]
pub(super) struct Records {
    pub(super) entries: Vec<u8>,
    pub(super) skips: Skips,
    pub(super) separators: Separators,
    /// The numbers of the first entries, which are packed.
    packed: Vec<u32>,
}

/// Limit in bytes on the entries of as many lines as are open, if each had as many. Above it, entries are packed.
const MAX_OPEN: usize = 2 * 1024 * 1024;

/// Length in bytes from which a literal is packed at once, and from which packed entries are not in memory again.
pub(super) const LONG: usize = 1024 * 1024;

/// Number of lines that keep the memory of their entries once they are written.
const MAX_KEPT: usize = 64;

impl Records {
    /// Packs the entries of a line that waits among so many others, if they have too many bytes.
    pub(super) fn pack(&mut self, n_open: usize, packed: &mut PackedLines) {
        /// Length in bytes below which entries stay, because their place takes some.
        const MIN: usize = 256;
        let length = self.entries.len();
        if length >= MIN
            && length.saturating_mul(n_open) > MAX_OPEN
            && let Some(number) = packed.add(&self.entries, None)
        {
            self.packed.push(number);
            self.entries = Vec::new();
        }
    }

    /// Puts packed entries before the others again. Moves all to `long` if they are long.
    pub(super) fn unpack(&mut self, packed: &mut PackedLines, long: &mut Queue) -> io::Result<()> {
        if self.packed.is_empty() {
            return Ok(());
        }
        let last = std::mem::take(&mut self.entries);
        let length: usize = self.packed.iter().map(|number| packed.length(*number)).sum();
        if length >= LONG {
            let mut push = |part: &[u8]| long.push(|out| out.extend_from_slice(part), <[u8]>::len);
            for number in std::mem::take(&mut self.packed) {
                packed.each_part(number, &mut push)?;
                packed.remove(number);
            }
            return push(&last);
        }
        for number in std::mem::take(&mut self.packed) {
            packed.copy(number, &mut self.entries);
            packed.remove(number);
        }
        self.entries.extend_from_slice(&last);
        packed.take_error().map_or(Ok(()), Err)
    }

    /// Forgets the entries of a written line.
    pub(super) fn clear(&mut self, id: LineId) {
        self.entries.clear();
        self.skips.clear();
        if id.index() >= MAX_KEPT {
            self.entries = Vec::new();
        }
    }
}

/// The entries of a line that more are appended to, without the long literals in memory.
pub(super) struct LongEntries<'r> {
    records: &'r mut Records,
    packed: &'r mut PackedLines,
    /// The number of bytes that were packed.
    n_packed: usize,
}

impl<'r> LongEntries<'r> {
    pub(super) fn new(records: &'r mut Records, packed: &'r mut PackedLines) -> Self {
        Self { records, packed, n_packed: 0 }
    }

    /// Packs bytes behind the packed entries. Returns whether they have a place.
    fn pack(&mut self, bytes: &[u8]) -> bool {
        let number = self.packed.add(bytes, None);
        self.records.packed.extend(number);
        self.n_packed += if number.is_some() { bytes.len() } else { 0 };
        number.is_some()
    }
}

impl EntryText for LongEntries<'_> {
    fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.records.entries
    }

    fn push_literal(&mut self, bytes: &[u8]) {
        if bytes.len() >= LONG {
            let before = std::mem::take(&mut self.records.entries);
            if !self.pack(&before) {
                self.records.entries = before;
            } else if self.pack(bytes) {
                return;
            }
        }
        self.records.entries.extend_from_slice(bytes);
    }

    fn n_bytes(&self) -> usize {
        self.n_packed + self.records.entries.len()
    }

    fn cut(&mut self, n_bytes: usize) {
        while self.n_packed > n_bytes
            && let Some(number) = self.records.packed.pop()
        {
            self.n_packed -= self.packed.length(number);
            self.records.entries.clear();
            self.packed.copy(number, &mut self.records.entries);
            self.packed.remove(number);
        }
        self.records.entries.truncate(n_bytes - self.n_packed);
    }
}

/// Whether a line has U+2028, U+2029 or an escape of one, as far as it was searched.
#[derive(Clone, Copy, Default)]
pub(super) struct Separators {
    is_found: bool,
    n_searched: usize,
}

impl Separators {
    /// Searches the bytes that are new in a line, and returns whether it has one. `start` is the offset of the bytes in the
    /// line: the ones before them were searched.
    pub(super) fn search(&mut self, line: &[u8], start: usize) -> bool {
        if !self.is_found {
            let new = self.n_searched.saturating_sub(start);
            self.is_found = has_separators(line.get(new..).unwrap_or(line));
            self.n_searched = start.saturating_add(line.len()).saturating_sub(LONGEST);
        }
        self.is_found
    }
}

/// Creates a store for entries of lines that wait, most of which are in a temporary file.
pub(super) fn packed_entries() -> PackedLines {
    let mut packed = PackedLines::default();
    packed.set_file(temporary_lines);
    packed
}

/// Returns the entries of a line.
pub(super) fn slot(records: &mut Vec<Records>, id: LineId) -> &mut Records {
    if records.len() <= id.index() {
        records.resize_with(id.index() + 1, Records::default);
    }
    &mut records[id.index()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_many_lines_that_wait_are_packed() {
        let (mut packed, mut lines, mut long) = (packed_entries(), Vec::new(), Queue::default());
        let entry = |line: usize, n: u8| vec![b'a' + n; 300 * (line % 100)];
        for n in 0..3 {
            for line in 0..400 {
                let records: &mut Records = match n {
                    0 => {
                        lines.push(Records::default());
                        lines.last_mut().expect("a line")
                    }
                    _ => &mut lines[line],
                };
                records.entries.extend(entry(line, n));
                records.pack(400, &mut packed);
            }
        }
        let kept: usize = lines.iter().map(|records| records.entries.capacity()).sum();
        assert!(kept <= 2 * MAX_OPEN, "{kept} of 18,000,000 bytes");
        for (line, records) in lines.iter_mut().enumerate() {
            records.unpack(&mut packed, &mut long).expect("a temporary file");
            assert!(long.is_empty());
            let expected = [entry(line, 0), entry(line, 1), entry(line, 2)].concat();
            assert!(records.entries == expected, "{line}");
        }
    }

    #[test]
    fn long_literals_are_not_in_memory() {
        let (mut packed, mut long) = (packed_entries(), Queue::default());
        let mut records = Records { entries: b"first;".to_vec(), ..Records::default() };
        let literal = vec![b'x'; 3 * LONG];
        let mut entries = LongEntries::new(&mut records, &mut packed);
        entries.buffer().extend_from_slice(b"a");
        let (start, after_first) = (entries.n_bytes(), 7 + literal.len());
        entries.push_literal(&literal);
        entries.push_literal(b"b");
        entries.push_literal(&literal);
        assert_eq!((start, entries.n_bytes()), (7, 8 + 2 * literal.len()));
        // A carry is written once more without its template.
        entries.cut(after_first - 1);
        entries.push_literal(b"c");
        entries.cut(5);
        entries.push_literal(b";d");
        entries.push_literal(&literal);
        entries.buffer().push(b'e');
        assert!(records.entries.capacity() < LONG);
        records.unpack(&mut packed, &mut long).expect("a temporary file");
        let mut all = Vec::new();
        let append = |part: &[u8]| {
            all.extend_from_slice(part);
            Ok(())
        };
        long.drain(append).expect("read");
        assert!(all == [b"first;d", &literal[..], b"e"].concat());
        assert!(records.entries.is_empty() && records.packed.is_empty());
    }
}
