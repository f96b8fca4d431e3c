//! A source that can be read more than once.
//!
//! In: a reader that can seek. Out: its lines and values, as often as asked for. A source of at
//! most 8 MiB is read and scanned once, and stays in memory.

use std::{
    cell::Cell,
    io::{self, Read, Seek, SeekFrom, Write},
};

use core_model::{Event, Format, Framing};
use jsonl::{Chunk, Document, Line, Scanner, Stream, UnitScanner, Value};

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
    framing: Framing,
    units: UnitScanner,
}

impl<R: Read + Seek + Send> Source<R> {
    /// Creates a source.
    pub fn new(reader: R) -> Self {
        Self {
            reader,
            scanner: Scanner::default(),
            kept: None,
            is_large: false,
            n_scanners: 0,
            framing: Framing::Lines,
            units: UnitScanner::default(),
        }
    }

    /// Sets how the source is split into records: until then, by lines. Methods with a format set
    /// it themselves.
    pub fn set_framing(&mut self, framing: Framing) {
        self.framing = framing;
    }

    /// Returns the first bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the source cannot be read.
    pub(crate) fn head(&mut self, length: usize) -> io::Result<Vec<u8>> {
        self.reader.seek(SeekFrom::Start(0))?;
        let mut head = Vec::new();
        self.reader.by_ref().take(length as u64).read_to_end(&mut head)?;
        Ok(head)
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
            if self.is_large {
                // The next source would hardly use so much.
                borrowed.0 = Chunk::default();
            }
            self.kept = Some(borrowed).filter(|_| !self.is_large);
        }
        Ok(())
    }

    /// Writes all bytes to `sink` and returns their number.
    ///
    /// # Errors
    ///
    /// Returns an error if the source cannot be read or the sink cannot be written. Then the sink may
    /// have a part of them.
    pub fn copy_to(&mut self, sink: &mut dyn Write) -> io::Result<u64> {
        self.reader.seek(SeekFrom::Start(0))?;
        io::copy(&mut self.reader, sink)
    }

    /// Calls `each` with every line and its value, until it returns false. Of a document, these are
    /// its records and the glue around them. Blank and damaged lines have an error as value.
    ///
    /// # Errors
    ///
    /// Returns an error if the source cannot be read. `each` may have been called before.
    pub fn for_each(&mut self, each: &mut EachLine<'_>) -> io::Result<()> {
        if let Framing::Document(paths) = self.framing {
            return self.for_each_unit(paths, each);
        }
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

    fn for_each_unit(
        &mut self,
        paths: &'static [&'static str],
        each: &mut EachLine<'_>,
    ) -> io::Result<()> {
        self.reader.seek(SeekFrom::Start(0))?;
        let mut document = Document::new(&mut self.reader, paths);
        while let Some(unit) = document.next()? {
            let (unit, value) = self.units.scan(&unit, paths);
            if !each(&unit, value) {
                break;
            }
        }
        Ok(())
    }

    /// Calls `each` as [`Source::for_each`] does, and splits damaged lines into pieces. A piece
    /// that `formats` recognize is a record.
    ///
    /// # Errors
    ///
    /// As for [`Source::for_each`].
    pub fn for_each_piece(
        &mut self,
        formats: &[&'static Format],
        each: &mut EachLine<'_>,
    ) -> io::Result<()> {
        self.set_framing(match formats {
            [format] => format.framing,
            _ => Framing::Lines,
        });
        let mut recovery = Recovery::new(formats);
        self.for_each(&mut |line, value| recovery.line(line, value, each))
    }

    /// Calls `then` with the events of the source. The lines of a small source are parsed once,
    /// unless a line is damaged.
    ///
    /// # Errors
    ///
    /// Returns an error if the source cannot be read, or if `then` returns one.
    pub fn with_events<T>(
        &mut self,
        format: &'static Format,
        then: impl FnOnce(&mut dyn Events) -> io::Result<T>,
    ) -> io::Result<T> {
        self.set_framing(format.framing);
        if self.framing.is_document() {
            return then(&mut Passing { source: self, format });
        }
        self.keep()?;
        match &self.kept {
            Some(Borrowed(chunk)) if !chunk.errors().any(is_damage) => {
                let lines = chunk.iter();
                let events = Vec::with_capacity(lines.size_hint().0.min(MAX_EVENTS));
                then(&mut Kept { lines, events, format })
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
    format: &'static Format,
}

impl<'c, L> Events for Kept<'c, L>
where
    L: Clone + Iterator<Item = (Line<'c>, jsonl::Result<Value<'c>>)>,
{
    fn for_each(&mut self, each: &mut EachEvent<'_>) -> io::Result<()> {
        let mut event_idx = 0;
        loop {
            if event_idx == self.events.len() {
                if event_idx >= MAX_EVENTS {
                    break;
                }
                let Some((line, value)) = self.lines.next() else { return Ok(()) };
                match value {
                    Ok(value) if !self.format.has_one_event() => {
                        self.format.for_each_event(value, |event| {
                            self.events.push((line, Ok(*event)));
                            true
                        });
                    }
                    value => {
                        let event = value.map(|value| self.format.first_event(value));
                        self.events.push((line, event));
                    }
                }
            }
            let Some((line, event)) = self.events.get(event_idx) else { return Ok(()) };
            if !each(line, event.as_ref().map_err(|error| *error)) {
                return Ok(());
            }
            event_idx += 1;
        }
        for (line, value) in self.lines.clone() {
            let goes_on = match value {
                Ok(value) => self.format.for_each_event(value, |event| each(&line, Ok(event))),
                Err(error) => each(&line, Err(error)),
            };
            if !goes_on {
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
        let format = self.format;
        self.source.for_each_piece(&[format], &mut |line, value| match value {
            Ok(value) => format.for_each_event(value, |event| each(line, Ok(event))),
            Err(error) => each(line, Err(error)),
        })
    }
}
