//! Entries of source records that no written record says, until a written record holds them.

use std::slice;

use super::{CarryEncoder, encode::Part};

/// Returns the bytes that a carry takes in a member.
fn escaped_len(carry: &[u8]) -> usize {
    let escaped = |byte: &u8| match byte {
        b'^' | 0x7f | b'\n' | b'\r' | b'\t' => 2,
        0..0x20 => 6,
        _ => 1,
    };
    carry.iter().map(escaped).sum()
}

/// Where an entry ends, and how many bytes all entries up to it take in a member.
#[derive(Clone, Copy, Debug, Default)]
struct End {
    at: usize,
    escaped: usize,
}

/// Entries that wait for a written record to hold them.
#[derive(Debug, Default)]
pub(crate) struct PendingEntries {
    /// The most bytes that an entry may take in a member; `None` for no limit.
    longest: Option<usize>,
    records: Vec<u8>,
    ends: Vec<End>,
    taken: usize,
}

impl PendingEntries {
    /// Creates an empty queue of entries that take at most `longest` bytes in a member each.
    pub(crate) fn new(longest: Option<usize>) -> Self {
        Self { longest, ..Self::default() }
    }

    /// Adds a source record, as several entries if it is too long for one.
    pub(crate) fn add(&mut self, encoder: &mut CarryEncoder, offset: u64, line: &[u8]) {
        self.add_as(line, |out, part, bytes| encoder.push_held(out, offset, part, bytes));
    }

    /// Adds the carry that the source's own sidecar has for the source record at an offset.
    pub(crate) fn add_sidecar(&mut self, encoder: &mut CarryEncoder, offset: u64, carry: &[u8]) {
        self.add_as(carry, |out, part, bytes| encoder.push_sidecar_part(out, offset, part, bytes));
    }

    fn add_as(&mut self, bytes: &[u8], mut push: impl FnMut(&mut Vec<u8>, Option<Part>, &[u8])) {
        let longest = match self.longest {
            Some(longest) if escaped_len(bytes) > longest => longest,
            _ => {
                push(&mut self.records, None, bytes);
                return self.end_entry();
            }
        };
        let cuts = cuts(bytes, longest);
        let n_parts = cuts.len() - 1;
        for (part, range) in cuts.windows(2).enumerate() {
            push(&mut self.records, Some(Part { part, n_parts }), &bytes[range[0]..range[1]]);
            self.end_entry();
        }
    }

    fn end_entry(&mut self) {
        let before = self.ends.last().copied().unwrap_or_default();
        let record = &self.records[before.at..];
        let escaped = before.escaped + self.longest.map_or(0, |_| escaped_len(record));
        self.ends.push(End { at: self.records.len(), escaped });
    }

    /// Returns whether no entry waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.taken == self.ends.len()
    }

    /// Returns how many bytes the entries take in a member; 0 without a limit.
    pub(crate) fn len(&self) -> usize {
        self.ends.last().map_or(0, |end| end.escaped - self.start().escaped)
    }

    fn start(&self) -> End {
        self.taken.checked_sub(1).and_then(|last| self.ends.get(last)).copied().unwrap_or_default()
    }

    /// Moves to `out` the first entries that take no more than `room` bytes in a member together, and
    /// returns whether there were any.
    pub(crate) fn take(&mut self, out: &mut Vec<u8>, room: usize) -> bool {
        let start = self.start();
        let waiting = self.ends.get(self.taken..).unwrap_or_default();
        let n = waiting.partition_point(|end| end.escaped - start.escaped <= room);
        let Some(end) = n.checked_sub(1).and_then(|last| waiting.get(last)).copied() else {
            return false;
        };
        let is_all = start.at == 0 && end.at == self.records.len();
        if is_all && out.is_empty() {
            // What waits may be large: it is not copied.
            std::mem::swap(out, &mut self.records);
        } else {
            out.extend_from_slice(&self.records[start.at..end.at]);
        }
        self.taken += n;
        if self.is_empty() {
            self.records.clear();
            self.ends.clear();
            self.taken = 0;
        }
        true
    }
}

/// Returns where to cut a line so that no part takes more than `longest` bytes in a member,
/// characters being whole.
fn cuts(line: &[u8], longest: usize) -> Vec<usize> {
    let mut cuts = vec![0];
    let mut at = 0;
    let mut taken = 0;
    for (byte_idx, byte) in line.iter().enumerate() {
        taken += escaped_len(slice::from_ref(byte));
        if taken > longest && byte_idx > at {
            let mut end = byte_idx;
            while end > at + 1 && line[end] & 0xc0 == 0x80 {
                end -= 1;
            }
            cuts.push(end);
            at = end;
            taken = escaped_len(&line[end..=byte_idx]);
        }
    }
    // The ending stays whole, with the last part.
    if line.len() - at == 1 && line.ends_with(b"\r\n") && cuts.len() > 1 {
        cuts.pop();
        cuts.push(at - 1);
    }
    cuts.push(line.len());
    cuts
}
