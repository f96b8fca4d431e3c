//! A source that can be read from its start more than once: what is small stays in memory, scanned.

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

/// What is done with each line and its value; false ends the reading.
pub type EachLine<'e> = dyn FnMut(&Line<'_>, jsonl::Result<Value<'_>>) -> bool + 'e;

/// A source up to this size, in bytes, is read and scanned once and kept.
const MAX_KEPT: u64 = 8 * 1024 * 1024;

/// One of more values is not kept: where they are takes 12 bytes for each.
const MAX_VALUES: usize = 512 * 1024;

thread_local! {
    /// What held a source that is done with: the pages of a fresh one cost as much as reading it.
    static SPARE: Cell<Option<Chunk>> = const { Cell::new(None) };
}

/// A source that can be read from its start more than once.
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

    /// Lets a large source be scanned by other threads than the one that converts it.
    pub fn with_scanners(mut self, n_scanners: usize) -> Self {
        self.n_scanners = n_scanners;
        self
    }

    /// Returns what it reads from.
    pub fn reader(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Reads the source if it is small and has not been read yet.
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
            // One byte more than there is tells that it is all.
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

    /// Writes all bytes to `sink` and returns how many they are.
    pub fn copy_to(&mut self, sink: &mut dyn Write) -> io::Result<u64> {
        self.reader.seek(SeekFrom::Start(0))?;
        io::copy(&mut self.reader, sink)
    }

    /// Calls `each` with every line from the first on and its value, until it returns false.
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

    /// Calls `each` with every line as [`Source::for_each`] does, but with the pieces of a damaged
    /// line one by one; `formats` are those that a piece may be in.
    pub fn for_each_piece(
        &mut self,
        formats: &[&'static Format],
        each: &mut EachLine<'_>,
    ) -> io::Result<()> {
        let mut recovery = Recovery::new(formats);
        self.for_each(&mut |line, value| recovery.line(line, value, each))
    }

    /// Calls `then` with the events of the source: of a small one, each line is read once, unless
    /// one is damaged.
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

/// A chunk that goes back to the spare one.
#[derive(Debug)]
struct Borrowed(Chunk);

impl Drop for Borrowed {
    fn drop(&mut self) {
        SPARE.set(Some(std::mem::take(&mut self.0)));
    }
}

/// Reads once, and again if that was interrupted.
fn read_some(reader: &mut impl Read, free: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(free) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// How many events stay in memory: each takes about a kilobyte, and of what has many its lines are
/// short.
const MAX_EVENTS: usize = 8 * 1024;

/// Events of which the first stay in memory, read when they are first asked for: then their lines
/// are in the cache for who asked.
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

/// Events that are read anew each time.
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
