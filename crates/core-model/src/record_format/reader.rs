//! Reads the records of a file, one after another.

use std::{
    fmt,
    fs::File,
    io::{self, Read},
    marker::PhantomData,
    path::Path,
};

use jsonl::{Line, Records, UnitScanner};

use super::{RecordBuf, RecordFormat, RecordRef};
use crate::{Place, Problem, ReadError, Severity};

/// The records of a file, in order.
///
/// As an iterator it returns records that own their bytes. [`Reader::next_borrowed`] returns
/// records that borrow from the reader, without an allocation for each. Blank lines are skipped. Of
/// a document, the object around its records is a record too. A line that is not a JSON object is an error with its place, and later lines can still be read.
/// After an error of the file itself there are no more records.
pub struct Reader<R, F> {
    records: Records<R>,
    scanner: UnitScanner,
    has_failed: bool,
    format: PhantomData<fn() -> F>,
}

impl<F: RecordFormat> Reader<File, F> {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self::from_reader(File::open(path)?))
    }
}

impl<R: Read, F: RecordFormat> Reader<R, F> {
    /// Reads records from a reader. The reader need not be buffered.
    pub fn from_reader(reader: R) -> Self {
        Self {
            records: Records::new(reader, F::format().framing),
            scanner: UnitScanner::default(),
            has_failed: false,
            format: PhantomData,
        }
    }

    /// Returns the next record, borrowed from the reader until the next call; `None` at the end of the
    /// file. [`RecordRef::to_buf`] copies a record that is to be kept.
    pub fn next_borrowed(&mut self) -> Option<Result<RecordRef<'_, F>, ReadError>> {
        if self.has_failed {
            return None;
        }
        let (number, line) = match self.records.next_filled() {
            Ok(line) => line?,
            Err(error) => {
                self.has_failed = true;
                return Some(Err(error.into()));
            }
        };
        let place = Place { line: number, offset: line.offset() };
        Some(read(&mut self.scanner, &line, place))
    }
}

impl<R: Read, F: RecordFormat> Iterator for Reader<R, F> {
    type Item = Result<RecordBuf<F>, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let record = match self.next_borrowed()? {
            Ok(record) => record,
            Err(error) => return Some(Err(error)),
        };
        let place = record.place();
        Some(record.to_buf().map_err(|error| no_record(place, error)))
    }
}

impl<R, F> fmt::Debug for Reader<R, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("has_failed", &self.has_failed).finish_non_exhaustive()
    }
}

fn read<'s, F: RecordFormat>(
    scanner: &'s mut UnitScanner,
    line: &Line<'s>,
    place: Place,
) -> Result<RecordRef<'s, F>, ReadError> {
    let (_, value) = scanner.scan(line, F::format().framing.paths());
    let value = value.map_err(|error| no_record(place, error))?;
    if value.is_object() {
        return Ok(RecordRef::new(place, value));
    }
    Err(problem(place, place.offset, "object", "not an object".to_owned()))
}

fn no_record(place: Place, error: jsonl::Error) -> ReadError {
    problem(place, error.offset, "json", error.kind.to_string())
}

fn problem(place: Place, offset: u64, rule: &'static str, message: String) -> ReadError {
    let (line, severity) = (place.line, Severity::Stops);
    ReadError::Line(Problem { offset, line, severity, rule, message: message.into() })
}
