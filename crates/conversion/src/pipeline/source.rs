//! A source that can be read more than once.
//!
//! In: a reader that can seek. Out: its lines and values, as often as asked for. A source of at
//! most 8 MiB is read and scanned once, and stays in memory.

use std::{
    cell::Cell,
    io::{self, Read, Seek, SeekFrom, Write},
};

use core_model::{Event, Format};
use jsonl::{Chunk, Line, Scanner, Stream, Value};

use crate::pipeline::{
    parallel::for_each_chunk,
    recovery::{Recovery, is_damage},
    survey::{EachEvent, Events},
};

/// Receives each line and its value. Returns false to stop.
pub type EachLine<'e> = dyn FnMut(&Line<'_>, jsonl::Result<Value<'_>>) -> bool + 'e;

/// Limit on a source that stays in memory, in bytes.
const MAX_KEPT: u64 = 8 * 1024 * 1024;

/// Limit on the values of such a source. The index takes 12 bytes for each.
const MAX_VALUES: usize = 512 * 1024;

thread_local! {
    /// The buffers of the last source, for the next one: fresh pages would cost as much as reading
    /// it.
    static SPARE: Cell<Option<Chunk>> = const { Cell::new(None) };
}

/// A source that can be read more than once.
#[derive(Debug)]
pub struct Source<R> {
    reader: R,
    scanner: Scanner,
    kept: Option<Borrowed>,
    is_large: bool,
    n_scanners: usize,
}

impl<R: Read + Seek + Send> Source<R> {
    /// Creates a source.
    pub fn new(reader: R) -> Self {
        Self { reader, scanner: Scanner::default(), kept: None, is_large: false, n_scanners: 0 }
    }

    /// Sets the number of threads that scan a large source.
    pub fn with_scanners(mut self, n_scanners: usize) -> Self {
        self.n_scanners = n_scanners;
        self
    }

    /// Returns the reader.
    pub fn reader(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Reads and scans the source if it is small and not in memory.
    fn keep(&mut self) -> io::Result<()> {
        if self.kept.is_some() || self.is_large {
            return Ok(());
        }
        let size = self.reader.seek(SeekFrom::End(0))?;
        self.is_large = size > MAX_KEPT;
        self.reader.seek(SeekFrom::Start(0))?;
        if !self.is_large {
            let mut borrowed = Borrowed(SPARE.take().unwrap_or_default());
            let reader = &mut self.reader;
            let mut n_read = 0;
            // With one spare byte, the last read returns 0 bytes and shows that the source ends.
            let room = size as usize + 1;
            let is_all = borrowed.0.refill(0, &mut self.scanner, room, MAX_VALUES, |free| {
                let n = if n_read > MAX_KEPT { 0 } else { read_some(reader, free)? };
                n_read += n as u64;
                io::Result::Ok(n)
            })?;
            self.is_large = !is_all || borrowed.0.len() as u64 > MAX_KEPT;
            self.kept = Some(borrowed).filter(|_| !self.is_large);
        }
        Ok(())
    }

    /// Writes all bytes to `sink` and returns their number.
    pub fn copy_to(&mut self, sink: &mut dyn Write) -> io::Result<u64> {
        self.reader.seek(SeekFrom::Start(0))?;
        io::copy(&mut self.reader, sink)
    }

    /// Calls `each` with every line and its value, until it returns false.
    pub fn for_each(&mut self, each: &mut EachLine<'_>) -> io::Result<()> {
        self.keep()?;
        let mut each_of = |chunk: &Chunk| chunk.iter().all(|(line, value)| each(&line, value));
        if let Some(Borrowed(chunk)) = &self.kept {
            each_of(chunk);
            return Ok(());
        }
        self.reader.seek(SeekFrom::Start(0))?;
        if self.n_scanners > 0 {
            return for_each_chunk(&mut self.reader, self.n_scanners, &mut each_of);
        }
        let mut stream = Stream::new(&mut self.reader);
        while let Some(line) = stream.next()? {
            if !each(&line, self.scanner.scan(&line)) {
                break;
            }
        }
        Ok(())
    }

    /// Calls `each` as [`Source::for_each`] does, and splits damaged lines into pieces. A piece
    /// that `formats` recognize is a record.
    pub fn for_each_piece(
        &mut self,
        formats: &[&'static Format],
        each: &mut EachLine<'_>,
    ) -> io::Result<()> {
        let mut recovery = Recovery::new(formats);
        self.for_each(&mut |line, value| recovery.line(line, value, each))
    }

    /// Calls `then` with the events of the source. The lines of a small source are parsed once,
    /// unless a line is damaged.
    pub fn with_events<T>(
        &mut self,
        format: &'static Format,
        then: impl FnOnce(&mut dyn Events) -> io::Result<T>,
    ) -> io::Result<T> {
        self.keep()?;
        match &self.kept {
            Some(Borrowed(chunk)) if !chunk.errors().any(is_damage) => {
                let lines = chunk.iter();
                let events = Vec::with_capacity(lines.size_hint().0.min(MAX_EVENTS));
                then(&mut Kept { lines, events, read: format.read })
            }
            _ => then(&mut Passing { source: self, format }),
        }
    }
}

/// A chunk whose buffers return to `SPARE`.
#[derive(Debug)]
struct Borrowed(Chunk);

impl Drop for Borrowed {
    fn drop(&mut self) {
        SPARE.set(Some(std::mem::take(&mut self.0)));
    }
}

/// Reads once; an interrupted read is repeated.
fn read_some(reader: &mut impl Read, free: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(free) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Limit on the events that stay in memory. Each takes about a kilobyte.
const MAX_EVENTS: usize = 8 * 1024;

/// Events of which the first stay in memory. They are parsed on first use, so that their lines are
/// in the CPU cache for the caller.
struct Kept<'c, L> {
    lines: L,
    events: Vec<(Line<'c>, jsonl::Result<Event<'c>>)>,
    read: fn(Value<'c>) -> Event<'c>,
}

impl<'c, L> Events for Kept<'c, L>
where
    L: Clone + Iterator<Item = (Line<'c>, jsonl::Result<Value<'c>>)>,
{
    fn for_each(&mut self, each: &mut EachEvent<'_>) -> io::Result<()> {
        let mut event_idx = 0;
        loop {
            if event_idx == self.events.len() {
                if event_idx == MAX_EVENTS {
                    break;
                }
                let Some((line, value)) = self.lines.next() else { return Ok(()) };
                self.events.push((line, value.map(self.read)));
            }
            let Some((line, event)) = self.events.get(event_idx) else { return Ok(()) };
            if !each(line, event.as_ref().map_err(|error| *error)) {
                return Ok(());
            }
            event_idx += 1;
        }
        for (line, value) in self.lines.clone() {
            let event = value.map(self.read);
            if !each(&line, event.as_ref().map_err(|error| *error)) {
                break;
            }
        }
        Ok(())
    }
}

/// Events that are parsed again for each pass.
struct Passing<'s, R> {
    source: &'s mut Source<R>,
    format: &'static Format,
}

impl<R: Read + Seek + Send> Events for Passing<'_, R> {
    fn for_each(&mut self, each: &mut EachEvent<'_>) -> io::Result<()> {
        let read = self.format.read;
        self.source.for_each_piece(&[self.format], &mut |line, value| match value.map(read) {
            Ok(event) => each(line, Ok(&event)),
            Err(error) => each(line, Err(error)),
        })
    }
}
