//! Finds the faults of a session that Copilot would refuse, or send otherwise (FORMAT.md, "Check").
//!
//! In: a file whose first line is a message. Out: a [`Problem`] of line 1 that stops Copilot.

mod calls;
mod members;

use core_model::{Check, Checker, Field, Findings, Place, Problem, Severity, is_uuid};
use jsonl::{Line, Value};

use self::calls::Calls;
use crate::{
    record::{Entry, Record, text},
    writer::is_iso,
};

/// Returns the problems of a session for Copilot 1.0.102; an empty vector if there are none.
///
/// Copilot loads and continues a session if no problem [stops](Problem::stops).
///
/// ```
/// let line = br#"{"type":"user.message","data":{"content":"Hi"},"id":"x","parentId":null}"#;
/// let problems = format_copilot::validate(line);
/// assert!(problems[0].stops());
/// assert_eq!(problems[0].rule, "start-first");
/// ```
pub fn validate(bytes: &[u8]) -> Vec<Problem> {
    Check::all(checker(), bytes)
}

/// Creates a checker for a session.
pub(crate) fn checker() -> Box<dyn Checker> {
    Box::<SessionChecker>::default()
}

#[derive(Debug, Default)]
struct SessionChecker {
    n_records: u64,
    /// Whether the client sends a message of the user before the next response.
    has_message: bool,
    calls: Calls,
}

impl Checker for SessionChecker {
    fn line(&mut self, line: &Line<'_>, value: jsonl::Result<Value<'_>>, out: &mut Findings<'_>) {
        if line.is_blank() {
            return;
        }
        let value = match value {
            Ok(value) => value,
            Err(error) => {
                let place = Place { offset: error.offset, ..out.place };
                let message = format!(
                    "{}: Copilot drops the line, and keeps the file as it was beside it; mend or \
                     remove it",
                    error.kind
                );
                return out.add(place, Severity::Warns, "json", message.into());
            }
        };
        self.n_records = self.n_records.saturating_add(1);
        let record = Record::decode(value);
        if self.n_records == 1 && !matches!(record.entry, Entry::Start(_)) {
            out.stops(
                "start-first",
                "the first line is no `session.start`: Copilot refuses the file; put one first",
            );
        }
        check_envelope(&record, out);
        if let (Some(kind), Some(data)) = (record.kind, record.data) {
            members::check(&kind.decode(), data, out);
        }
        // Lines of sub-agents are not sent.
        if record.agent_id.is_none() {
            self.entry(&record, out);
        }
    }

    fn finish(&mut self, out: &mut Findings<'_>) {
        if self.n_records == 0 {
            let place = Place { line: 1, offset: 0 };
            let message = "an empty file: Copilot refuses it";
            return out.add(place, Severity::Stops, "start-first", message.into());
        }
        self.calls.finish(out);
    }
}

impl SessionChecker {
    fn entry(&mut self, record: &Record<'_>, out: &mut Findings<'_>) {
        match record.entry {
            Entry::Assistant(data) => {
                if !std::mem::replace(&mut self.has_message, true) {
                    out.warns(
                        "assistant-first",
                        "the first message is the assistant's: the API refuses the request; put a \
                         `user.message` before it",
                    );
                }
                check_thinking(data, out);
                for call in data.get("toolRequests").into_iter().flat_map(|calls| calls.items()) {
                    self.calls.call(call, out);
                }
            }
            Entry::ToolComplete(data) => self.calls.result(data, out),
            Entry::User(data) => {
                let has_text = text(data, "content").is_some_and(|words| !words.is_blank());
                let attachments = data.get("attachments");
                let has_attachment =
                    attachments.is_some_and(|attachments| attachments.items().next().is_some());
                if !has_text && !has_attachment {
                    out.warns("empty-text", "a blank message: Copilot does not send it");
                }
                self.has_message |= has_text || has_attachment;
            }
            Entry::Compaction(_) => self.has_message = true,
            Entry::Start(_) if self.n_records > 1 => {
                out.warns("start-again", "a second `session.start`");
            }
            _ => {}
        }
    }
}

/// Checks the members that all lines have.
fn check_envelope(record: &Record<'_>, out: &mut Findings<'_>) {
    if record.kind.is_none() {
        out.stops("line-type", "`type` is missing or no string: Copilot refuses the file");
    }
    if record.data.is_none() {
        out.stops("line-data", "`data` is missing or no object: Copilot refuses the file");
    }
    if !record.id.is_some_and(|id| is_uuid(&id.decode())) {
        out.stops("id", "`id` is no UUID: Copilot refuses the file; give the line a UUID");
    }
    let is_parent = match record.parent_id {
        Field::Value(parent) => is_uuid(&parent.decode()),
        Field::Null => true,
        Field::Absent => false,
    };
    if !is_parent {
        out.stops(
            "parent-id",
            "`parentId` is neither a UUID nor null: Copilot refuses the file; give the line the id \
             of the line before",
        );
    }
    if !record.timestamp.is_some_and(|time| is_iso(&time.decode())) {
        out.stops(
            "timestamp",
            "`timestamp` is no time of ISO 8601 with an offset: Copilot refuses the file",
        );
    }
}

/// Checks that the thinking of a response is sent.
fn check_thinking(data: Value<'_>, out: &mut Findings<'_>) {
    let blocks = data.get("reasoningBlocks").and_then(|it| it.get("blocks"));
    let is_unsigned = |block: Value<'_>| {
        let is_thinking = text(block, "type").is_some_and(|kind| kind.is("thinking"));
        is_thinking && text(block, "signature").is_none()
    };
    let has_words = text(data, "reasoningText").is_some_and(|words| !words.is_blank());
    match blocks {
        Some(blocks) if blocks.items().any(is_unsigned) => {
            out.warns("thinking", "thinking without a signature: Copilot does not send it");
        }
        None if has_words => out.warns(
            "thinking",
            "`reasoningText` without `reasoningBlocks`: Copilot shows the thinking, and does not \
             send it",
        ),
        _ => {}
    }
}
