//! Writes a stream line by line, in either flavor.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
};

use core_model::{
    Facts, LossKind, Options, Output, ReadError, SdkVersion, append_session_file,
    create_session_file,
};
use jsonl::{Line, Scanner, Style};

use crate::{
    DUMP, Reader, WIRE,
    record::{Flavor, Record, RecordKind},
};

/// Flavor and version of the written lines.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Dialect {
    /// The dump of a version of the SDK for Python.
    Dump(SdkVersion),
    /// The client's output.
    Wire,
}

/// The result of writing a line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Written {
    /// The whole line is in the file.
    Whole,
    /// The line is in the file without the parts that the dialect has no place for.
    InPart,
    /// The line is not in the file: the SDK skips or refuses it.
    Dropped,
}

/// A file to which lines of a stream are appended.
///
/// ```
/// use core_model::SdkVersion;
/// use format_sdk_stream::{Dialect, StreamWriter, Written};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("session.jsonl");
/// let mut stream = StreamWriter::create(&path, Dialect::Dump(SdkVersion::V0_1_6))?;
/// stream.write_prompt("2+2 = ?", "2025-11-12T13:54:29.687393Z")?;
/// let line = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"né"}],"model":"m"}}"#;
/// assert_eq!(stream.write_line(line)?, Written::Whole);
/// assert_eq!(stream.write_line(r#"{"type":"tool_progress"}"#)?, Written::Dropped);
/// assert_eq!(
///     std::fs::read_to_string(&path)?,
///     r#"{"type": "user_message", "content": "2+2 = ?", "timestamp": "2025-11-12T13:54:29.687393Z"}
/// {"content": [{"text": "n\u00e9"}], "model": "m", "parent_tool_use_id": null}
/// "#
/// );
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct StreamWriter {
    file: File,
    writer: Box<dyn core_model::EventWriter>,
    out: Output,
    scanner: Scanner,
    offset: u64,
}

impl std::fmt::Debug for StreamWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamWriter").field("file", &self.file).finish_non_exhaustive()
    }
}

impl StreamWriter {
    /// Creates a file with permissions for its owner only.
    ///
    /// # Errors
    ///
    /// Returns an error if the file exists or cannot be created.
    pub fn create(path: impl AsRef<Path>, dialect: Dialect) -> io::Result<Self> {
        Ok(Self::new(create_session_file(path.as_ref())?, dialect))
    }

    /// Opens a file for appending in the flavor of its first record. A file without records is a
    /// dump.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such file, or it cannot be read and written.
    ///
    /// ```
    /// use format_sdk_stream::Appender;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("session.jsonl");
    /// std::fs::write(&path, "{\"type\":\"user\",\"session_id\":\"s\",\"message\":{}}\n")?;
    /// let line = r#"{"type":"tool_progress","session_id":"s"}"#;
    /// Appender::open(&path)?.write_line(line)?;
    /// assert!(std::fs::read_to_string(&path)?.ends_with(&format!("{line}\n")));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let mut records = Reader::open(&path)?;
        let dialect = loop {
            match records.next_borrowed() {
                None => break Dialect::Dump(SdkVersion::default()),
                Some(Err(ReadError::Io(error))) => return Err(error),
                Some(Err(_)) => {}
                Some(Ok(record)) => match record.record() {
                    Record { kind: RecordKind::Unknown, .. } => {}
                    Record { flavor: Flavor::Wire, .. } => break Dialect::Wire,
                    Record { .. } => break Dialect::Dump(SdkVersion::default()),
                },
            }
        };
        Self::append(path, dialect)
    }

    /// Opens a file for appending, as the orchestrator does for each run. A last line without a
    /// newline gets one.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is missing, or cannot be read and written.
    pub fn append(path: impl AsRef<Path>, dialect: Dialect) -> io::Result<Self> {
        Ok(Self::new(append_session_file(path.as_ref())?, dialect))
    }

    fn new(file: File, dialect: Dialect) -> Self {
        let (format, sdk_version) = match dialect {
            Dialect::Dump(version) => (&DUMP, version),
            Dialect::Wire => (&WIRE, SdkVersion::default()),
        };
        let options = Options { sdk_version, ..Options::default() };
        Self {
            file,
            writer: (format.writer)(&options, Facts::default()),
            out: Output::new(format.style, format.style, "").without_notes(),
            scanner: Scanner::default(),
            offset: 0,
        }
    }

    /// Writes a prompt, as the orchestrator does before each run. On the wire it is held until the
    /// next line, which has the session id.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written.
    pub fn write_prompt(&mut self, content: &str, timestamp: &str) -> io::Result<()> {
        let mut line = b"{\"type\": \"user_message\", \"content\": ".to_vec();
        jsonl::push_string(&mut line, content, Style::Python);
        line.extend_from_slice(b", \"timestamp\": ");
        jsonl::push_string(&mut line, timestamp, Style::Python);
        line.push(b'}');
        self.write_bytes(&line).map(|_| ())
    }

    /// Writes a line in the dialect, given in either flavor, and flushes it. The dump of a line of
    /// the wire is exactly what `json.dump(asdict(message))` prints. A line of the dialect's own
    /// flavor is copied.
    ///
    /// # Errors
    ///
    /// Returns [`io::ErrorKind::InvalidInput`] if the text is not one line of JSON. Returns an
    /// error if the file cannot be written.
    pub fn write_line(&mut self, line: &str) -> io::Result<Written> {
        self.write_bytes(line.as_bytes())
    }

    fn write_bytes(&mut self, line: &[u8]) -> io::Result<Written> {
        let invalid = |why: &str| io::Error::new(io::ErrorKind::InvalidInput, why);
        if line.contains(&b'\n') {
            return Err(invalid("more than one line"));
        }
        let line = Line::new(line, self.offset);
        let value = self.scanner.scan(&line).map_err(|error| invalid(&error.to_string()))?;
        self.offset = line.end().saturating_add(1);
        let record = Record::new(value);
        let style = match record.flavor {
            Flavor::Dump => DUMP.style,
            Flavor::Wire => WIRE.style,
        };
        let n_losses = |out: &Output| {
            let is_lost = |kind| kind != LossKind::Invented;
            out.losses()
                .iter()
                .filter(|(kind, ..)| is_lost(*kind))
                .map(|(.., loss)| loss.count)
                .sum()
        };
        let n_before: u64 = n_losses(&self.out);
        self.out.start_source(&line, style);
        self.writer.write(&DUMP.first_event(value), &mut self.out);
        let is_said = record.kind == RecordKind::Prompt || !self.out.touched().is_empty();
        let is_whole = n_losses(&self.out) == n_before;
        self.out.end_source();
        self.flush()?;
        Ok(match (is_said, is_whole) {
            (false, _) => Written::Dropped,
            (true, true) => Written::Whole,
            (true, false) => Written::InPart,
        })
    }

    /// Writes a held prompt and flushes the file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.writer.finish(&mut self.out);
        self.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        while let Some(id) = self.out.next_emitted() {
            let mut line = Vec::new();
            self.out.swap_bytes(id, &mut line);
            self.out.release(id);
            line.push(b'\n');
            self.file.write_all(&line)?;
        }
        self.file.flush()
    }
}
