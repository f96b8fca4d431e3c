//! Delays lines until another line of the source has been written.
//!
//! In: source lines in file order, and a plan that names for each delayed line the line that it
//! follows. Out: the same lines in the order of the plan. The plan comes from the survey. An
//! example is a tool result that the client logged before the message that it answers.
//!
//! ```text
//! plan: the line at 0 follows the line at 20
//!
//! keep(0)      true: delayed
//! keep(10)     false: convert it now      before(10) = []   after(10) = []
//! keep(20)     false: convert it now      before(20) = []   after(20) = [0]
//! order written: 10, 20, 0
//! ```
//!
//! The reorder buffer restores the order of the source on the way back.

use std::{
    collections::BTreeMap,
    io::{self, ErrorKind, Read, SeekFrom},
    ops::Range,
};

use core_model::{Late, LineFile};
use jsonl::{Line, Unit};

use crate::carry::temporary_lines;

/// Limit in bytes on the distance that a line is delayed. On the way back, the reorder buffer has a
/// file for the records that wait.
const MAX_DISTANCE: u64 = 8 * 1024 * 1024;

/// Limit on the bytes of delayed lines in memory. The others are in a temporary file.
const MAX_IN_MEMORY: usize = 1024 * 1024;

/// The lines to delay, and the delayed lines that have not been released.
#[derive(Debug, Default)]
pub(crate) struct DeferredRecords {
    /// The lines to delay, by their offset.
    places: Vec<LatePlace>,
    waiting: BTreeMap<(u64, u32), DeferredRecord>,
    /// The bytes of the waiting lines.
    bytes: DeferredBytes,
    /// The offset of the first waiting line.
    first: u64,
}

/// The bytes of the waiting lines, in the order of their arrival: first those in the file, then those in memory.
#[derive(Debug, Default)]
struct DeferredBytes {
    file: Option<Box<dyn LineFile>>,
    /// The number of bytes in the file.
    n_in_file: u64,
    in_memory: Vec<u8>,
}

/// The planned position of a delayed line.
#[derive(Clone, Copy, Debug)]
struct LatePlace {
    /// The offset of the line.
    offset: u64,
    /// The offset of the line that it follows.
    after: u64,
    /// The index among all delayed lines, which decides between lines that follow the same one.
    number: u32,
}

/// A delayed line.
#[derive(Debug)]
pub(crate) struct DeferredRecord {
    /// The place of the line with its terminator, for [`DeferredRecords::read`].
    bytes: Range<u64>,
    /// The offset in the source.
    pub(crate) offset: u64,
    /// The line number in the source, from 1.
    pub(crate) number: u64,
    /// The part of the source that it is.
    pub(crate) unit: Unit,
}

impl DeferredRecords {
    /// Creates the list of lines to delay, from a plan.
    pub(crate) fn new(late: &[Late]) -> Self {
        let place =
            |(number, &Late { offset, after }): (u32, &Late)| LatePlace { offset, after, number };
        let mut places: Vec<LatePlace> = (0..).zip(late).map(place).collect();
        places.sort_unstable_by_key(|place| place.offset);
        Self { places, ..Self::default() }
    }

    /// Stores a line if the plan delays it. Returns whether it does; a line longer than
    /// `MAX_DISTANCE` is never delayed.
    ///
    /// # Errors
    ///
    /// Returns an error if the temporary file cannot be written.
    pub(crate) fn keep(&mut self, line: &Line<'_>, number: u64) -> io::Result<bool> {
        if line.is_glue() {
            return Ok(false);
        }
        // Not in ascending order: the lines of a sub-agent's file come among the lines of the session.
        let found = self.places.binary_search_by_key(&line.offset(), |place| place.offset);
        let Some(place) = found.ok().and_then(|found| self.places.get(found)) else {
            return Ok(false);
        };
        if line.bytes().len() as u64 > MAX_DISTANCE {
            return Ok(false);
        }
        if self.waiting.is_empty() {
            // Released lines were read.
            self.bytes.clear();
            self.first = line.offset();
        }
        let (offset, unit) = (line.offset(), line.unit());
        let bytes = self.bytes.push(line.bytes())?;
        let record = DeferredRecord { bytes, offset, number, unit };
        self.waiting.insert((place.after, place.number), record);
        Ok(true)
    }

    /// Reads the bytes of a released line into a buffer. They are there until the next line is kept.
    ///
    /// # Errors
    ///
    /// Returns an error if the temporary file cannot be read.
    pub(crate) fn read(&mut self, record: &DeferredRecord, out: &mut Vec<u8>) -> io::Result<()> {
        self.bytes.read(&record.bytes, out)
    }

    /// Returns whether a line waits.
    pub(crate) fn waits(&self, line: &Line<'_>) -> bool {
        self.waiting.values().any(|record| record.offset == line.offset())
    }

    /// Removes and returns all waiting lines if `line` ends more than `MAX_DISTANCE` behind the
    /// first of them.
    pub(crate) fn before(&mut self, line: &Line<'_>) -> Vec<DeferredRecord> {
        let end = line.offset() + line.bytes().len() as u64;
        if self.waiting.is_empty() || end.saturating_sub(self.first) <= MAX_DISTANCE {
            return Vec::new();
        }
        std::mem::take(&mut self.waiting).into_values().collect()
    }

    /// Removes and returns the waiting lines that follow `line`.
    pub(crate) fn after(&mut self, line: &Line<'_>) -> Vec<DeferredRecord> {
        let mut after = Vec::new();
        while let Some(entry) = self.waiting.first_entry()
            && entry.key().0 <= line.offset()
        {
            after.push(entry.remove());
        }
        after
    }
}

impl DeferredBytes {
    fn clear(&mut self) {
        self.n_in_file = 0;
        self.in_memory.clear();
    }

    /// Adds the bytes of a line. Returns their place.
    fn push(&mut self, bytes: &[u8]) -> io::Result<Range<u64>> {
        if self.in_memory.len() + bytes.len() > MAX_IN_MEMORY {
            self.append(bytes)?;
            return Ok(self.n_in_file - bytes.len() as u64..self.n_in_file);
        }
        let start = self.n_in_file + self.in_memory.len() as u64;
        self.in_memory.extend_from_slice(bytes);
        Ok(start..start + bytes.len() as u64)
    }

    /// Moves the bytes in memory to the file, and appends a line.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let file = self.file.get_or_insert_with(temporary_lines);
        file.seek(SeekFrom::Start(self.n_in_file))?;
        for bytes in [&self.in_memory, bytes] {
            file.write_all(bytes)?;
            self.n_in_file += bytes.len() as u64;
        }
        self.in_memory.clear();
        Ok(())
    }

    fn read(&mut self, place: &Range<u64>, out: &mut Vec<u8>) -> io::Result<()> {
        out.clear();
        let length = place.end - place.start;
        if let Some(start) = place.start.checked_sub(self.n_in_file) {
            let bytes = self.in_memory.get(start as usize..(start + length) as usize);
            out.extend_from_slice(bytes.ok_or(ErrorKind::UnexpectedEof)?);
            return Ok(());
        }
        let file = self.file.as_mut().ok_or(ErrorKind::NotFound)?;
        file.seek(SeekFrom::Start(place.start))?;
        out.resize(length as usize, 0);
        file.read_exact(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the offsets of lines in the order in which they are written.
    fn written(late: &[Late], offsets: &[u64]) -> Vec<u64> {
        let mut deferred = DeferredRecords::new(late);
        let mut written = Vec::new();
        for (number, offset) in (1..).zip(offsets) {
            let line = Line::new(b"{\"n\": 11}\n", *offset);
            if deferred.keep(&line, number).expect("kept") {
                continue;
            }
            written.extend(deferred.before(&line).iter().map(|late| late.offset));
            written.push(*offset);
            written.extend(deferred.after(&line).iter().map(|late| late.offset));
        }
        written
    }

    #[test]
    fn the_example_of_the_module_is_true() {
        let late = [Late { offset: 0, after: 20 }];
        assert_eq!(written(&late, &[0, 10, 20]), [10, 20, 0]);
    }

    #[test]
    fn a_sub_agents_lines_may_come_before_a_line_that_is_delayed() {
        let late = [Late { offset: 10, after: 20 }, Late { offset: 900, after: 910 }];
        assert_eq!(written(&late, &[0, 900, 500, 910, 10, 20]), [0, 500, 910, 900, 20, 10]);
    }

    /// Lines of 100 KB, of which the fourth is longer than the memory, come from the last to the first.
    #[test]
    fn lines_that_wait_are_in_a_file() {
        let lines: Vec<Vec<u8>> = (0..30)
            .map(|n| vec![b'a' + n; if n == 3 { MAX_IN_MEMORY + 7 } else { 100_000 }])
            .collect();
        let late: Vec<Late> = (0..30).rev().map(|offset| Late { offset, after: 99 }).collect();
        let mut deferred = DeferredRecords::new(&late);
        for round in 0..2 {
            for (n, line) in (0..).zip(&lines) {
                assert!(deferred.keep(&Line::new(line, n), n).expect("kept"));
                assert!(deferred.bytes.in_memory.capacity() <= 2 * MAX_IN_MEMORY, "{round} {n}");
            }
            let (mut bytes, after) = (Vec::new(), deferred.after(&Line::new(b"\n", 99)));
            assert_eq!(after.len(), 30);
            for (record, line) in after.iter().zip(lines.iter().rev()) {
                deferred.read(record, &mut bytes).expect("read");
                assert!(bytes == *line, "{}", record.number);
            }
        }
    }
}
