//! Source lines that no written line says, until they find one to ride on.

use std::slice;

use super::{Packer, encode::Part};

/// Returns the bytes that a carry takes in a member.
fn escaped_len(carry: &[u8]) -> usize {
    let escaped = |byte: &u8| match byte {
        b'^' | 0x7f | b'\n' | b'\r' | b'\t' => 2,
        0..0x20 => 6,
        _ => 1,
    };
    carry.iter().map(escaped).sum()
}

/// Where a record of a rider ends, and all before it.
#[derive(Clone, Copy, Debug, Default)]
struct End {
    at: usize,
    escaped: usize,
}

/// Source lines that wait for a written line to ride on, as records.
#[derive(Debug, Default)]
pub(crate) struct Riders {
    /// The most bytes that a record may take in a member; none, if nobody counts.
    longest: Option<usize>,
    records: Vec<u8>,
    ends: Vec<End>,
    taken: usize,
}

impl Riders {
    /// Creates riders whose records take at most `longest` bytes in a member.
    pub(crate) fn new(longest: Option<usize>) -> Self {
        Self { longest, ..Self::default() }
    }

    /// Adds a source line, as several records if it is too long for one.
    pub(crate) fn add(&mut self, packer: &mut Packer, offset: u64, line: &[u8]) {
        let longest = match self.longest {
            Some(longest) if escaped_len(line) > longest => longest,
            _ => return self.push(packer, offset, None, line),
        };
        let cuts = cuts(line, longest);
        let n_parts = cuts.len() - 1;
        for (part, range) in cuts.windows(2).enumerate() {
            let part = Part { part, n_parts };
            self.push(packer, offset, Some(part), &line[range[0]..range[1]]);
        }
    }

    fn push(&mut self, packer: &mut Packer, offset: u64, part: Option<Part>, bytes: &[u8]) {
        let before = self.ends.last().copied().unwrap_or_default();
        packer.push_rider(&mut self.records, offset, part, bytes);
        let record = &self.records[before.at..];
        let escaped = before.escaped + self.longest.map_or(0, |_| escaped_len(record));
        self.ends.push(End { at: self.records.len(), escaped });
    }

    /// Returns whether no line waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.taken == self.ends.len()
    }

    /// Returns the bytes that all records that wait take in a member, where somebody counts.
    pub(crate) fn len(&self) -> usize {
        self.ends.last().map_or(0, |end| end.escaped - self.start().escaped)
    }

    fn start(&self) -> End {
        self.taken.checked_sub(1).and_then(|last| self.ends.get(last)).copied().unwrap_or_default()
    }

    /// Moves to `out` the records that take no more than `room` bytes in a member, and returns
    /// whether there were any.
    pub(crate) fn take(&mut self, out: &mut Vec<u8>, room: usize) -> bool {
        let start = self.start();
        let waiting = self.ends.get(self.taken..).unwrap_or_default();
        let n = waiting.partition_point(|end| end.escaped - start.escaped <= room);
        let Some(end) = n.checked_sub(1).and_then(|last| waiting.get(last)).copied() else {
            return false;
        };
        out.extend_from_slice(&self.records[start.at..end.at]);
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
