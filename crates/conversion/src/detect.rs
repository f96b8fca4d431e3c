//! Detects the format of a file by a vote of its first lines.
//!
//! In: the lines `{"type":"user","uuid":"u1",..}` and `{"type":"summary",..}`. Out:
//! [`Detected::Format`] with Claude Code.

use core_model::{Format, Formats};
use jsonl::{Line, Value};

/// Limit on the readable lines that vote.
pub(crate) const MAX_LINES: usize = 64;

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
    ("a Codex session", |_, value| value.is_some_and(is_codex)),
    ("a Qwen Code session", |_, value| value.is_some_and(is_qwen)),
    ("a Gemini CLI session", |_, value| value.is_some_and(is_gemini)),
];

/// The votes of the lines of one file.
#[derive(Debug)]
pub struct Ballot {
    formats: Formats,
    votes: Vec<u32>,
    foreign: Vec<u32>,
    n_lines: usize,
    n_seen: usize,
    is_empty: bool,
}

impl Ballot {
    /// Creates a ballot without votes.
    pub fn new(formats: Formats) -> Self {
        Self {
            formats,
            votes: vec![0; formats.len()],
            foreign: vec![0; FOREIGN.len()],
            n_lines: 0,
            n_seen: 0,
            is_empty: true,
        }
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
            *votes += u32::from((format.detect)(value));
        }
        self.n_lines < MAX_LINES && !self.is_decided()
    }

    /// Returns whether the remaining lines cannot change the result.
    fn is_decided(&self) -> bool {
        let most = self.votes.iter().copied().max().unwrap_or(0);
        let rest = (MAX_LINES - self.n_lines) as u32;
        let all = self.votes.iter().chain(&self.foreign);
        // Decided once a single format can still get the most votes.
        all.filter(|votes| **votes + rest >= most).count() == 1
    }

    /// Counts the votes.
    pub fn result(&self) -> Detected {
        let most = self.votes.iter().copied().max().unwrap_or(0);
        let foreign = self.foreign.iter().zip(FOREIGN).max_by_key(|(votes, _)| **votes);
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

/// Recognizes a Codex rollout: `{"timestamp":..,"type":"session_meta","payload":{..}}`.
fn is_codex(value: Value<'_>) -> bool {
    const TYPES: [&str; 5] =
        ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];
    let (mut is_known, mut payload, mut record_type) = (false, false, false);
    let (mut git, mut instructions) = (false, false);
    value.read_members(|key, value| {
        match key {
            b"type" => {
                let kind = value.text();
                is_known = kind.is_some_and(|kind| TYPES.iter().any(|name| kind.is(name)));
            }
            b"payload" => payload = true,
            b"record_type" => record_type = true,
            b"git" => git = true,
            b"instructions" => instructions = true,
            _ => return false,
        }
        true
    });
    is_known && payload || record_type || git && instructions
}

/// Recognizes a Qwen Code chat, which has Claude Code's envelope and Gemini's messages:
/// `{"uuid":..,"sessionId":..,"type":"user","message":{"role":"user","parts":[..]}}`.
fn is_qwen(value: Value<'_>) -> bool {
    let (mut session, mut own) = (false, false);
    value.read_members(|key, value| {
        match key {
            b"sessionId" => session = true,
            b"message" => own |= value.get("parts").is_some_and(|parts| parts.is_array()),
            b"systemPayload" => own = true,
            _ => return false,
        }
        true
    });
    session && own
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
