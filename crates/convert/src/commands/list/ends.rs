//! Reads the first and the last lines of a session file: enough for a list, whatever the size.

use std::io::{self, Read, Seek, SeekFrom};

use conversion::Member;
use core_model::{
    Block, Body, ErrorPolicy, Errors, Event, Format, Runs, Span, TitleRank, event_millis,
    is_client_text,
};
use jsonl::{Document, Line, Scanner, UnitScanner, Value};
use sessions::{Input, PartKind, ReadError, carried_format, format_of, parts, project_in_marker};
use storage::{Backend, Limits, Opened};

use crate::{FORMATS, reading::once::Spent};

/// The bytes to read at either end.
const WINDOW: u64 = 64 * 1024;

/// Limit on the bytes to read at the start, if the first line is longer than a window.
const MAX_WINDOW: u64 = 4 * 1024 * 1024;

/// The values that a list shows of a session.
#[derive(Debug)]
pub(super) struct Session {
    /// The path of the file.
    pub(super) label: String,
    pub(super) format: &'static Format,
    /// The id in its lines, or else the name of the file.
    pub(super) id: String,
    /// The id by which its client finds it, if the client takes the id from the name of the file.
    pub(super) id_in_client: Option<String>,
    /// The title, or else the first prompt.
    pub(super) title: Option<String>,
    /// Whether the session has a title of its own.
    pub(super) is_titled: bool,
    /// The working directory.
    pub(super) project: Option<String>,
    /// The earliest and the latest time, in milliseconds since 1970.
    pub(super) start: Option<i64>,
    pub(super) end: Option<i64>,
    /// The size of the file in bytes.
    pub(super) size: u64,
    /// Whether it is a sub-agent's conversation.
    pub(super) is_sub_agent: bool,
    /// The origin, if it is a converted copy.
    pub(super) origin: Option<Origin>,
    /// The counts, if the session was read to its end.
    pub(super) numbers: Option<Numbers>,
    /// The number of bytes read.
    pub(super) n_read: u64,
}

impl Session {
    /// Returns the id to print, by which commands find the session.
    pub(super) fn shown_id(&self) -> &str {
        self.id_in_client.as_deref().unwrap_or(&self.id)
    }
}

/// The session that a converted copy comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Origin {
    /// The name of its format.
    pub(super) format: &'static str,
    /// Whether the copy went on: its last line has no carry.
    pub(super) is_continued: bool,
}

impl Origin {
    /// Reads the origin from the first record of a file; `None` without a readable carry.
    fn of(value: Value<'_>) -> Option<Self> {
        Some(Self { format: carried_format(FORMATS, value)?, is_continued: false })
    }
}

/// Limit on the names of plans of a session.
const MAX_SLUGS: usize = 16;

/// Counts that need all lines of a session.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    pub(super) n_messages: u64,
    /// The texts of the user and the assistant.
    pub(super) n_texts: u64,
    pub(super) n_compactions: u64,
    /// The names of plans, each once, in order.
    pub(super) slugs: Vec<String>,
    pub(super) n_tokens: u64,
    pub(super) errors: Errors,
    pub(super) cost: Option<f64>,
    pub(super) runs: Runs,
    pub(super) span: Span,
}

impl Numbers {
    /// Counts an event.
    pub(super) fn push(&mut self, event: &Event<'_>) {
        self.n_messages += u64::from(event.message().is_some());
        let is_text = |kind| matches!(kind, PartKind::User | PartKind::Assistant);
        self.n_texts += parts(event).filter(|part| is_text(part.kind())).count() as u64;
        if let Some(slug) = (event.vocabulary.slug)(event)
            && self.slugs.len() < MAX_SLUGS
            && !self.slugs.iter().any(|known| slug.is(known))
        {
            self.slugs.push(slug.decode().into_owned());
        }
        self.errors += Errors::of(event, ErrorPolicy::Flag);
        self.runs.push(event);
        self.span.push(event);
    }

    /// Returns the counts with the tokens and the cost of the session.
    pub(super) fn and(self, spent: &Spent) -> Self {
        Self { n_tokens: spent.tokens.total(), cost: spent.cost, ..self }
    }
}

/// Reads the ends of a file.
///
/// # Errors
///
/// Returns an error if the file cannot be read, or if its format is unknown.
pub(super) fn scan(input: &Input, format: Option<&'static Format>) -> Result<Session, ReadError> {
    let mut file = input.open(Limits::default())?;
    let size = length_of(&mut file)?;
    let mut head = read_at(&mut file, 0, WINDOW)?;
    if memchr::memchr(b'\n', &head).is_none() && size > WINDOW {
        head = read_at(&mut file, 0, MAX_WINDOW)?;
    }
    let n_head = head.len() as u64;
    let tail_start = size.saturating_sub(WINDOW).max(n_head);
    let tail = read_at(&mut file, tail_start, WINDOW)?;
    let format = match format {
        Some(format) => format,
        None => format_of(FORMATS, &head)?,
    };
    let mut ends = Ends::of(format);
    if format.framing.is_document() {
        file.rewind()?;
        ends.document(&mut file)?;
    } else {
        // A line that is cut off by the window is skipped. The last line of a file may have no
        // newline.
        let is_whole = n_head == size;
        let newline = || after_newline(memchr::memrchr(b'\n', &head));
        let head_end = if is_whole { head.len() } else { newline() };
        ends.lines(head.get(..head_end).unwrap_or_default(), 0);
        let is_at_line = tail_start == n_head && head.ends_with(b"\n");
        let tail_at = if is_at_line { 0 } else { after_newline(memchr::memchr(b'\n', &tail)) };
        ends.lines(tail.get(tail_at..).unwrap_or_default(), tail_start + tail_at as u64);
    }
    let id = ends.id.or_else(|| input.stem().map(str::to_owned)).unwrap_or_default();
    Ok(Session {
        label: input.label(),
        format,
        id,
        id_in_client: None,
        is_titled: ends.title.is_some(),
        title: ends.title.map(|(_, title)| title).or(ends.prompt),
        project: ends.project.or_else(|| project_beside(input, format)),
        start: ends.start,
        end: ends.end.or_else(|| modified(input)),
        size,
        is_sub_agent: ends.is_sub_agent.unwrap_or(false),
        origin: ends.origin,
        numbers: None,
        n_read: n_head + tail.len() as u64,
    })
}

/// Returns the size of an input in bytes. Reads a large compressed input to its end.
fn length_of(file: &mut Opened) -> io::Result<u64> {
    match file.seek(SeekFrom::End(0))? {
        u64::MAX => {
            file.rewind()?;
            io::copy(file, &mut io::sink())
        }
        length => Ok(length),
    }
}

fn after_newline(newline: Option<usize>) -> usize {
    newline.map_or(0, |newline| newline + 1)
}

fn read_at(file: &mut Opened, start: u64, n_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.take(n_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the project that the client's marker beside a file names, if its sessions do not.
fn project_beside(input: &Input, format: &Format) -> Option<String> {
    format.project_marker.filter(|_| *input.storage() == Backend::Disk)?;
    project_in_marker(&input.absolute().ok()??, format)
}

/// Returns the time of the last change of a file.
fn modified(input: &Input) -> Option<i64> {
    let Input::File { storage, path, .. } = input else { return None };
    i64::try_from(storage.stat(path).ok()?.modified / 1_000_000).ok()
}

/// The values in the lines so far.
struct Ends {
    format: &'static Format,
    id: Option<String>,
    title: Option<(TitleRank, String)>,
    prompt: Option<String>,
    project: Option<String>,
    start: Option<i64>,
    end: Option<i64>,
    is_sub_agent: Option<bool>,
    origin: Option<Origin>,
}

impl Ends {
    fn of(format: &'static Format) -> Self {
        Self {
            format,
            id: None,
            title: None,
            prompt: None,
            project: None,
            start: None,
            end: None,
            is_sub_agent: None,
            origin: None,
        }
    }

    /// Returns the first line of a prompt; `None` if the client wrote the text.
    fn prompt_preview(&self, words: &str) -> Option<String> {
        match self.format.prompt_preview {
            Some(prompt_preview) => prompt_preview(words),
            None => Some(words.to_owned()).filter(|words| !words.trim().is_empty()),
        }
    }

    fn lines(&mut self, bytes: &[u8], offset: u64) {
        let mut scanner = Scanner::default();
        let mut at = offset;
        for line in jsonl::lines(bytes) {
            let line = Line::new(line.bytes(), at);
            at += line.bytes().len() as u64;
            if let Ok(value) = scanner.scan(&line) {
                match &mut self.origin {
                    Some(origin) => origin.is_continued = !Member::is_in(value, self.format),
                    None if line.offset() == 0 => self.origin = Origin::of(value),
                    None => {}
                }
                self.format.for_each_event(value, |event| {
                    self.event(event);
                    true
                });
            }
        }
    }

    /// Reads the records of a document, whose ends cannot be read alone.
    fn document(&mut self, input: &mut Opened) -> io::Result<()> {
        let paths = self.format.framing.paths();
        let (mut document, mut units) = (Document::new(input, paths), UnitScanner::default());
        let mut n_records = 0_u64;
        while let Some(unit) = document.next()? {
            let is_record = !unit.is_glue();
            n_records += u64::from(is_record);
            if let (_, Ok(value)) = units.scan(&unit, paths) {
                // The document around its records may have no carry, and later records of an original
                // have one if they came home.
                if n_records <= 1 {
                    self.origin = self.origin.or_else(|| Origin::of(value));
                }
                if let Some(origin) = self.origin.as_mut().filter(|_| is_record) {
                    origin.is_continued = !Member::is_in(value, self.format);
                }
                self.format.for_each_event(value, |event| {
                    self.event(event);
                    true
                });
            }
        }
        Ok(())
    }

    fn event(&mut self, event: &Event<'_>) {
        let context = &event.context;
        let text = |text: Option<jsonl::Text<'_>>| text.map(|text| text.decode().into_owned());
        if self.id.is_none() {
            self.id = text(context.session_id);
        }
        if self.project.is_none() || matches!(event.body, Body::Relocation) {
            self.project = text(context.cwd);
        }
        let time = event_millis(event);
        self.start = self.start.into_iter().chain(time).min();
        self.end = self.end.max(time);
        match &event.body {
            Body::Title(title) => {
                let wins = self.title.as_ref().is_none_or(|(rank, _)| *rank <= title.rank);
                if wins && !title.text.is_empty() {
                    self.title = Some((title.rank, title.text.decode().into_owned()));
                }
            }
            Body::Message(message) => {
                if self.is_sub_agent.is_none() {
                    self.is_sub_agent = Some(event.is_sub_agent());
                }
                if self.prompt.is_none() && message.is_prompt() {
                    self.prompt = message.blocks().find_map(|(block, _)| match block {
                        Block::Text(text) if !is_client_text(text) => {
                            self.prompt_preview(&text.decode())
                        }
                        _ => None,
                    });
                }
            }
            _ => {}
        }
    }
}
