//! A source that can be read more than once.
//!
//! In: a reader that can seek. Out: its lines and values, as often as asked for. They come in windows of
//! 256 KiB, which stay in the cache of the CPU. A small source is read and scanned once and stays in
//! memory, unless the caller needs only one pass ([`Source::with_windows`]).

mod passes;

use std::{
    cell::Cell,
    io::{self, Read, Seek, SeekFrom, Write},
};

use core_model::{Format, Framing};
use jsonl::{Chunk, Document, Line, Scanner, UnitScanner, Value};

use self::passes::{Kept, LineEvent, MAX_EVENTS, Passing, reused};
use crate::pipeline::{
    parallel::for_each_chunk,
    recovery::{Recovery, is_damage},
    root::{JoinedRoot, KeptRoot, RootFound},
    survey::Events,
    units::KeptUnits,
};

/// Receives each line and its value. Returns false to stop.
pub type EachLine<'e> = dyn FnMut(&Line<'_>, jsonl::Result<Value<'_>>) -> bool + 'e;

/// The size of a window in bytes, without the rest of its last line.
const WINDOW: usize = if cfg!(test) { 4 * 1024 } else { 256 * 1024 };

/// Limit on the size of a source that stays in memory.
const MAX_KEPT: u64 = if cfg!(test) { 2 * 1024 } else { 8 * 1024 * 1024 };

/// Length in bytes from which glue is in memory once: completed by the scanner.
const LONG_GLUE: usize = if cfg!(test) { 64 } else { 1024 * 1024 };

/// Limit on the values of a source that stays in memory. A line counts as four more.
const MAX_VALUES: usize = 512 * 1024;

/// The size from which several threads scan a source.
const LARGE: u64 = if cfg!(test) { 8 * 1024 } else { 8 * 1024 * 1024 };

/// Limit on the buffers that are kept for the next source.
const MAX_SPARE: usize = 8 * 1024 * 1024;

thread_local! {
    /// The buffers of the last source, for the next one: fresh pages would cost as much as reading
    /// it.
    static SPARE: Cell<Option<Chunk>> = const { Cell::new(None) };
    /// The memory of events, for the next source: two megabytes of fresh pages for each file.
    static SPARE_EVENTS: Cell<Vec<LineEvent<'static>>> = const { Cell::new(Vec::new()) };
}

/// A source that can be read more than once.
#[derive(Debug)]
pub struct Source<R> {
    reader: R,
    scanner: Scanner,
    window: Window,
    /// The size in bytes, once it was asked for.
    size: Option<u64>,
    n_scanners: usize,
    /// Whether a small source stays in memory.
    is_kept: bool,
    framing: Framing,
    units: UnitScanner,
    root: Root,
    /// The units of a small document; `None` until it is read.
    kept_units: Option<KeptUnits>,
}

/// The members of a document's root, which a client may move behind the records.
#[derive(Debug, Default)]
enum Root {
    /// They are given where they are.
    #[default]
    InPlace,
    /// They come first, and are not joined yet.
    First,
    /// The object of all members, for the first glue; `None` if none is behind the records.
    Joined(Option<KeptRoot>),
}

impl<R: Read + Seek + Send> Source<R> {
    /// Creates a source.
    pub fn new(reader: R) -> Self {
        Self {
            reader,
            scanner: Scanner::default(),
            window: Window::default(),
            size: None,
            n_scanners: 0,
            is_kept: true,
            framing: Framing::Lines,
            units: UnitScanner::default(),
            root: Root::default(),
            kept_units: None,
        }
    }

    /// Sets whether the first glue of a document is read with all members of the root, and later glue
    /// without them: a carry in a member that a client moved behind the records is then read first. The
    /// bytes of glue stay as they are.
    pub(crate) fn set_root_first(&mut self, is_first: bool) {
        match (&self.root, is_first) {
            (Root::InPlace, true) => self.root = Root::First,
            (_, false) => self.root = Root::InPlace,
            _ => {}
        }
    }

    /// Sets how the source is split into records: until then, by lines. Methods with a format set
    /// it themselves.
    pub fn set_framing(&mut self, framing: Framing) {
        self.framing = framing;
    }

    /// Returns the first bytes, at most `length`, without a line that is read in part.
    ///
    /// # Errors
    ///
    /// Returns an error if the source cannot be read.
    pub(crate) fn head(&mut self, length: usize) -> io::Result<&[u8]> {
        self.read_first()?;
        let bytes = self.window.chunk.bytes();
        Ok(bytes.get(..length).unwrap_or(bytes))
    }

    /// Sets the number of threads that scan a large source.
    pub fn with_scanners(mut self, n_scanners: usize) -> Self {
        self.n_scanners = n_scanners;
        self
    }

    /// Reads also a small source by windows, if the format's lines are in the order of the
    /// conversation. A conversion that can write while it reads needs no second pass then.
    #[must_use]
    pub fn with_windows(mut self) -> Self {
        self.is_kept = false;
        self
    }

    /// Returns the reader. Whoever moves it must move it back.
    pub fn reader(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Frees the memory of a source with long lines, which is read again when it is needed. Called before other files are read,
    /// so that their long lines are not in memory at the same time.
    pub fn release(&mut self) {
        if self.window.chunk.room() > MAX_SPARE {
            self.window = Window::default();
        }
    }

    /// Returns the size in bytes; very large if it is unknown.
    ///
    /// # Errors
    ///
    /// Returns an error if the source cannot be read.
    pub fn size(&mut self) -> io::Result<u64> {
        if self.size.is_none() {
            self.window.leave();
            self.size = Some(self.reader.seek(SeekFrom::End(0))?);
        }
        Ok(self.size.unwrap_or(u64::MAX))
    }

    /// Reads the first window, unless it is in memory.
    fn read_first(&mut self) -> io::Result<()> {
        if self.window.place == Place::First {
            return Ok(());
        }
        if self.n_scanners > 0 {
            self.size()?;
        }
        self.reader.seek(SeekFrom::Start(0))?;
        self.window.place = Place::None;
        let chunk = &mut self.window.chunk;
        if chunk.room() == 0 {
            *chunk = SPARE.take().unwrap_or_default();
        }
        chunk.rewind();
        if self.is_kept && self.read_whole()? {
            return Ok(());
        }
        self.read_next(Place::First)
    }

    /// Reads a small source. Returns false if it is not small, or has too many values.
    fn read_whole(&mut self) -> io::Result<bool> {
        let size = self.size()?;
        self.reader.seek(SeekFrom::Start(0))?;
        if size > MAX_KEPT {
            return Ok(false);
        }
        let Self { reader, window, scanner, .. } = self;
        // One more byte, so that the end is found without more room.
        let room = size as usize + 1;
        while window.chunk.n_values() <= MAX_VALUES && window.chunk.len() as u64 <= MAX_KEPT {
            let read = |free: &mut [u8]| read_some(reader, free);
            let is_last = window.chunk.extend(scanner, WINDOW, room, MAX_VALUES, read)?;
            if is_last && window.chunk.n_values() <= MAX_VALUES {
                (window.is_last, window.place) = (true, Place::First);
                return Ok(true);
            }
        }
        // Not only its lines: its memory is needed for the windows.
        window.chunk = Chunk::default();
        self.reader.seek(SeekFrom::Start(0))?;
        Ok(false)
    }

    /// Frees the memory of a window with a long line. If the window is the whole source, it is freed if it has more
    /// values than usual: to read it again takes longer.
    pub(crate) fn free_long_window(&mut self) {
        let Window { chunk, is_last, place, .. } = &mut self.window;
        let is_whole = *is_last && *place == Place::First;
        let most = if is_whole { 2 * MAX_SPARE } else { MAX_SPARE };
        if chunk.room() > most {
            (*chunk, *place) = (Chunk::default(), Place::None);
        }
    }

    /// Returns the number of lines, if the source is one window and no line is damaged.
    pub(crate) fn n_lines(&mut self) -> io::Result<Option<usize>> {
        self.read_first()?;
        let Window { chunk, is_last, .. } = &self.window;
        let is_whole = *is_last && !chunk.errors().any(is_damage);
        Ok(is_whole.then(|| chunk.iter().size_hint().0))
    }

    fn read_next(&mut self, place: Place) -> io::Result<()> {
        let Self { reader, window, scanner, .. } = self;
        window.place = Place::None;
        window.is_last = window.chunk.advance(scanner, WINDOW, |free| read_some(reader, free))?;
        window.place = place;
        Ok(())
    }

    /// Calls `each` with windows of whole lines, until it returns false.
    fn for_each_window(&mut self, each: &mut dyn FnMut(&Chunk) -> bool) -> io::Result<()> {
        self.read_first()?;
        if !self.window.is_last && self.n_scanners > 0 && self.size()? > LARGE {
            self.window.leave();
            // Otherwise a long first line would be in memory twice.
            self.release();
            self.reader.seek(SeekFrom::Start(0))?;
            return for_each_chunk(&mut self.reader, self.n_scanners, each);
        }
        while each(&self.window.chunk) && !self.window.is_last {
            self.read_next(Place::Later)?;
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
        self.window.leave();
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
        self.for_each_window(&mut |chunk| chunk.iter().all(|(line, value)| each(&line, value)))
    }

    fn for_each_unit(
        &mut self,
        paths: &'static [&'static str],
        each: &mut EachLine<'_>,
    ) -> io::Result<()> {
        // The window has the bytes and the index of a whole document, which its units have too.
        self.release();
        self.window.leave();
        if !self.kept_units.as_ref().is_some_and(|kept| kept.is_split_at(paths)) {
            self.kept_units = Some(match self.size()? {
                0..=MAX_KEPT => {
                    self.reader.seek(SeekFrom::Start(0))?;
                    KeptUnits::read(&mut self.reader, paths)?
                }
                _ => KeptUnits::large(paths),
            });
        }
        if matches!(self.root, Root::First) {
            self.root = Root::Joined(self.joined_root(paths)?);
        }
        let Self { reader, scanner, units, root, kept_units, .. } = self;
        let mut root = match root {
            Root::Joined(Some(root)) => Some(root.object()?),
            _ => None,
        };
        let is_joined = root.is_some();
        let mut each_root = |unit: &Line<'_>, each: &mut EachLine<'_>| {
            let root = root.as_mut()?;
            // Later glue has no members.
            let members = std::mem::replace(root, b"{}".into());
            Some(each(unit, scanner.scan_slice(&members, unit.offset())))
        };
        let mut each_kept = |unit: &Line<'_>, value: jsonl::Result<Value<'_>>| {
            let is_of_root = unit.is_glue() && value.is_ok();
            let goes_on = if is_of_root { each_root(unit, each) } else { None };
            goes_on.unwrap_or_else(|| each(unit, value))
        };
        if kept_units.as_mut().is_some_and(|kept| kept.for_each(units, &mut each_kept)) {
            return Ok(());
        }
        reader.seek(SeekFrom::Start(0))?;
        let mut document = Document::new(reader, paths);
        while let Some(unit) = document.next()? {
            if unit.bytes().len() < MAX_SPARE {
                // The index of a long record before it is no longer needed.
                units.free_beyond(MAX_SPARE);
            }
            if unit.is_glue() && is_joined && units.scan(&unit, paths).1.is_ok() {
                // Long glue is not in memory a second time, completed.
                units.free_beyond(MAX_SPARE);
                if !each_root(&unit, each).unwrap_or_default() {
                    break;
                }
                continue;
            }
            if unit.bytes().len() >= LONG_GLUE
                && let Some((glue, value)) = units.scan_glue(&unit, paths)
            {
                document.shrink();
                if !each(&glue, value) {
                    break;
                }
                continue;
            }
            let (unit, value) = units.scan(&unit, paths);
            if !each(&unit, value) {
                break;
            }
        }
        // The last unit is not in memory until the next pass.
        units.free_beyond(LONG_GLUE);
        Ok(())
    }

    /// Returns the members of a document's root as one object, if some are behind the records.
    fn joined_root(&mut self, paths: &'static [&'static str]) -> io::Result<Option<KeptRoot>> {
        let mut found = self.find_root(paths, false)?;
        if found == RootFound::Long {
            found = self.find_root(paths, true)?;
        }
        match found {
            RootFound::Joined(root) => KeptRoot::new(root).map(Some),
            RootFound::InPlace | RootFound::Long => Ok(None),
        }
    }

    fn find_root(
        &mut self,
        paths: &'static [&'static str],
        is_long: bool,
    ) -> io::Result<RootFound> {
        let mut root = JoinedRoot::new(paths, is_long);
        if let Some(mut lines) = self.kept_units.as_ref().and_then(KeptUnits::lines) {
            _ = lines.all(|unit| root.push(&unit));
            return Ok(root.finish());
        }
        self.reader.seek(SeekFrom::Start(0))?;
        let mut document = Document::new(&mut self.reader, paths);
        while let Some(unit) = document.next()? {
            if !root.push(&unit) {
                break;
            }
        }
        Ok(root.finish())
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
        if !self.is_kept && !format.is_linear {
            // There will be a second pass. A source of one window stays as it is.
            self.is_kept = true;
            self.window.leave();
        }
        self.read_first()?;
        let Window { chunk, is_last, .. } = &self.window;
        if *is_last && !chunk.errors().any(is_damage) {
            let lines = chunk.iter();
            let mut events = reused(SPARE_EVENTS.take());
            events.reserve_exact(lines.size_hint().0.min(MAX_EVENTS));
            let mut kept = Kept { lines, events, format };
            let result = then(&mut kept);
            SPARE_EVENTS.set(reused(kept.events));
            return result;
        }
        then(&mut Passing { source: self, format })
    }
}

/// The lines of a source that are in memory.
#[derive(Debug, Default)]
struct Window {
    chunk: Chunk,
    place: Place,
    /// Whether no lines follow.
    is_last: bool,
}

/// The place of a window in its source.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Place {
    /// There are no lines, or the reader has moved.
    #[default]
    None,
    First,
    Later,
}

impl Window {
    /// Notes that the reader moves. A first window that is the whole source stays.
    fn leave(&mut self) {
        if !self.is_last {
            self.place = Place::None;
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let chunk = std::mem::take(&mut self.chunk);
        if (1..=MAX_SPARE).contains(&chunk.room()) {
            SPARE.set(Some(chunk));
        }
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
