//! Detects the format of a file by a vote of its first lines.
//!
//! In: the lines `{"type":"user","uuid":"u1",..}` and `{"type":"summary",..}`. Out:
//! [`Detected::Format`] with Claude Code.

use core_model::{Format, Formats, Framing};
use jsonl::{Document, Line, UnitScanner, Value};

/// Limit on the readable lines that vote.
pub(crate) const MAX_LINES: usize = 64;

/// Limit on the bytes that are split into the records of documents.
pub(crate) const MAX_HEAD: usize = 256 * 1024;

/// The detected format of a file.
#[derive(Clone, Copy, Debug)]
pub enum Detected {
    /// A supported format.
    Format(&'static Format),
    /// Two formats have the same number of votes.
    Ambiguous(&'static Format, &'static Format),
    /// The name of a format that is recognized and not supported.
    Foreign(&'static str),
    /// No format got a vote.
    Unknown,
    /// The file has no line with content.
    Empty,
}

/// Returns whether a line, or its value if it has one, is in a certain format.
type IsForeign = fn(&[u8], Option<Value<'_>>) -> bool;

/// Formats that are recognized and not supported.
const FOREIGN: &[(&str, IsForeign)] = &[
    ("UTF-16 text", |line, _| line.starts_with(b"\xff\xfe") || line.starts_with(b"\xfe\xff")),
    ("a gzip file", |line, _| line.starts_with(b"\x1f\x8b")),
    ("a zstd file", |line, _| line.starts_with(b"\x28\xb5\x2f\xfd")),
    ("a Gemini CLI session", |_, value| value.is_some_and(is_gemini)),
];

/// The votes of the lines of one file.
#[derive(Debug)]
pub struct Ballot {
    formats: Formats,
    votes: Vec<u32>,
    /// The formats whose records the start of the input has, as one document.
    documents: Vec<&'static Format>,
    foreign: Vec<u32>,
    n_lines: usize,
    n_seen: usize,
    /// The number of lines in the input; very large if it is unknown.
    n_all: usize,
    is_empty: bool,
}

impl Ballot {
    /// Creates a ballot without votes.
    pub fn new(formats: Formats) -> Self {
        Self {
            formats,
            votes: vec![0; formats.len()],
            documents: Vec::new(),
            foreign: vec![0; FOREIGN.len()],
            n_lines: 0,
            n_seen: 0,
            n_all: usize::MAX,
            is_empty: true,
        }
    }

    /// Adds the votes of the first bytes of the input, as the start of a document.
    pub fn push_head(&mut self, head: &[u8]) {
        let content = head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(head);
        let first = content.iter().find(|byte| !byte.is_ascii_whitespace());
        if !matches!(first, Some(b'{' | b'[')) {
            return;
        }
        let head = head.get(..MAX_HEAD).unwrap_or(head);
        for format in self.formats.iter().filter(|format| is_document_of(format, head)) {
            self.documents.push(format);
        }
    }

    /// Returns whether the first bytes are the start of a document.
    pub fn has_document(&self) -> bool {
        !self.documents.is_empty()
    }

    /// Sets the number of lines in the input. The vote then ends once no other format can win.
    pub(crate) fn set_n_lines(&mut self, n_lines: usize) {
        self.n_all = n_lines;
    }

    /// Adds the votes of a line. Returns whether more lines are needed.
    pub fn push(&mut self, line: &Line<'_>, value: Option<Value<'_>>) -> bool {
        self.is_empty &= line.is_blank();
        self.n_seen += 1;
        self.n_lines += usize::from(value.is_some());
        for (votes, (_, is_foreign)) in self.foreign.iter_mut().zip(FOREIGN) {
            *votes += u32::from(is_foreign(line.content(), value));
        }
        let Some(value) = value else { return self.n_seen < MAX_LINES * 16 };
        for (votes, format) in self.votes.iter_mut().zip(self.formats.iter()) {
            let is_of_lines = !format.framing.is_document();
            *votes += u32::from(is_of_lines && (format.detect)(value));
        }
        self.n_lines < MAX_LINES && !self.is_decided()
    }

    /// Returns whether the remaining lines cannot change the result.
    fn is_decided(&self) -> bool {
        let most = self.votes.iter().copied().max().unwrap_or(0);
        let n_left = self.n_all.saturating_sub(self.n_seen);
        let rest = (MAX_LINES - self.n_lines).min(n_left) as u32;
        let all = self.votes.iter().chain(&self.foreign);
        // Decided once a single format can still get the most votes.
        all.filter(|votes| **votes + rest >= most).count() == 1
    }

    /// Counts the votes.
    pub fn result(&self) -> Detected {
        let most = self.votes.iter().copied().max().unwrap_or(0);
        let foreign = self.foreign.iter().zip(FOREIGN).max_by_key(|(votes, _)| **votes);
        if most == 0 {
            match self.documents[..] {
                [] => {}
                [one] => return Detected::Format(one),
                [one, other, ..] => return Detected::Ambiguous(one, other),
            }
        }
        if let Some((votes, (name, _))) = foreign
            && *votes > most
        {
            return Detected::Foreign(name);
        }
        if most == 0 {
            return if self.is_empty { Detected::Empty } else { Detected::Unknown };
        }
        let mut winners = self.formats.iter().zip(&self.votes).filter(|(_, votes)| **votes == most);
        match (winners.next(), winners.next()) {
            (Some((one, _)), Some((other, _))) => Detected::Ambiguous(one, other),
            (Some((one, _)), None) => Detected::Format(one),
            _ => Detected::Unknown,
        }
    }
}

/// Returns whether the start of an input has the head or a record of a format of documents.
fn is_document_of(format: &Format, head: &[u8]) -> bool {
    let Framing::Document(paths) = format.framing else { return false };
    let (mut document, mut units) = (Document::new(head, paths), UnitScanner::default());
    let mut n_records = 0;
    // Reading a slice does not fail.
    while let Ok(Some(unit)) = document.next()
        && n_records < MAX_LINES
    {
        n_records += usize::from(!unit.is_glue());
        if let (_, Ok(value)) = units.scan(&unit, paths)
            && (format.detect)(value)
        {
            return true;
        }
    }
    false
}

/// Recognizes a Gemini CLI chat: an object with `projectHash` and `messages`, or a line of one.
fn is_gemini(value: Value<'_>) -> bool {
    let (mut is_gemini, mut session, mut own) = (false, false, false);
    value.read_members(|key, value| {
        match key {
            b"type" => is_gemini = value.text().is_some_and(|kind| kind.is("gemini")),
            b"sessionId" => session = true,
            b"projectHash" | b"$set" => own = true,
            _ => return false,
        }
        true
    });
    own || is_gemini && !session
}
