//! Restored records that wait in a temporary file.
//!
//! Each spill writes a sorted run. Taking records merges the runs, so that only one block of each is
//! in memory. A record is its source offset, its length and a flag, 24 bytes, and then its bytes.
//!
//! ```text
//! spill [(20, "{5}"), (30, "{7}")]    spill [(10, "{2}"), (25, "{6}")]
//! take  (10, "{2}") (20, "{5}") (25, "{6}") (30, "{7}")
//! ```

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    io::{self, ErrorKind, Read, Seek, SeekFrom, Write},
};

use jsonl::LineBuf;

use super::temporary::{Temporary, temporary};

/// The number of bytes that are written at a time.
const WRITE_BLOCK: usize = 256 * 1024;

/// The number of bytes of a run that are read at a time.
const READ_BLOCK: usize = 32 * 1024;

const WORD: usize = size_of::<u64>();
const HEADER: usize = 3 * WORD;

/// A restored source record.
#[derive(Debug)]
pub(crate) struct RestoredRecord {
    pub(crate) offset: u64,
    pub(crate) line: LineBuf,
    /// Whether it is the glue around the records of a document.
    pub(crate) is_glue: bool,
}

/// Sorted runs of records in one temporary file.
#[derive(Debug, Default)]
pub(crate) struct SpilledRuns {
    file: Option<Temporary>,
    /// The size of the file.
    end: u64,
    runs: Vec<Run>,
    /// The source offset of the next record of each run, and the index of the run.
    heads: BinaryHeap<Reverse<(u64, usize)>>,
}

/// The unread part of a run, whose first record is in `heads`.
#[derive(Debug)]
struct Run {
    /// The position in the file behind `block`, and behind the run.
    at: u64,
    end: u64,
    block: Vec<u8>,
    /// The number of bytes of `block` that were taken.
    taken: usize,
}

impl SpilledRuns {
    /// Returns the source offset of the next record; `None` without records.
    pub(crate) fn first(&self) -> Option<u64> {
        self.heads.peek().map(|Reverse((offset, _))| *offset)
    }

    /// Writes records, sorted by their source offsets, as a run: the offset, the bytes, and whether
    /// they are glue.
    ///
    /// # Errors
    ///
    /// Returns an error if the temporary file cannot be written. The runs then are as before.
    pub(crate) fn spill<'r>(
        &mut self,
        records: impl Iterator<Item = (u64, &'r [u8], bool)>,
    ) -> io::Result<()> {
        let file = self.file.get_or_insert_with(temporary);
        file.seek(SeekFrom::Start(self.end))?;
        let (mut end, mut first) = (self.end, None);
        let mut block = Vec::with_capacity(WRITE_BLOCK);
        for (offset, bytes, is_glue) in records {
            first.get_or_insert(offset);
            for word in [offset, bytes.len() as u64, u64::from(is_glue)] {
                block.extend_from_slice(&word.to_le_bytes());
            }
            block.extend_from_slice(bytes);
            if block.len() >= WRITE_BLOCK {
                file.write_all(&block)?;
                end += block.len() as u64;
                block.clear();
                // Frees the memory of a long record.
                block.shrink_to(WRITE_BLOCK);
            }
        }
        file.write_all(&block)?;
        end += block.len() as u64;
        if let Some(first) = first {
            self.heads.push(Reverse((first, self.runs.len())));
            self.runs.push(Run { at: self.end, end, block: Vec::new(), taken: 0 });
        }
        self.end = end;
        Ok(())
    }

    /// Takes the record with the lowest source offset; `None` without records.
    ///
    /// # Errors
    ///
    /// Returns an error if the temporary file cannot be read. The rest of the run is lost.
    pub(crate) fn take(&mut self) -> io::Result<Option<RestoredRecord>> {
        let Some(Reverse((offset, run_idx))) = self.heads.pop() else { return Ok(None) };
        let (Some(file), Some(run)) = (&mut self.file, self.runs.get_mut(run_idx)) else {
            return Ok(None);
        };
        let header = run.read(file, HEADER)?;
        let (length, is_glue) = (word(header, 1), word(header, 2) != 0);
        let bytes = run.read(file, usize::try_from(length).unwrap_or(usize::MAX))?.to_vec();
        match run.peek_offset(file)? {
            Some(next) => self.heads.push(Reverse((next, run_idx))),
            None => run.block = Vec::new(),
        }
        if self.heads.is_empty() {
            // The space on the disk is free again.
            *self = Self::default();
        }
        Ok(Some(RestoredRecord { offset, line: bytes.into(), is_glue }))
    }
}

impl Run {
    /// Takes `n` bytes.
    fn read(&mut self, file: &mut Temporary, n: usize) -> io::Result<&[u8]> {
        self.fill(file, n)?;
        let start = self.taken;
        let end = start.checked_add(n).ok_or(ErrorKind::UnexpectedEof)?;
        let bytes = self.block.get(start..end).ok_or(ErrorKind::UnexpectedEof)?;
        self.taken = end;
        Ok(bytes)
    }

    /// Returns the source offset of the next record; `None` at the end of the run.
    fn peek_offset(&mut self, file: &mut Temporary) -> io::Result<Option<u64>> {
        self.fill(file, HEADER)?;
        let header = self.block.get(self.taken..).unwrap_or_default();
        Ok((!header.is_empty()).then(|| word(header, 0)))
    }

    /// Reads until `block` has `n` bytes that were not taken, or the run ends.
    fn fill(&mut self, file: &mut Temporary, n: usize) -> io::Result<()> {
        let n_left = self.block.len() - self.taken;
        if n_left >= n || self.at == self.end {
            return Ok(());
        }
        self.block.drain(..self.taken);
        self.taken = 0;
        // Frees the memory of a long record.
        self.block.shrink_to(READ_BLOCK);
        let wanted = (n - n_left).max(READ_BLOCK) as u64;
        let length = wanted.min(self.end - self.at);
        self.block.resize(n_left + length as usize, 0);
        file.seek(SeekFrom::Start(self.at))?;
        file.read_exact(self.block.get_mut(n_left..).unwrap_or_default())?;
        self.at += length;
        Ok(())
    }
}

fn word(header: &[u8], n: usize) -> u64 {
    let word = header.get(n * WORD..).and_then(<[u8]>::first_chunk);
    u64::from_le_bytes(word.copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_merged() {
        let mut runs = SpilledRuns::default();
        // The third run has a record that is longer than a block.
        let lengths = [vec![3; 20_000], vec![40; 7000], vec![10, 3 * READ_BLOCK, 0, 5]];
        let mut expected = Vec::new();
        for (n, lengths) in lengths.iter().enumerate() {
            let records: Vec<(u64, Vec<u8>)> = (0_u64..)
                .zip(lengths)
                .map(|(at, length)| (at * 3 + n as u64, vec![b'a' + n as u8; *length]))
                .collect();
            let borrowed = records.iter().map(|(offset, bytes)| (*offset, &**bytes, n == 1));
            runs.spill(borrowed).expect("spilled");
            expected.extend(records);
        }
        expected.sort();
        for (offset, bytes) in expected {
            assert_eq!(runs.first(), Some(offset));
            let record = runs.take().expect("read").expect("a record");
            assert!(record.line.bytes() == bytes && record.offset == offset);
            assert_eq!(record.is_glue, offset % 3 == 1);
        }
        assert!(runs.first().is_none() && runs.file.is_none());
        assert!(runs.take().expect("read").is_none());
    }
}
