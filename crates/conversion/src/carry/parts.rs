//! The parts of a source record that several written records carry, until all of them have come.
//!
//! In: part 1 of 2, `"b":2}` and a newline, with its written record `{"text":"2"}`; then part 0, `{"a":1,`, with
//! `{"text":"1"}`. Out: the source record `{"a":1,"b":2}`, and the two written records in this order of arrival, which
//! must say the same.
//!
//! Parts and written records for which there is no memory wait in a temporary file, which all records of a
//! [`ReorderBuffer`](super::waiting::ReorderBuffer) share. Then the map of the parts and one written record at a time
//! are in memory.

use std::{
    collections::{BTreeMap, VecDeque},
    io::{self, Read, Seek, SeekFrom, Write},
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::temporary::{Temporary, temporary};

/// The memory of a part beside its bytes: its node of a tree that is half full.
const OVERHEAD: usize = 256;

/// The memory of a part that waits in a file.
const SPILLED_OVERHEAD: usize = 96;

/// A source record whose parts several written records carry.
#[derive(Debug, Default)]
pub(super) struct Parts {
    parts: BTreeMap<u64, Stored>,
    n_parts: u64,
    lines: PartLines,
    /// The file of parts that were moved there.
    file: Option<SharedFile>,
    /// The memory of the parts in bytes.
    n_bytes: usize,
    is_broken: bool,
    is_glue: bool,
}

/// The bytes of a part.
#[derive(Debug)]
enum Stored {
    InMemory(Vec<u8>),
    InFile(Range<u64>),
}

/// Identifies a part of a source record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartOf {
    pub(crate) offset: u64,
    pub(crate) part: u64,
    pub(crate) n_parts: u64,
    /// Whether the source record is the glue around the records of a document.
    pub(crate) is_glue: bool,
}

/// The result of putting the parts of a record together.
pub(super) struct Assembled {
    /// The source record; `None` if a part is missing or cannot be read, or a written record was edited.
    pub(super) whole: Option<Vec<u8>>,
    pub(super) lines: PartLines,
    pub(super) is_glue: bool,
}

impl Parts {
    /// Returns the memory of the parts and written records in bytes.
    pub(super) fn n_bytes(&self) -> usize {
        self.n_bytes.saturating_add(self.lines.n_bytes())
    }

    /// Returns whether all parts have come.
    pub(super) fn is_complete(&self) -> bool {
        self.parts.len() as u64 >= self.n_parts
    }

    /// Adds a part, and the written record that shows it. `is_whole` is false if that was edited. Returns false if
    /// the part has come before.
    pub(super) fn push(
        &mut self,
        of: PartOf,
        bytes: Vec<u8>,
        line: Option<PartLine>,
        is_whole: bool,
    ) -> bool {
        if self.parts.contains_key(&of.part) {
            return false;
        }
        self.n_bytes = self.n_bytes.saturating_add(bytes.len() + OVERHEAD);
        self.is_broken |= !is_whole || self.n_parts != 0 && self.n_parts != of.n_parts;
        self.n_parts = of.n_parts;
        self.is_glue = of.is_glue;
        self.parts.insert(of.part, Stored::InMemory(bytes));
        if let Some(line) = line {
            self.lines.push(line);
        }
        true
    }

    /// Moves the parts and written records in memory to a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written. The parts that are not in the file stay in memory.
    pub(super) fn spill(&mut self, file: &SharedFile) -> io::Result<()> {
        self.lines.spill(file)?;
        self.file.get_or_insert_with(|| file.clone());
        for stored in self.parts.values_mut() {
            if let Stored::InMemory(bytes) = stored {
                let range = file.append(&[&*bytes])?;
                self.n_bytes = self.n_bytes.saturating_sub(bytes.len() + OVERHEAD);
                self.n_bytes = self.n_bytes.saturating_add(SPILLED_OVERHEAD);
                *stored = Stored::InFile(range);
            }
        }
        Ok(())
    }

    /// Puts the parts together.
    pub(super) fn assemble(self) -> Assembled {
        let is_whole = self.is_complete() && !self.is_broken;
        let Self { parts, lines, file, is_glue, .. } = self;
        let whole = is_whole.then(|| join(parts, file.as_ref())).and_then(Result::ok);
        Assembled { whole, lines, is_glue }
    }
}

/// Returns the bytes of all parts in order.
fn join(parts: BTreeMap<u64, Stored>, file: Option<&SharedFile>) -> io::Result<Vec<u8>> {
    let n_bytes: u64 = parts.values().map(Stored::len).sum();
    let mut whole = Vec::with_capacity(usize::try_from(n_bytes).unwrap_or_default());
    for stored in parts.into_values() {
        match stored {
            Stored::InMemory(bytes) => whole.extend_from_slice(&bytes),
            Stored::InFile(range) => {
                file.ok_or(io::ErrorKind::NotFound)?.read(range, &mut whole)?;
            }
        }
    }
    Ok(whole)
}

impl Stored {
    fn len(&self) -> u64 {
        match self {
            Stored::InMemory(bytes) => bytes.len() as u64,
            Stored::InFile(range) => range.end - range.start,
        }
    }
}

/// A written record that shows a part of a source record.
#[derive(Debug)]
pub(crate) struct PartLine {
    /// The record without its carry, with its terminator.
    pub(crate) line: Vec<u8>,
    /// The offset in the file that it was read from.
    pub(crate) offset: u64,
    /// Its number among the written records of its format.
    pub(crate) number: u64,
    /// The skeleton of the part.
    pub(crate) skeleton: Vec<u8>,
    /// Whether it shows nothing but the part.
    pub(crate) is_alone: bool,
}

impl PartLine {
    fn n_bytes(&self) -> usize {
        self.line.len() + self.skeleton.len() + OVERHEAD
    }

    /// Writes the record to a file: offset, number, lengths and the flag as words, then the bytes.
    fn spill(&self, file: &SharedFile) -> io::Result<Range<u64>> {
        let Self { line, offset, number, skeleton, is_alone } = self;
        let lengths = [line.len() as u64, skeleton.len() as u64];
        let words = [*offset, *number, lengths[0], lengths[1], u64::from(*is_alone)];
        let mut header = [0; HEADER];
        for (to, word) in header.chunks_exact_mut(WORD).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        file.append(&[&header, line, skeleton])
    }

    /// Reads the record at an offset of a file, without its bytes if its number is `known`. Returns it with the offset
    /// behind it.
    fn read(file: &SharedFile, at: u64, known: Option<u64>) -> io::Result<(Self, u64)> {
        let mut header = Vec::with_capacity(HEADER);
        file.read(at..at + HEADER as u64, &mut header)?;
        let mut words = [0; HEADER / WORD];
        for (word, bytes) in words.iter_mut().zip(header.chunks_exact(WORD)) {
            *word = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
        }
        let [offset, number, n_line, n_skeleton, is_alone] = words;
        let (mut line, mut skeleton) = (Vec::new(), Vec::new());
        let start = at + HEADER as u64;
        let (middle, end) = (start + n_line, start + n_line + n_skeleton);
        if known != Some(number) {
            file.read(start..middle, &mut line)?;
            file.read(middle..end, &mut skeleton)?;
        }
        Ok((Self { line, offset, number, skeleton, is_alone: is_alone != 0 }, end))
    }
}

const WORD: usize = size_of::<u64>();
const HEADER: usize = 5 * WORD;

/// Written records in the order of their arrival. The first ones may wait in a file.
#[derive(Debug, Default)]
pub(crate) struct PartLines {
    file: Option<SharedFile>,
    /// The records in the file, in blocks.
    blocks: VecDeque<Range<u64>>,
    n_in_file: usize,
    in_memory: VecDeque<PartLine>,
    /// The memory of the records in bytes.
    n_bytes: usize,
}

impl PartLines {
    /// Returns whether there is no record.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of records.
    pub(crate) fn len(&self) -> usize {
        self.n_in_file + self.in_memory.len()
    }

    /// Returns the memory of the records in bytes.
    pub(crate) fn n_bytes(&self) -> usize {
        self.n_bytes + self.blocks.len() * size_of::<Range<u64>>()
    }

    fn push(&mut self, line: PartLine) {
        self.n_bytes = self.n_bytes.saturating_add(line.n_bytes());
        self.in_memory.push_back(line);
    }

    fn spill(&mut self, file: &SharedFile) -> io::Result<()> {
        let Some(first) = self.in_memory.front() else { return Ok(()) };
        let mut block = first.spill(file)?;
        for line in self.in_memory.iter().skip(1) {
            // Nothing else is appended meanwhile.
            block.end = line.spill(file)?.end;
        }
        self.file = Some(file.clone());
        self.blocks.push_back(block);
        self.n_in_file += self.in_memory.len();
        self.in_memory = VecDeque::new();
        self.n_bytes = 0;
        Ok(())
    }

    /// Removes and returns the first record; `None` without one. If the file cannot be read, its records are lost.
    pub(crate) fn pop(&mut self) -> Option<PartLine> {
        if let (Some(file), Some(block)) = (&self.file, self.blocks.front_mut()) {
            if let Ok((line, end)) = PartLine::read(file, block.start, None) {
                block.start = end;
                self.n_in_file = self.n_in_file.saturating_sub(1);
                if block.is_empty() {
                    self.blocks.pop_front();
                }
                return Some(line);
            }
            self.blocks.clear();
            self.n_in_file = 0;
        }
        let line = self.in_memory.pop_front()?;
        self.n_bytes = self.n_bytes.saturating_sub(line.n_bytes());
        Some(line)
    }

    /// Calls `each` with every record, and whether its number is `known`; the bytes of a known record may be empty.
    /// Returns false if the file cannot be read.
    pub(crate) fn for_each(
        &self,
        known: Option<u64>,
        mut each: impl FnMut(&PartLine, bool),
    ) -> bool {
        let mut each = |line: &PartLine| each(line, known == Some(line.number));
        for block in self.blocks.iter().filter(|_| self.file.is_some()) {
            let mut at = block.start;
            while at < block.end {
                let read = self.file.as_ref().map(|file| PartLine::read(file, at, known));
                let Some(Ok((line, end))) = read else { return false };
                each(&line);
                at = end;
            }
        }
        self.in_memory.iter().for_each(each);
        true
    }
}

/// A temporary file that several records share. It is removed with the last of them.
#[derive(Clone, Debug)]
pub(super) struct SharedFile(Arc<Mutex<Appended>>);

#[derive(Debug)]
struct Appended {
    file: Temporary,
    /// The size of the file.
    end: u64,
}

impl SharedFile {
    /// Creates an empty file.
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(Appended { file: temporary(), end: 0 })))
    }

    /// Returns whether nothing but this value uses the file.
    pub(super) fn is_unused(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    fn lock(&self) -> MutexGuard<'_, Appended> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends bytes and returns their range.
    fn append(&self, pieces: &[&[u8]]) -> io::Result<Range<u64>> {
        let mut appended = self.lock();
        let start = appended.end;
        appended.file.seek(SeekFrom::Start(start))?;
        let mut end = start;
        for piece in pieces {
            appended.file.write_all(piece)?;
            end += piece.len() as u64;
        }
        appended.end = end;
        Ok(start..end)
    }

    /// Appends the bytes of a range to `out`.
    fn read(&self, range: Range<u64>, out: &mut Vec<u8>) -> io::Result<()> {
        let length = range.end.saturating_sub(range.start);
        out.reserve_exact(usize::try_from(length).unwrap_or_default());
        let mut appended = self.lock();
        appended.file.seek(SeekFrom::Start(range.start))?;
        match Read::by_ref(&mut appended.file).take(length).read_to_end(out)? as u64 {
            n if n == length => Ok(()),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(n: u64) -> PartLine {
        PartLine {
            line: format!("{n}\n").into_bytes(),
            offset: n,
            number: n + 10,
            skeleton: vec![b's'; n as usize],
            is_alone: n.is_multiple_of(2),
        }
    }

    /// Parts come in another order, some of them before the spill of others, and are one record. The written records
    /// keep their order, and can be read more than once.
    #[test]
    fn spilled_parts_are_put_together() {
        for n_spills in 0..3 {
            let (mut parts, file) = (Parts::default(), SharedFile::new());
            for (n, part) in [3, 0, 2, 1].into_iter().enumerate() {
                let of = PartOf { offset: 7, part, n_parts: 4, is_glue: false };
                assert!(parts.push(of, vec![b'a' + part as u8; 3], Some(line(n as u64)), true));
                assert!(!parts.push(of, Vec::new(), None, true));
                assert_eq!(parts.is_complete(), n == 3);
                if n > 0 && n <= n_spills {
                    let before = parts.n_bytes();
                    parts.spill(&file).expect("spilled");
                    assert!(parts.n_bytes() < before);
                }
            }
            assert_eq!(file.is_unused(), n_spills == 0);
            let Assembled { whole, mut lines, .. } = parts.assemble();
            assert_eq!(whole.as_deref(), Some(&b"aaabbbcccddd"[..]));
            let expected: Vec<String> = (0..4).map(|n| format!("{:?}", line(n))).collect();
            for _ in 0..2 {
                let mut seen = Vec::new();
                assert!(lines.for_each(None, |line, _| seen.push(format!("{line:?}"))));
                assert_eq!(seen, expected);
                let mut known = Vec::new();
                assert!(lines.for_each(Some(12), |line, is_known| if is_known {
                    known.push((line.offset, line.is_alone));
                }));
                assert_eq!(known, [(2, true)]);
            }
            for (n, expected) in expected.iter().enumerate() {
                assert_eq!(lines.len(), 4 - n);
                assert_eq!(lines.pop().map(|line| format!("{line:?}")).as_ref(), Some(expected));
            }
            assert!(lines.pop().is_none() && lines.is_empty());
        }
    }

    #[test]
    fn a_record_is_whole_only_with_all_parts_unedited() {
        let of = |part, n_parts| PartOf { offset: 0, part, n_parts, is_glue: true };
        for (second, is_whole, expected) in [
            (Some(of(1, 2)), true, Some(&b"01"[..])),
            (Some(of(1, 2)), false, None),
            (Some(of(1, 3)), true, None),
            (None, true, None),
        ] {
            let mut parts = Parts::default();
            parts.push(of(0, 2), b"0".to_vec(), None, true);
            if let Some(second) = second {
                parts.push(second, b"1".to_vec(), None, is_whole);
            }
            let assembled = parts.assemble();
            assert_eq!(assembled.whole.as_deref(), expected);
            assert!(assembled.is_glue && assembled.lines.is_empty());
        }
    }
}
