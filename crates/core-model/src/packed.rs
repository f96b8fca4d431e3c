//! Lines that have all their bytes and wait, packed into few buffers. Buffers beyond the first ones are in a file.
//!
//! In: the lines `{"a":1}` and `{"b":2}`. Out: one buffer `{"a":1}{"b":2}`, and the numbers 0 and 1, by which
//! the lines are copied and removed in any order.

use std::{
    fmt,
    io::{self, Read, Seek, SeekFrom, Write},
};

use crate::draft::CarryMark;

/// Size in bytes at which a buffer is full.
const FULL: usize = 64 * 1024;

/// Number of buffers in memory. Further ones are in the file, if there is one.
const MAX_IN_MEMORY: usize = 32;

/// Length in bytes from which a line has no place in a buffer, but in the file, if there is one.
const LONG: usize = FULL / 2;

/// A file for lines that wait, such as a temporary file.
pub trait LineFile: Read + Write + Seek + Send + fmt::Debug {}

impl<F: Read + Write + Seek + Send + fmt::Debug> LineFile for F {}

/// A function that creates a file for lines that wait.
pub type CreateLineFile = fn() -> Box<dyn LineFile>;

/// Packed lines by their numbers. The number of a removed line is given to a later one.
///
/// ```
/// let mut lines = core_model::PackedLines::default();
/// let number = lines.add(b"{}", None).expect("a short line");
/// let mut line = Vec::new();
/// lines.copy(number, &mut line);
/// lines.remove(number);
/// assert_eq!(line, b"{}");
/// ```
#[derive(Debug, Default)]
pub struct PackedLines {
    buffers: Vec<Buffer>,
    /// The buffer that is filled.
    current: usize,
    unused_buffers: Vec<usize>,
    n_in_memory: usize,
    lines: Vec<Packed>,
    /// The texts around the carries of lines. Formats have one or two.
    frames: Vec<(&'static str, &'static str)>,
    unused_lines: Vec<u32>,
    create_file: Option<CreateLineFile>,
    file: Option<Box<dyn LineFile>>,
    /// The buffer of the file that was read last, by the offset in the file.
    last: (u64, Vec<u8>),
    /// The first error of the file.
    error: Option<io::Error>,
}

#[derive(Debug, Default)]
struct Buffer {
    bytes: Vec<u8>,
    length: usize,
    /// The offset in the file; `None` in memory.
    offset: Option<u64>,
    /// The number of lines in it. Without a line, its memory is returned.
    n_lines: u32,
}

/// The place of a line.
#[derive(Clone, Copy, Debug)]
struct Packed {
    buffer: u32,
    start: u32,
    end: u32,
    /// The offset of the carry in the line, and the index of its frame.
    mark: Option<(u32, u16)>,
}

impl PackedLines {
    /// Sets the function that creates the file.
    pub fn set_file(&mut self, create: CreateLineFile) {
        self.create_file = Some(create);
    }

    /// Adds a line and returns its number. A line of 4 GiB or more has none.
    pub fn add(&mut self, line: &[u8], mark: Option<CarryMark>) -> Option<u32> {
        u32::try_from(line.len()).ok()?;
        let mark = match mark {
            Some(mark) => Some((u32::try_from(mark.at).ok()?, self.frame(&mark)?)),
            None => None,
        };
        if line.len() >= LONG
            && let Some(place) = self.add_to_file(line)
        {
            return self.add_place(Packed { mark, ..place });
        }
        let has_room = |buffer: &Buffer| {
            buffer.n_lines > 0
                && buffer.offset.is_none()
                && buffer.length.saturating_add(line.len()) <= FULL
        };
        if !self.buffers.get(self.current).is_some_and(has_room) {
            self.start_buffer(line.len());
        }
        let buffer = self.buffers.get_mut(self.current)?;
        let start = u32::try_from(buffer.length).ok()?;
        buffer.bytes.extend_from_slice(line);
        buffer.length = buffer.bytes.len();
        buffer.n_lines = buffer.n_lines.saturating_add(1);
        let end = u32::try_from(buffer.length).ok()?;
        let buffer = u32::try_from(self.current).ok()?;
        self.add_place(Packed { buffer, start, end, mark })
    }

    /// Returns the number of a new line at a place.
    fn add_place(&mut self, packed: Packed) -> Option<u32> {
        let Some(number) = self.unused_lines.pop() else {
            self.lines.push(packed);
            return u32::try_from(self.lines.len().saturating_sub(1)).ok();
        };
        *self.lines.get_mut(number as usize)? = packed;
        Some(number)
    }

    /// Returns the index of the texts around a carry.
    fn frame(&mut self, mark: &CarryMark) -> Option<u16> {
        let frame = (mark.before, mark.after);
        let at = self.frames.iter().position(|known| *known == frame).unwrap_or_else(|| {
            self.frames.push(frame);
            self.frames.len().saturating_sub(1)
        });
        u16::try_from(at).ok()
    }

    /// Returns the place of a line's carry.
    pub fn mark(&self, number: u32) -> Option<CarryMark> {
        let (at, frame) = self.lines.get(number as usize)?.mark?;
        let (before, after) = *self.frames.get(usize::from(frame))?;
        Some(CarryMark { at: at as usize, before, after })
    }

    fn start_buffer(&mut self, length: usize) {
        if self.n_in_memory >= MAX_IN_MEMORY {
            self.move_current();
        }
        let is_unused = |buffer: &Buffer| buffer.n_lines == 0;
        if !self.buffers.get(self.current).is_some_and(is_unused) {
            self.current = self.unused_buffers.pop().unwrap_or(self.buffers.len());
        }
        if self.current == self.buffers.len() {
            self.buffers.push(Buffer::default());
        }
        if let Some(buffer) = self.buffers.get_mut(self.current) {
            *buffer = Buffer::default();
            buffer.bytes.reserve_exact(length.max(FULL));
            self.n_in_memory = self.n_in_memory.saturating_add(1);
        }
    }

    /// Writes a line to the file, where it is a buffer of its own. Returns its place; `None` without a file, and if
    /// that fails.
    fn add_to_file(&mut self, line: &[u8]) -> Option<Packed> {
        let end = u32::try_from(line.len()).ok()?;
        let at = self.unused_buffers.last().copied().unwrap_or(self.buffers.len());
        let number = u32::try_from(at).ok()?;
        let file = self.file.get_or_insert_with(self.create_file?);
        let offset = Some(append(file, line).ok()?);
        let buffer = Buffer { bytes: Vec::new(), length: line.len(), offset, n_lines: 1 };
        match self.buffers.get_mut(at) {
            Some(unused) => *unused = buffer,
            None => self.buffers.push(buffer),
        }
        _ = self.unused_buffers.pop();
        Some(Packed { buffer: number, start: 0, end, mark: None })
    }

    /// Moves the current buffer to the file. If that fails, it stays in memory.
    fn move_current(&mut self) {
        let Some(create) = self.create_file else { return };
        let Some(buffer) = self.buffers.get_mut(self.current) else { return };
        if buffer.n_lines == 0 || buffer.offset.is_some() {
            return;
        }
        let file = self.file.get_or_insert_with(create);
        if let Ok(offset) = append(file, &buffer.bytes) {
            buffer.offset = Some(offset);
            buffer.bytes = Vec::new();
            self.n_in_memory = self.n_in_memory.saturating_sub(1);
        }
    }

    /// Appends the bytes of a line. If the file cannot be read, appends none, and [`PackedLines::take_error`]
    /// returns the error.
    pub fn copy(&mut self, number: u32, into: &mut Vec<u8>) {
        let Some(packed) = self.lines.get(number as usize) else { return };
        let Some(buffer) = self.buffers.get(packed.buffer as usize) else { return };
        let range = packed.start as usize..packed.end as usize;
        let Some(offset) = buffer.offset else {
            return into.extend_from_slice(buffer.bytes.get(range).unwrap_or_default());
        };
        let Some(file) = self.file.as_mut() else { return };
        // Most lines are read in the order in which they were added. A long one has no others in its buffer.
        let is_alone = range.len() >= LONG;
        if self.last.0 != offset && range.start > 0 || is_alone || range.is_empty() {
            let start = into.len();
            into.resize(start.saturating_add(range.len()), 0);
            let line = into.get_mut(start..).unwrap_or_default();
            if let Err(error) = read(file, offset.saturating_add(range.start as u64), line) {
                into.truncate(start);
                self.error.get_or_insert(error);
            }
            return;
        }
        if self.last.0 != offset || self.last.1.is_empty() {
            self.last.1.clear();
            self.last.1.resize(buffer.length, 0);
            self.last.0 = offset;
            if let Err(error) = read(file, offset, &mut self.last.1) {
                self.last.1.clear();
                self.error.get_or_insert(error);
            }
        }
        into.extend_from_slice(self.last.1.get(range).unwrap_or_default());
    }

    /// Returns the length of a line in bytes; 0 if there is none.
    pub fn length(&self, number: u32) -> usize {
        let line = self.lines.get(number as usize);
        line.map_or(0, |line| line.end.saturating_sub(line.start) as usize)
    }

    /// Passes the bytes of a line in parts, so that a long one is not in memory.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, or if `take` returns one.
    pub fn each_part(
        &mut self,
        number: u32,
        mut take: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let Some(packed) = self.lines.get(number as usize) else { return Ok(()) };
        let Some(buffer) = self.buffers.get(packed.buffer as usize) else { return Ok(()) };
        let (Some(offset), Some(file)) = (buffer.offset, self.file.as_mut()) else {
            let range = packed.start as usize..packed.end as usize;
            return take(buffer.bytes.get(range).unwrap_or_default());
        };
        let (mut at, mut part) = (u64::from(packed.start), Vec::new());
        while at < u64::from(packed.end) {
            let length = u64::from(packed.end).saturating_sub(at).min(FULL as u64);
            part.resize(length as usize, 0);
            read(file, offset.saturating_add(at), &mut part)?;
            take(&part)?;
            at = at.saturating_add(length);
        }
        Ok(())
    }

    /// Removes a line.
    pub fn remove(&mut self, number: u32) {
        let Some(packed) = self.lines.get(number as usize) else { return };
        let Some(buffer) = self.buffers.get_mut(packed.buffer as usize) else { return };
        buffer.n_lines = buffer.n_lines.saturating_sub(1);
        if buffer.n_lines == 0 {
            if buffer.offset.is_none() {
                self.n_in_memory = self.n_in_memory.saturating_sub(1);
            }
            buffer.bytes = Vec::new();
            if packed.buffer as usize != self.current {
                self.unused_buffers.push(packed.buffer as usize);
            }
        }
        self.unused_lines.push(number);
        if self.unused_lines.len() == self.lines.len() {
            let (create_file, error) = (self.create_file, self.error.take());
            *self = Self { create_file, error, ..Self::default() };
        }
    }

    /// Returns the first error of the file since the last call.
    pub fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }
}

/// Appends bytes to a file, and returns their offset.
fn append(file: &mut dyn LineFile, bytes: &[u8]) -> io::Result<u64> {
    let offset = file.seek(SeekFrom::End(0))?;
    file.write_all(bytes)?;
    Ok(offset)
}

fn read(file: &mut dyn LineFile, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Box<dyn LineFile> {
        Box::new(io::Cursor::new(Vec::new()))
    }

    /// A file that takes all bytes and returns none.
    #[derive(Debug)]
    struct Broken;

    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("broken"))
        }
    }

    impl Write for Broken {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for Broken {
        fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
            Ok(0)
        }
    }

    fn copy(packed: &mut PackedLines, number: u32) -> Vec<u8> {
        let mut line = Vec::new();
        packed.copy(number, &mut line);
        line
    }

    #[test]
    fn lines_are_copied_and_removed_in_any_order() {
        let mut lines: Vec<Vec<u8>> =
            (0..2000).map(|n| format!("{n:0>width$}", width = n % 999).into()).collect();
        lines.insert(9, vec![b'x'; 3 * FULL]);
        lines.extend(std::iter::repeat_with(|| vec![b'y'; FULL]).take(2 * MAX_IN_MEMORY));
        lines.push(Vec::new());
        for create in [None, Some(file as CreateLineFile)] {
            let mut packed = PackedLines { create_file: create, ..PackedLines::default() };
            for _ in 0..2 {
                let numbers: Vec<u32> =
                    lines.iter().map(|line| packed.add(line, None).expect("short")).collect();
                assert_eq!(packed.file.is_some(), create.is_some());
                assert!(create.is_none() || packed.n_in_memory <= MAX_IN_MEMORY + 1);
                for (number, line) in numbers.iter().zip(&lines) {
                    assert!(copy(&mut packed, *number) == *line);
                    assert!(packed.last.1.len() <= FULL, "a long line is not kept");
                    let mut parts = Vec::new();
                    let append = |part: &[u8]| {
                        assert!(part.len() <= FULL || create.is_none());
                        parts.extend_from_slice(part);
                        Ok(())
                    };
                    packed.each_part(*number, append).expect("read");
                    assert!(parts == *line && packed.length(*number) == line.len());
                }
                let (odd, even): (Vec<u32>, Vec<u32>) = numbers.iter().partition(|n| *n % 2 == 1);
                odd.iter().for_each(|number| packed.remove(*number));
                for number in even.iter().rev() {
                    assert!(copy(&mut packed, *number) == lines[*number as usize]);
                }
                let mark = CarryMark { at: 3, before: ",\"extra\":{", after: "}" };
                let again = packed.add(b"again", Some(mark)).expect("short");
                assert_eq!(packed.mark(again), Some(mark));
                assert!(even.iter().all(|number| packed.mark(*number).is_none()));
                assert!(odd.contains(&again), "the number of a removed line");
                assert_eq!(copy(&mut packed, again), b"again");
                packed.remove(again);
                even.iter().for_each(|number| packed.remove(*number));
                assert!(packed.buffers.is_empty() && packed.lines.is_empty());
                assert!(packed.n_in_memory == 0 && packed.take_error().is_none());
            }
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_an_error() {
        let mut packed = PackedLines::default();
        packed.set_file(|| Box::new(Broken));
        let line = vec![b'x'; FULL];
        let numbers: Vec<u32> =
            (0..MAX_IN_MEMORY + 2).map(|_| packed.add(&line, None).expect("short")).collect();
        let lost = numbers.iter().find(|number| copy(&mut packed, **number).is_empty());
        assert!(lost.is_some());
        assert_eq!(packed.take_error().expect("an error").to_string(), "broken");
        assert!(numbers.iter().any(|number| packed.each_part(*number, |_| Ok(())).is_err()));
    }
}
