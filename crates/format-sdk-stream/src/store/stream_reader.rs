//! Reads a stream line by line as [`Message`]s.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use core_model::{Problem, ReadError, Severity};
use jsonl::{Scanner, Stream};

use crate::{
    message::Message,
    record::{Flavor, Record, RecordKind},
};

/// Iterator over the messages of a stream. Each line may be of either flavor, because files mix
/// them.
///
/// A line that is not a message is an error with its number and offset. Later lines can still be
/// read, because clients and wrappers print plain text between the lines. Blank lines are skipped.
///
/// ```
/// use format_sdk_stream::{Flavor, Message, StreamReader};
///
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/sdk-stream/seed-002-four-lines.jsonl");
/// let mut stream = StreamReader::open(path)?;
/// let messages = stream.by_ref().collect::<Result<Vec<_>, _>>()?;
/// assert_eq!((messages.len(), stream.flavor()), (4, Some(Flavor::Dump)));
/// let Message::Result { total_cost_usd, .. } = &messages[3] else { panic!("a result") };
/// assert_eq!(*total_cost_usd, Some(0.0051445));
/// # Ok::<(), core_model::ReadError>(())
/// ```
#[derive(Debug)]
pub struct StreamReader<R> {
    stream: Stream<R>,
    scanner: Scanner,
    n_lines: u64,
    flavor: Option<Flavor>,
    has_failed: bool,
}

impl StreamReader<File> {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        Ok(Self::from_reader(File::open(path)?))
    }
}

impl<'b> StreamReader<&'b [u8]> {
    /// Reads a stream from a slice.
    pub fn from_slice(stream: &'b [u8]) -> Self {
        Self::from_reader(stream)
    }
}

impl<R: Read> StreamReader<R> {
    /// Reads a stream from a reader, such as the output of a running client. The reader need not be
    /// buffered.
    pub fn from_reader(reader: R) -> Self {
        Self {
            stream: Stream::new(reader),
            scanner: Scanner::default(),
            n_lines: 0,
            flavor: None,
            has_failed: false,
        }
    }

    /// Returns the flavor of the first message that was read; `None` before it.
    pub fn flavor(&self) -> Option<Flavor> {
        self.flavor
    }

    fn next_message(&mut self) -> io::Result<Option<Result<Message, Problem>>> {
        loop {
            let Some(line) = self.stream.next()? else { return Ok(None) };
            self.n_lines = self.n_lines.saturating_add(1);
            if line.is_blank() {
                continue;
            }
            let problem = |offset, rule, message: String| Problem {
                offset,
                line: self.n_lines,
                severity: Severity::Stops,
                rule,
                message: message.into(),
            };
            return Ok(Some(match self.scanner.scan(&line) {
                Err(error) => Err(problem(error.offset, "json", error.kind.to_string())),
                Ok(value) if !value.is_object() => {
                    Err(problem(line.offset(), "object", "not an object".to_owned()))
                }
                Ok(value) => {
                    let record = Record::new(value);
                    if self.flavor.is_none() && record.kind != RecordKind::Unknown {
                        self.flavor = Some(record.flavor);
                    }
                    Ok(Message::read(value))
                }
            }));
        }
    }
}

impl<R: Read> Iterator for StreamReader<R> {
    type Item = Result<Message, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed {
            return None;
        }
        match self.next_message().transpose()? {
            Ok(message) => Some(message.map_err(ReadError::Line)),
            Err(error) => {
                self.has_failed = true;
                Some(Err(error.into()))
            }
        }
    }
}
