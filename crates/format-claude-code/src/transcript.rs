//! A transcript in memory: its lines as entries, and the lines that cannot be read.
//!
//! In: `{"type":"user",..}`, `{"torn`. Out: one entry, and one bad line with the offset of its
//! error.

mod branch;
mod entry;
mod filter;
mod queries;
mod titles;
mod words;

use std::{
    borrow::Cow,
    fs,
    io::{self, Read},
    iter::Zip,
    ops::{Range, RangeFrom},
    path::Path,
    slice,
};

use core_model::{Place, Problem, ReadError, Severity};
use jsonl::{Error, ErrorKind, Line, Scanner, Stream};

pub use self::{
    branch::ChainRule,
    entry::Entry,
    filter::Filter,
    queries::{FoundCall, FoundError, FoundResult},
    titles::{SessionTitle, TitleSource},
    words::{KeyMessage, StringContent, estimate_tokens},
};
use crate::reader::is_record;

/// A transcript in memory.
///
/// Lines that are not JSON objects are [`bad_lines`](Self::bad_lines) instead of entries. Complete
/// records on a damaged line are entries too.
///
/// ```
/// use format_claude_code::Transcript;
///
/// let file = br#"{"type":"user","uuid":"u1","message":{"role":"user","content":"hello"}}
/// not JSON
/// {"type":"assistant","uuid":"u2","message":{"content":[{"type":"text","text":"hi"}]}}"#;
/// let transcript = Transcript::from_slice(file);
/// let mut entries = transcript.entries();
/// let mut said = Vec::new();
/// while let Some(entry) = entries.next() {
///     said.extend(entry.event.message().map(|message| message.content.joined().into_owned()));
/// }
/// assert_eq!(said, ["hello", "hi"]);
/// assert_eq!(transcript.bad_lines()[0].place.line, 2);
/// ```
#[derive(Clone, Debug)]
pub struct Transcript<'b> {
    bytes: Cow<'b, [u8]>,
    entries: Vec<EntryPlace>,
    bad_lines: Vec<BadLine>,
}

/// The position of an entry in the file.
#[derive(Clone, Debug)]
struct EntryPlace {
    line: u64,
    range: Range<usize>,
}

/// A line that is not a JSON object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BadLine {
    /// The line.
    pub place: Place,
    /// The error, with its offset.
    pub error: Error,
    /// The number of complete records on the line, each of which is an entry.
    pub n_records: usize,
}

impl BadLine {
    /// Returns the problem that a strict reader reports for the line.
    fn problem(&self) -> Problem {
        Problem {
            offset: self.error.offset,
            line: self.place.line,
            severity: Severity::Stops,
            rule: "json",
            message: self.error.kind.to_string().into(),
        }
    }
}

impl Transcript<'static> {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read. A bad line is no error.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self::new(Cow::Owned(fs::read(path)?)))
    }

    /// Reads a file whose lines must be JSON objects or blank.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, or a line is not a JSON object.
    pub fn open_strict(path: &Path) -> Result<Self, ReadError> {
        let transcript = Self::open(path)?;
        match transcript.bad_lines.first() {
            Some(bad_line) => Err(ReadError::Line(bad_line.problem())),
            None => Ok(transcript),
        }
    }
}

impl<'b> Transcript<'b> {
    /// Reads a transcript from bytes.
    pub fn from_slice(bytes: &'b [u8]) -> Self {
        Self::new(Cow::Borrowed(bytes))
    }

    fn new(bytes: Cow<'b, [u8]>) -> Self {
        let mut entries = Vec::new();
        let mut bad_lines = Vec::new();
        let (mut scanner, mut recovering) = (Scanner::default(), Scanner::default());
        for (number, line) in (1..).zip(jsonl::lines(&bytes)) {
            let place = Place { line: number, offset: line.offset() };
            let mut add = |line: &Line<'_>| {
                let range = line.offset() as usize..line.end() as usize;
                entries.push(EntryPlace { line: place.line, range });
            };
            let error = match scan_entry(&line, &mut scanner) {
                Ok(Some(_)) => {
                    add(&line);
                    continue;
                }
                Ok(None) => continue,
                Err(error) => error,
            };
            let pieces = jsonl::recover(&line, &mut recovering, &is_record).pieces;
            let records = pieces.iter().filter(|piece| piece.is_record);
            let n_records = records.map(|piece| add(&piece.line)).count();
            bad_lines.push(BadLine { place, error, n_records });
        }
        Self { bytes, entries, bad_lines }
    }

    /// Returns the bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the lines that are not JSON objects. Blank lines are not among them.
    pub fn bad_lines(&self) -> &[BadLine] {
        &self.bad_lines
    }

    /// Returns the number of entries.
    pub fn n_entries(&self) -> usize {
        self.entries.len()
    }

    /// Returns the entries, in the order of the file.
    pub fn entries(&self) -> Entries<'_> {
        self.page(0, usize::MAX)
    }

    /// Returns at most `limit` entries, starting at index `offset`.
    pub fn page(&self, offset: usize, limit: usize) -> Entries<'_> {
        let start = offset.min(self.entries.len());
        let end = start.saturating_add(limit).min(self.entries.len());
        let places = self.entries.get(start..end).unwrap_or_default().iter();
        Entries { bytes: &self.bytes, places: (start..).zip(places), scanner: Scanner::default() }
    }

    /// Returns the entry with an index, read with the given scanner.
    pub fn entry<'s>(&'s self, idx: usize, scanner: &'s mut Scanner) -> Option<Entry<'s>> {
        self.entries.get(idx)?.read(idx, &self.bytes, scanner)
    }

    /// Calls `each` with every entry, in the order of the file.
    pub fn for_each(&self, mut each: impl FnMut(&Entry<'_>)) {
        let mut entries = self.entries();
        while let Some(entry) = entries.next() {
            each(&entry);
        }
    }
}

/// Returns the value of a line; `None` for a blank line.
fn scan_entry<'s>(
    line: &Line<'s>,
    scanner: &'s mut Scanner,
) -> Result<Option<jsonl::Value<'s>>, Error> {
    match scanner.scan(line) {
        Ok(value) if value.is_object() => Ok(Some(value)),
        Ok(_) => Err(Error { offset: line.offset(), kind: ErrorKind::UnexpectedType }),
        Err(error) if error.kind == ErrorKind::Empty => Ok(None),
        Err(error) => Err(error),
    }
}

/// Calls `each` with the entries of a transcript that is not kept in memory, until it returns false.
///
/// # Errors
///
/// Returns an error if it cannot be read.
pub(crate) fn each_entry(
    source: impl Read,
    mut each: impl FnMut(&Entry<'_>) -> bool,
) -> io::Result<()> {
    let mut stream = Stream::new(source);
    let (mut scanner, mut recovering) = (Scanner::default(), Scanner::default());
    let (mut number, mut idx) = (0_u64, 0_usize);
    while let Some(line) = stream.next()? {
        number = number.saturating_add(1);
        let place = |offset| Place { line: number, offset };
        if let Ok(value) = scan_entry(&line, &mut scanner) {
            if let Some(value) = value {
                if !each(&Entry::new(idx, place(line.offset()), value)) {
                    return Ok(());
                }
                idx = idx.saturating_add(1);
            }
            continue;
        }
        let pieces = jsonl::recover(&line, &mut recovering, &is_record).pieces;
        for piece in pieces.iter().filter(|piece| piece.is_record) {
            if let Ok(value) = scanner.scan(&piece.line)
                && !each(&Entry::new(idx, place(piece.line.offset()), value))
            {
                return Ok(());
            }
            idx = idx.saturating_add(1);
        }
    }
    Ok(())
}

/// The entries of a transcript, read one by one with one scanner.
#[derive(Clone, Debug)]
pub struct Entries<'t> {
    bytes: &'t [u8],
    /// The positions of entries, with their indices.
    places: Zip<RangeFrom<usize>, slice::Iter<'t, EntryPlace>>,
    scanner: Scanner,
}

impl Entries<'_> {
    /// Returns the next entry; `None` after the last.
    #[expect(clippy::should_implement_trait, reason = "the entry borrows from the scanner")]
    pub fn next(&mut self) -> Option<Entry<'_>> {
        let (idx, place) = self.places.next()?;
        place.read(idx, self.bytes, &mut self.scanner)
    }
}

impl EntryPlace {
    fn read<'s>(&self, idx: usize, bytes: &'s [u8], scanner: &'s mut Scanner) -> Option<Entry<'s>> {
        let bytes = bytes.get(self.range.clone())?;
        let place = Place { line: self.line, offset: self.range.start as u64 };
        // The constructor has scanned the bytes of every entry.
        let value = scanner.scan(&Line::new(bytes, place.offset)).ok()?;
        Some(Entry::new(idx, place, value))
    }
}
