//! Entries of source records that no written record shows, until a written record holds them.
//!
//! In: a source line `{"type":"file-history-snapshot"}`. Out: its entry, when the next line is
//! written, if the line has room for it.

use std::{io, slice};

use super::{CarryEncoder, Queue, encode::Part};

/// Returns the number of bytes of a carry in a member, with escapes.
fn escaped_len(carry: &[u8]) -> usize {
    let escaped = |byte: &u8| match byte {
        b'^' | 0x7f | b'\n' | b'\r' | b'\t' => 2,
        0..0x20 => 6,
        _ => 1,
    };
    carry.iter().map(escaped).sum()
}

/// Entries that wait for a written record.
#[derive(Debug, Default)]
pub(crate) struct PendingEntries {
    /// Limit on the bytes of an entry in a member; `None` for no limit.
    longest: Option<usize>,
    queue: Queue,
}

impl PendingEntries {
    /// Creates an empty queue of entries of at most `longest` bytes in a member.
    pub(crate) fn new(longest: Option<usize>) -> Self {
        Self { longest, ..Self::default() }
    }

    /// Adds a source record, or the glue of a document. A long one becomes several entries.
    ///
    /// # Errors
    ///
    /// As all functions that add or take entries: returns an error if the temporary file for
    /// entries beyond the memory limit cannot be read or written.
    pub(crate) fn add(
        &mut self,
        encoder: &mut CarryEncoder,
        offset: u64,
        line: &[u8],
        is_glue: bool,
    ) -> io::Result<()> {
        self.add_as(line, |out, part, bytes| encoder.push_held(out, offset, part, bytes, is_glue))
    }

    /// Adds the carry that the source's own sidecar has for the source record at an offset.
    pub(crate) fn add_sidecar(
        &mut self,
        encoder: &mut CarryEncoder,
        offset: u64,
        carry: &[u8],
    ) -> io::Result<()> {
        self.add_as(carry, |out, part, bytes| encoder.push_sidecar_part(out, offset, part, bytes))
    }

    fn add_as(
        &mut self,
        bytes: &[u8],
        mut push: impl FnMut(&mut Vec<u8>, Option<Part>, &[u8]),
    ) -> io::Result<()> {
        let Some(longest) = self.longest else {
            return self.queue.push(|out| push(out, None, bytes), <[u8]>::len);
        };
        if escaped_len(bytes) <= longest {
            return self.queue.push(|out| push(out, None, bytes), escaped_len);
        }
        let cuts = cuts(bytes, longest);
        let n_parts = cuts.len() - 1;
        for (part, range) in cuts.windows(2).enumerate() {
            let (part, bytes) = (Part { part, n_parts }, &bytes[range[0]..range[1]]);
            self.queue.push(|out| push(out, Some(part), bytes), escaped_len)?;
        }
        Ok(())
    }

    /// Returns whether there are no entries.
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Returns the bytes of all entries in a member; without a limit, as they are.
    pub(crate) fn len(&self) -> usize {
        self.queue.n_escaped()
    }

    /// Moves the first entries that fit into `room` bytes, as [`PendingEntries::len`] counts them, to `out`. Returns
    /// whether there were any.
    pub(crate) fn take(&mut self, out: &mut Queue, room: usize) -> io::Result<bool> {
        self.queue.move_to(out, room)
    }
}

/// Returns offsets that cut a line into parts of whole characters, each at most `longest` bytes in
/// a member.
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
    // A CRLF ending stays whole, with the last part.
    if line.len() - at == 1 && line.ends_with(b"\r\n") && cuts.len() > 1 {
        cuts.pop();
        cuts.push(at - 1);
    }
    cuts.push(line.len());
    cuts
}
