//! Reads an input once, in windows, without keeping it in memory.

use std::{
    cell::Cell,
    io::{self, Cursor, Read},
};

use conversion::{Ballot, Detected, Recovery, is_damage};
use core_model::{Answers, Event, Format, Formats, Place};
use jsonl::{Document, Index, Line, Scanner, UnitScanner, Value};
use memchr::memchr_iter;
use storage::{Interruption, Limits};

use crate::{
    error::{ReadError, UnknownFormat, single_format},
    input::Input,
    needle::Prefilter,
    progress::Progress,
    windows::for_each_window,
};

thread_local! {
    /// The index of the last input's first lines. A fresh one would grow again from nothing.
    static SPARE: Cell<Index> = const { Cell::new(Index::new()) };
}

/// Receives each line with its event or its error. Returns false to stop.
pub type EachRead<'e> =
    dyn FnMut(Place, &Line<'_>, jsonl::Result<&Event<'_>>) -> io::Result<bool> + 'e;

/// Reads an input and calls `each` with lines that the prefilter keeps, with the records on damaged
/// lines, and with the bytes between these. `format` is the format of the input; if `None`, it is detected. An
/// answer that only the outcome of its run has is delivered before the outcome, as a message.
///
/// Returns the format; `None` if no line was kept. An empty input has any format. A compressed input
/// is expanded, whatever its name, within the default [`Limits`]. All calls of `each` are on this
/// thread, in the order of the lines.
///
/// # Errors
///
/// Returns an error if the input cannot be read, if its format is unknown, or if `each` returns
/// one.
pub fn read(
    formats: Formats,
    input: &Input,
    format: Option<&'static Format>,
    prefilter: &Prefilter,
    progress: &dyn Progress,
    interruption: Interruption,
    each: &mut EachRead<'_>,
) -> Result<Option<&'static Format>, ReadError> {
    let (scanner, known) = (Scanner::default(), SPARE.take());
    let answers = Answers::default();
    let mut reader = Reader { formats, input, format, scanner, known, answers, n_lines: 0 };
    let mut refusal = None;
    let mut opened = input.open(Limits::default())?;
    opened.skip_hash();
    let mut head = Vec::new();
    if format.is_none() && formats.has_documents() {
        opened.by_ref().take(MAX_HEAD).read_to_end(&mut head)?;
        reader.format = document_of(formats, &head);
    }
    let mut opened = Cursor::new(head).chain(opened);
    if let Some(format) = reader.format
        && format.framing.is_document()
    {
        let run = (progress, interruption);
        return reader.document(opened, format, prefilter, run, each).map(|()| Some(format));
    }
    for_each_window(&mut opened, &mut |bytes, offset| {
        if interruption.is_requested() {
            refusal = Some(ReadError::Interrupted);
            return Ok(false);
        }
        let goes_on = reader.window(bytes, offset, prefilter, each);
        progress.add_bytes(bytes.len() as u64);
        match goes_on {
            Ok(goes_on) => Ok(goes_on),
            Err(ReadError::Io(error)) => Err(error),
            Err(other) => {
                refusal = Some(other);
                Ok(false)
            }
        }
    })?;
    reader.known.clear();
    SPARE.set(reader.known);
    refusal.map_or(Ok(reader.format), Err)
}

/// The number of bytes from which the format of a document is detected.
pub(crate) const MAX_HEAD: u64 = 256 * 1024;

struct Reader<'i> {
    formats: Formats,
    input: &'i Input,
    format: Option<&'static Format>,
    scanner: Scanner,
    /// The index of the lines that the format was detected from.
    known: Index,
    answers: Answers,
    /// The number of lines before the window.
    n_lines: u64,
}

impl Reader<'_> {
    fn window(
        &mut self,
        bytes: &[u8],
        offset: u64,
        prefilter: &Prefilter,
        each: &mut EachRead<'_>,
    ) -> Result<bool, ReadError> {
        // Standard input cannot be read again, so its first lines are kept.
        if offset == 0 && self.format.is_none() && *self.input == Input::Stdin {
            self.format = Some(vote(self.formats, bytes, &mut self.scanner, &mut self.known)?);
        }
        let mut counted = 0;
        for range in prefilter.lines(bytes) {
            let format = match self.format {
                Some(format) => format,
                None => self.find_format(bytes, offset)?,
            };
            self.n_lines += count(bytes.get(counted..range.start).unwrap_or_default());
            counted = range.end;
            let line = Line::new(
                bytes.get(range.clone()).unwrap_or_default(),
                offset + range.start as u64,
            );
            if !self.line(&line, format, each)? {
                return Ok(false);
            }
            self.n_lines += 1;
        }
        self.n_lines += count(bytes.get(counted..).unwrap_or_default());
        self.known.clear();
        Ok(true)
    }

    /// Reads the records of a document.
    fn document(
        &mut self,
        input: impl Read,
        format: &'static Format,
        prefilter: &Prefilter,
        (progress, interruption): (&dyn Progress, Interruption),
        each: &mut EachRead<'_>,
    ) -> Result<(), ReadError> {
        let paths = format.framing.paths();
        let (mut document, mut units) = (Document::new(input, paths), UnitScanner::default());
        while let Some(unit) = document.next()? {
            if interruption.is_requested() {
                return Err(ReadError::Interrupted);
            }
            progress.add_bytes(unit.bytes().len() as u64);
            if prefilter.keeps(unit.bytes()) {
                let (line, value) = units.scan(&unit, paths);
                if !take_line(&mut self.answers, self.n_lines + 1, &line, value, format, each)? {
                    return Ok(());
                }
            }
            self.n_lines += u64::from(!unit.is_glue());
        }
        Ok(())
    }

    fn line(
        &mut self,
        line: &Line<'_>,
        format: &'static Format,
        each: &mut EachRead<'_>,
    ) -> Result<bool, ReadError> {
        let known = self.known.get(line);
        let value = known.unwrap_or_else(|| self.scanner.scan(line));
        take_line(&mut self.answers, self.n_lines + 1, line, value, format, each)
    }

    /// Detects the format from the window.
    fn find_format(&mut self, bytes: &[u8], offset: u64) -> Result<&'static Format, ReadError> {
        let found = match offset {
            0 => vote(self.formats, bytes, &mut self.scanner, &mut self.known),
            _ => {
                let mut found = format_of(self.formats, bytes);
                for_each_window(&mut self.input.open(Limits::default())?, &mut |bytes, _| {
                    found = format_of(self.formats, bytes);
                    Ok(false)
                })?;
                found
            }
        };
        self.format = Some(found?);
        self.format.ok_or(UnknownFormat::Unknown.into())
    }
}

/// Calls `each` with the events of a line, or with the pieces of a damaged one. A line with more values than its index
/// has room for has its events, of which a part is missing, and an error.
fn take_line(
    answers: &mut Answers,
    number: u64,
    line: &Line<'_>,
    value: jsonl::Result<Value<'_>>,
    format: &'static Format,
    each: &mut EachRead<'_>,
) -> Result<bool, ReadError> {
    let mut result = Ok(true);
    let mut take = |line: &Line<'_>, value: jsonl::Result<Value<'_>>| {
        let place = Place { line: number, offset: line.offset() };
        match value {
            Ok(value) => {
                _ = format.for_each_event(value, |event| {
                    result = match answers.answer_of(event) {
                        Some(answer) => match each(place, line, Ok(&answer)) {
                            Ok(true) => each(place, line, Ok(event)),
                            ended => ended,
                        },
                        None => each(place, line, Ok(event)),
                    };
                    matches!(result, Ok(true))
                });
                if let (Some(error), Ok(true)) = (value.unread(line), &result) {
                    result = each(place, line, Err(error));
                }
            }
            Err(error) if is_damage(error) => result = each(place, line, Err(error)),
            Err(_) => {}
        }
        matches!(result, Ok(true))
    };
    match value {
        Err(error) if is_damage(error) => {
            _ = Recovery::new(&[format]).line(line, Err(error), &mut take);
        }
        value => _ = take(line, value),
    }
    Ok(result?)
}

/// Returns the format of a document; `None` for another input.
pub(crate) fn document_of(formats: Formats, head: &[u8]) -> Option<&'static Format> {
    let mut ballot = Ballot::new(formats);
    ballot.push_head(head);
    if !ballot.has_document() {
        return None;
    }
    let (mut scanner, mut index) = (Scanner::default(), Index::default());
    let format = vote(formats, head, &mut scanner, &mut index).ok()?;
    Some(format).filter(|format| format.framing.is_document())
}

/// Returns the number of line ends.
fn count(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

/// Detects the format of the first lines of an input.
///
/// # Errors
///
/// Returns an error if the format is unknown.
pub fn format_of(formats: Formats, bytes: &[u8]) -> Result<&'static Format, ReadError> {
    vote(formats, bytes, &mut Scanner::default(), &mut Index::default())
}

/// Detects the format of the first lines of an input, and keeps their index.
fn vote(
    formats: Formats,
    bytes: &[u8],
    scanner: &mut Scanner,
    index: &mut Index,
) -> Result<&'static Format, ReadError> {
    let mut ballot = Ballot::thrifty(formats);
    push_lines(&mut ballot, formats, bytes, scanner, index);
    if !ballot.is_certain() {
        ballot = ballot.exact();
        push_lines(&mut ballot, formats, bytes, scanner, index);
    }
    if ballot.needs_head() {
        ballot.push_head(bytes);
    }
    known(formats, ballot.result())
}

/// Adds the votes of the first lines of an input, and keeps their index.
fn push_lines(
    ballot: &mut Ballot,
    formats: Formats,
    bytes: &[u8],
    scanner: &mut Scanner,
    index: &mut Index,
) {
    index.clear();
    let mut recovery = Recovery::new(&formats);
    for line in jsonl::lines(bytes) {
        let mut push =
            |line: &Line<'_>, value: jsonl::Result<Value<'_>>| ballot.push(line, value.ok());
        let value = scanner.scan(&line);
        index.push(&line, &value);
        if !recovery.line(&line, value, &mut push) {
            break;
        }
    }
}

/// Returns the detected format.
///
/// # Errors
///
/// Returns an error if the format is not supported.
pub fn known(formats: Formats, found: Detected) -> Result<&'static Format, ReadError> {
    // An input without lines has any format.
    let format = single_format(found)?.or_else(|| formats.first().copied());
    format.ok_or(UnknownFormat::Unknown.into())
}
