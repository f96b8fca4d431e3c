//! Finished lines of a record that has very many, packed into few buffers.
//!
//! In: the written lines `{"a":1}` and `{"b":2}`. Out: one buffer `{"a":1}{"b":2}` with the ends 7
//! and 14, from which the lines are taken one by one.

use std::collections::VecDeque;

/// Size in bytes at which a buffer is full.
const FULL: usize = 64 * 1024;

/// Lines in the order in which they were added.
#[derive(Debug, Default)]
pub(crate) struct PackedLines {
    buffers: VecDeque<Buffer>,
}

#[derive(Debug, Default)]
struct Buffer {
    bytes: Vec<u8>,
    /// The end of each line in `bytes`.
    ends: VecDeque<u32>,
    /// The start of the first line that is left.
    start: usize,
}

impl PackedLines {
    /// Adds a line.
    pub(crate) fn push(&mut self, line: &[u8]) {
        let has_room = |buffer: &Buffer| buffer.bytes.len().saturating_add(line.len()) <= FULL;
        if !self.buffers.back().is_some_and(has_room) {
            let mut buffer = Buffer::default();
            buffer.bytes.reserve_exact(line.len().max(FULL));
            self.buffers.push_back(buffer);
        }
        let Some(buffer) = self.buffers.back_mut() else { return };
        buffer.bytes.extend_from_slice(line);
        buffer.ends.push_back(u32::try_from(buffer.bytes.len()).unwrap_or(u32::MAX));
    }

    /// Appends the first line to `line` and removes it. Returns whether there was one.
    pub(crate) fn pop(&mut self, line: &mut Vec<u8>) -> bool {
        let Some(buffer) = self.buffers.front_mut() else { return false };
        let Some(end) = buffer.ends.pop_front() else { return false };
        let end = if buffer.ends.is_empty() { buffer.bytes.len() } else { end as usize };
        line.extend_from_slice(buffer.bytes.get(buffer.start..end).unwrap_or_default());
        buffer.start = end;
        if buffer.ends.is_empty() {
            self.buffers.pop_front();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_in_order() {
        let mut packed = PackedLines::default();
        let lines: Vec<Vec<u8>> =
            (0..2000).map(|n| format!("{n:0>width$}", width = n % 99).into()).collect();
        let long = vec![b'x'; 3 * FULL];
        for line in &lines {
            packed.push(line);
        }
        packed.push(&long);
        packed.push(b"");
        let mut back = Vec::new();
        let mut line = Vec::new();
        while packed.pop(&mut line) {
            back.push(std::mem::take(&mut line));
        }
        assert_eq!(back[..2000], lines);
        assert_eq!(back[2000..], [long, Vec::new()]);
        assert!(!packed.pop(&mut line));
    }
}
