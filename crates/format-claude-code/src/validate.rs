//! Finds faults because of which the client would not load a transcript, or the API would refuse it
//! (FORMAT.md, "What stops the client").
//!
//! In: a transcript whose line 2 has a block of an unknown type. Out: a [`Problem`] of line 2 with
//! the rule `block-type`, which stops the client.
//!
//! A fault that stops client 2.1.330 is an error. A fault that stops only 2.0.77 or the SDK for
//! Python, or that is on a line that the client does not send, is a warning.

mod blocks;
mod content;
mod sent;
mod thread;
mod usage;

use core_model::{
    Block, Check, Checker, Content, Field, Findings, Message, Place, Problem, Severity,
};
use jsonl::{Line, Value};

use self::{blocks::check_content, content::Contents, sent::Sent, thread::Thread, usage::Usage};
use crate::{Record, read, reader::block, session_uuid};

/// Bytes at each end of a file in which lists search for a prompt and a title.
const HEAD: u64 = 64 * 1024;

/// Returns the problems of a transcript. Problems that only its end shows come last.
///
/// ```
/// let problems = format_claude_code::validate(b"{\"type\":\"user\",\"uuid\":\"u1\"}\n");
/// let rules: Vec<_> = problems.iter().map(|problem| (problem.rule, problem.stops())).collect();
/// assert_eq!(rules.first(), Some(&("message", false)));
/// assert_eq!(rules.last(), Some(&("no-conversation", true)));
/// ```
pub fn validate(bytes: &[u8]) -> Vec<Problem> {
    Check::all(checker(), bytes)
}

/// Creates a checker for a transcript.
pub(crate) fn checker() -> Box<dyn Checker> {
    Box::<TranscriptChecker>::default()
}

#[derive(Debug, Default)]
struct TranscriptChecker {
    thread: Thread,
    contents: Contents,
    usage: Usage,
    sent: Sent,
    /// Number of lines with messages, skipped ones included.
    n_messages: u64,
    /// Whether the file has a snapshot of files.
    has_snapshot: bool,
    /// Number of messages of the main conversation.
    n_main: u64,
    has_agent_id: bool,
    has_prompt: bool,
    /// The line of the last title.
    title: Option<Place>,
    size: u64,
}

impl Checker for TranscriptChecker {
    fn name(&mut self, stem: &str, out: &mut Findings<'_>) {
        if !stem.starts_with("agent-") && session_uuid(stem) != stem {
            out.warns(
                "file-name",
                "the name is no UUID in lower case: the client does not find it",
            );
        }
    }

    fn line(&mut self, line: &Line<'_>, value: jsonl::Result<Value<'_>>, out: &mut Findings<'_>) {
        self.size = line.end();
        if line.offset() == 0 && line.bytes().starts_with(b"\xef\xbb\xbf") {
            out.warns("byte-order-mark", "the SDK loses the first line");
        }
        match value {
            Ok(value) if value.is_object() => self.object(value, out),
            Ok(_) => out.warns("object", "not an object: the client skips the line"),
            Err(_) if line.is_blank() => {}
            Err(error) => {
                let place = Place { offset: error.offset, ..out.place };
                let message = format!("{}: the client skips the line", error.kind);
                out.add(place, Severity::Warns, "json", message.into());
            }
        }
    }

    fn finish(&mut self, out: &mut Findings<'_>) {
        self.thread.finish(out);
        self.contents.finish(out);
        self.usage.finish(out);
        self.sent.finish(out);
        let first = Place { line: 1, offset: 0 };
        if self.n_messages == 0 && self.has_snapshot {
            let message = "snapshots of files alone: no conversation is found";
            out.add(first, Severity::Stops, "no-conversation", message.into());
        } else if self.n_messages == 0 {
            let message = "no messages: the client does not show it";
            out.add(first, Severity::Warns, "empty", message.into());
        } else if self.n_main == 0 && self.has_agent_id {
            let message = "the messages of a sub-agent: no session of its own";
            out.add(first, Severity::Warns, "sub-agent", message.into());
        } else if self.n_main == 0 {
            let message = "no message with content outside sidechains: no conversation is found";
            out.add(first, Severity::Stops, "no-conversation", message.into());
        } else if !self.has_prompt && self.title.is_none() {
            let message = "neither a prompt in words nor a title: lists do not show it";
            out.add(first, Severity::Warns, "unlisted", message.into());
        }
        if let Some(place) = self.title
            && place.offset >= HEAD
            && self.size.saturating_sub(place.offset) > HEAD
        {
            let message = "the title is not in the last 64 KiB: lists do not find it";
            out.add(place, Severity::Warns, "early-title", message.into());
        }
    }
}

impl TranscriptChecker {
    fn object(&mut self, value: Value<'_>, out: &mut Findings<'_>) {
        let record = Record::new(value);
        let kind = record.kind.map(|kind| kind.decode());
        let kind = kind.as_deref().unwrap_or_default();
        if matches!(kind, "custom-title" | "ai-title") {
            self.title = Some(out.place);
        }
        self.has_snapshot |= kind == "file-history-snapshot";
        let is_message = matches!(kind, "user" | "assistant");
        let is_known = is_message || matches!(kind, "system" | "attachment" | "progress");
        if !is_known && record.uuid.is_some() && record.parent_uuid != Field::Absent {
            let message = "an unknown type in the chain: 2.0 and the SDK lose what is before it";
            out.warns("chain-type", message);
        }
        let content = record.message.and_then(|message| message.get("content"));
        let content = content.filter(|content| content.text().is_some() || content.is_array());
        if is_message && content.is_none() {
            let message =
                "`message.content` is neither a string nor an array: the client skips the line";
            out.warns("message", message);
        }
        if is_message {
            self.n_messages = self.n_messages.saturating_add(1);
            let is_seen = !record.is_sidechain && content.is_some();
            self.n_main = self.n_main.saturating_add(u64::from(is_seen));
            self.has_agent_id |= record.agent_id.is_some();
            if record.uuid.is_none() {
                out.warns("uuid", "no `uuid`: the client sends the message only if it is the last");
            }
        }
        self.thread.line(&record, is_message, is_known, out);
        self.usage.line(&record, kind == "assistant", out.place);
        let event = read(value);
        let role = event.message().map(|message| message.role).filter(|_| is_message);
        let may_be_sent = record.uuid.is_some() && !record.is_sidechain;
        let sent_role = role.filter(|_| may_be_sent && content.is_some());
        self.sent.line(&event, sent_role, out.place);
        if let (Some(role), Some(message), Some(content)) = (role, event.message(), content) {
            let (place, sent) = (out.place, &mut self.sent);
            let mut waits = |problem: Problem| {
                if let Some(problem) = sent.hold(problem, may_be_sent) {
                    let Problem { offset, line, severity, rule, message } = problem;
                    out.add(Place { line, offset }, severity, rule, message);
                }
            };
            check_content(content, role, &mut Findings::new(place, &mut waits));
            // Members beside `message` are not sent, so only its content is checked.
            let message = message.with_content(Content::new(Some(content), block));
            self.message(&record, &message, content, out);
        }
    }

    fn message(
        &mut self,
        record: &Record<'_>,
        message: &Message<'_>,
        content: Value<'_>,
        out: &mut Findings<'_>,
    ) {
        let has_words = || {
            message.blocks().any(
                |(block, _)| matches!(block, Block::Text(text) if !text.decode().trim().is_empty()),
            )
        };
        let is_prompt = message.is_prompt() && !record.is_sidechain && has_words();
        if is_prompt && !std::mem::replace(&mut self.has_prompt, true) && self.size > HEAD {
            out.warns("late-prompt", "the first prompt ends beyond 64 KiB: lists do not find it");
        }
        self.contents.message(message, content, record.is_sidechain, out);
    }
}
