//! Reads a session line by line as [`SessionLine`]s.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, Read},
    path::Path,
};

use core_model::{Block, Check, Environment, Place, Problem, ReadError, Severity};
use jsonl::{Line, RawBuf, Scanner, Stream, Value};

use super::sessions_dir;
use crate::{SessionLine, read_block, validate};

/// Iterator over the lines of a session.
///
/// A line that cannot be decoded is an error with its number, its offset and its fault; later lines
/// can still be read. So collecting into a `Result` is all or nothing, as in clido, and skipping
/// the errors yields the rest of a damaged session. Lines of an unknown type are
/// [`SessionLine::Unknown`], and blank lines are skipped.
///
/// ```
/// use format_clido::{SessionLine, SessionReader};
/// # let session_path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documented.jsonl");
///
/// let lines: Vec<SessionLine> = SessionReader::open(&session_path)?
///     .collect::<Result<Vec<_>, _>>()?;
///
/// for line in &lines {
///     match line {
///         SessionLine::UserMessage { content, .. } => { /* ... */ }
///         SessionLine::AssistantMessage { content } => { /* ... */ }
///         SessionLine::ToolResult { tool_name, content, .. } => { /* ... */ }
///         SessionLine::Result { total_cost_usd, .. } => { /* ... */ }
///         _ => {}
///     }
/// }
/// # assert_eq!(lines.len(), 7);
/// # let SessionLine::ToolResult { tool_name, .. } = &lines[4] else { panic!("a result") };
/// # assert_eq!(tool_name.as_deref(), Some("Read"));
/// # assert!(matches!(&lines[6], SessionLine::Result { total_cost_usd: 0.0009, .. }));
/// # Ok::<(), core_model::ReadError>(())
/// ```
#[derive(Debug)]
pub struct SessionReader<R> {
    stream: Stream<R>,
    decoder: Decoder,
    has_failed: bool,
}

impl SessionReader<File> {
    /// Opens a session file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        Ok(Self::from_reader(File::open(path)?))
    }

    /// Loads a whole session of a project, as clido does.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such session, or at the first line that clido does not load.
    pub fn load(
        environment: &Environment<'_>,
        project_path: &str,
        session_id: &str,
    ) -> Result<Vec<SessionLine>, ReadError> {
        let is_name = !session_id.contains(['/', '\\', '\0']);
        let folder = sessions_dir(environment, project_path).filter(|_| is_name);
        let folder = folder.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        Self::open(folder.join(format!("{session_id}.jsonl")))?.strict().collect()
    }
}

impl<'b> SessionReader<&'b [u8]> {
    /// Reads a session from a slice.
    pub fn from_slice(session: &'b [u8]) -> Self {
        Self::from_reader(session)
    }
}

impl<R: Read> SessionReader<R> {
    /// Reads a session from a reader. The reader need not be buffered.
    pub fn from_reader(reader: R) -> Self {
        Self { stream: Stream::new(reader), decoder: Decoder::default(), has_failed: false }
    }

    /// Refuses each line that clido would not load, lines of an unknown type included.
    pub fn strict(mut self) -> Self {
        self.decoder.check = Some(Check::new(validate::checker()));
        self
    }

    /// Returns the lines with their bytes and unknown members. Blank and unreadable lines are
    /// included, so that all bytes joined are the session.
    ///
    /// ```
    /// use format_clido::{SessionLine, SessionReader};
    ///
    /// let session = b"{\"type\":\"title\",\"title\":\"Pages\",\"by\":\"us\"}\n\n{\"type\":";
    /// let lines: Vec<_> =
    ///     SessionReader::from_slice(session).lines_raw().collect::<Result<_, _>>()?;
    /// assert_eq!(lines.iter().flat_map(|line| line.bytes.clone()).collect::<Vec<_>>(), session);
    /// assert!(matches!(lines[0].line, Ok(Some(SessionLine::Title { .. }))));
    /// assert_eq!((lines[0].extra[0].0.as_str(), lines[0].extra[0].1.as_str()), ("by", "\"us\""));
    /// assert_eq!((lines[2].place.line, lines[2].place.offset), (3, 44));
    /// assert!(lines[2].line.is_err());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn lines_raw(self) -> RawLines<R> {
        RawLines(self)
    }

    fn next_read(&mut self, keeps_raw: bool) -> Option<io::Result<RawLine>> {
        if self.has_failed {
            return None;
        }
        let line = self.stream.next().transpose()?;
        self.has_failed = line.is_err();
        Some(line.map(|line| self.decoder.read(&line, keeps_raw)))
    }
}

impl<R: Read> Iterator for SessionReader<R> {
    type Item = Result<SessionLine, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.next_read(false)? {
                Err(error) => return Some(Err(error.into())),
                Ok(raw) => match raw.line.transpose() {
                    Some(line) => return Some(line.map_err(ReadError::Line)),
                    None => continue,
                },
            }
        }
    }
}

/// Iterator over the lines of a session with their bytes and unknown members, made by
/// [`SessionReader::lines_raw`]. Only an error of the reader ends it.
#[derive(Debug)]
pub struct RawLines<R>(SessionReader<R>);

impl<R: Read> Iterator for RawLines<R> {
    type Item = io::Result<RawLine>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next_read(true)
    }
}

/// A line with its bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct RawLine {
    /// The bytes, newline included.
    pub bytes: Vec<u8>,
    /// The number of the line and the offset of its first byte.
    pub place: Place,
    /// The decoded line, `None` if it is blank, or its fault.
    pub line: Result<Option<SessionLine>, Problem>,
    /// The members that clido does not know, in order.
    pub extra: Vec<(String, RawBuf)>,
}

#[derive(Debug, Default)]
struct Decoder {
    scanner: Scanner,
    /// Checker of a strict reader.
    check: Option<Check>,
    n_lines: u64,
    /// Names of tools by the ids of their uses, because a result has no name.
    tools: HashMap<String, String>,
}

impl Decoder {
    fn read(&mut self, line: &Line<'_>, keeps_raw: bool) -> RawLine {
        self.n_lines = self.n_lines.saturating_add(1);
        let place = Place { line: self.n_lines, offset: line.offset() };
        let mut read = RawLine { bytes: Vec::new(), place, line: Ok(None), extra: Vec::new() };
        if keeps_raw {
            read.bytes.extend_from_slice(line.bytes());
        }
        if validate::is_blank(line) {
            return read;
        }
        let value = self.scanner.scan(line);
        let refused = match &mut self.check {
            Some(check) => refused(check, line, value, place),
            None => None,
        };
        read.line = match refused {
            Some(problem) => Err(problem),
            None => decode(value, place).map(Some),
        };
        if let Ok(value) = value
            && keeps_raw
        {
            read.extra = extra(value);
        }
        if let (Ok(value), Ok(Some(line))) = (value, &mut read.line) {
            name_tools(&mut self.tools, value, line);
        }
        read
    }
}

/// Checks a line, and returns the first problem because of which clido does not load it.
fn refused(
    check: &mut Check,
    line: &Line<'_>,
    value: jsonl::Result<Value<'_>>,
    place: Place,
) -> Option<Problem> {
    let mut refused = None;
    check.line(line, value, &mut |problem| {
        // clido loads a session with blocks that it does not resume with.
        if problem.stops() && !problem.rule.starts_with("block-") {
            refused.get_or_insert(problem);
        }
    });
    // The checker counts only the lines that it sees.
    refused.map(|problem| Problem { line: place.line, ..problem })
}

/// Checks whether clido loads a line.
///
/// # Errors
///
/// Returns the first problem of the line.
pub(crate) fn loadable(
    check: &mut Check,
    line: &Line<'_>,
    value: jsonl::Result<Value<'_>>,
    place: Place,
) -> Result<(), Problem> {
    match refused(check, line, value, place) {
        Some(problem) => Err(problem),
        None => decode(value, place).map(|_| ()),
    }
}

/// Stores the names of tools, and fills in the name of a result's tool.
fn name_tools(tools: &mut HashMap<String, String>, value: Value<'_>, line: &mut SessionLine) {
    match line {
        SessionLine::AssistantMessage { .. } => {
            for block in value.get("content").into_iter().flat_map(|content| content.items()) {
                if let Block::ToolUse(tool) = read_block(block) {
                    tools.insert(tool.id.decode().into_owned(), tool.name.decode().into_owned());
                }
            }
        }
        SessionLine::ToolCall { tool_use_id, tool_name, .. } => {
            tools.insert(tool_use_id.clone(), tool_name.clone());
        }
        SessionLine::ToolResult { tool_use_id, tool_name, .. } => {
            *tool_name = tools.get(tool_use_id).cloned();
        }
        _ => {}
    }
}

fn decode(value: jsonl::Result<Value<'_>>, place: Place) -> Result<SessionLine, Problem> {
    let problem = |offset, rule, message: String| Problem {
        offset,
        line: place.line,
        severity: Severity::Stops,
        rule,
        message: message.into(),
    };
    let value = value.map_err(|error| problem(error.offset, "json", error.kind.to_string()))?;
    if !value.is_object() {
        return Err(problem(place.offset, "object", "not an object".to_owned()));
    }
    SessionLine::decode(value).map_err(|name| {
        problem(place.offset, "member", format!("`{name}` is missing or of another type"))
    })
}

/// Returns the members that clido does not know; none for a line of an unknown type.
fn extra(value: Value<'_>) -> Vec<(String, RawBuf)> {
    let kind = value.get("type").and_then(|kind| kind.text()).map(|kind| kind.decode());
    let Some(known) = validate::members_of_line(kind.as_deref().unwrap_or_default()) else {
        return Vec::new();
    };
    let is_known = |key: &str| key == "type" || known.iter().any(|(name, _)| *name == key);
    value
        .members()
        .map(|(key, value)| (key.decode().into_owned(), RawBuf::from(value.raw())))
        .filter(|(key, _)| !is_known(key))
        .collect()
}
