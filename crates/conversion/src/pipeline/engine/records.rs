//! The entries of lines that are not written yet.
//!
//! In: the line `{"text":"a\u2028` that grows to `{"text":"a\u2028b"}`. Out: its entries, and that it has U+2028, after each
//! byte was searched once.

use std::io;

use core_model::{LineId, PackedLines};

use crate::carry::{
    Skips,
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

    /// Puts packed entries before the others again.
    pub(super) fn unpack(&mut self, packed: &mut PackedLines) -> io::Result<()> {
        if self.packed.is_empty() {
            return Ok(());
        }
        let last = std::mem::take(&mut self.entries);
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
        let (mut packed, mut lines) = (packed_entries(), Vec::new());
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
            records.unpack(&mut packed).expect("a temporary file");
            let expected = [entry(line, 0), entry(line, 1), entry(line, 2)].concat();
            assert!(records.entries == expected, "{line}");
        }
    }
}
