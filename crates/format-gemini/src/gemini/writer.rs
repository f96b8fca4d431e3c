//! Writes events as a log that Gemini CLI loads and continues.
//!
//! ```text
//! in   a response in two lines: a text, then a tool use; and its result
//! out  {"sessionId":..,"projectHash":..,"startTime":..,"kind":"main",..}
//!      {"id":..,"timestamp":..,"type":"gemini","content":[{"text":..}],
//!       "toolCalls":[{"id":..,"name":..,"args":..,"result":[{"functionResponse":..}],"status":"success"}]}
//! ```
//!
//! A response waits until the results of its calls have come, because they are in its line: the client
//! would send a result in a line of its own a second time. Later lines wait behind it.

mod assistant;
mod header;
mod losses;
mod notice;
mod open;
mod user;

use std::{collections::VecDeque, sync::Arc};

use core_model::{
    Block, Body, ByHash, Event, EventWriter, Facts, IdHasher, IdSet, KnownTitle, Message,
    OpenCalls, Options, Output, Role, Title, ToolNames,
};
use jsonl::Text;

use self::open::Open;
pub(super) use self::{
    header::{project_hash, written_id},
    user::Head,
};
use super::record::GeminiRecord;

/// Limit for the lines that wait for the result of a call before them.
const MAX_WAITING: usize = 1000;

/// Creates a writer of a session.
pub(crate) fn create(_options: &Options, facts: Facts) -> Box<dyn EventWriter> {
    Box::new(SessionWriter { facts, ..SessionWriter::default() })
}

/// Creates a writer of an older session: one document, whose records are messages.
pub(crate) fn create_document(_options: &Options, facts: Facts) -> Box<dyn EventWriter> {
    Box::new(SessionWriter { facts, is_document: true, ..SessionWriter::default() })
}

/// The state between two events.
#[derive(Debug, Default)]
struct SessionWriter {
    facts: Facts,
    /// Whether the output is a document, which has only messages.
    is_document: bool,
    has_header: bool,
    /// The lines that are not complete, in order.
    open: VecDeque<Open>,
    /// The number of lines that were emitted.
    n_emitted: usize,
    /// The calls without a result: the number of the line, and the number of the part.
    calls: OpenCalls<(usize, usize)>,
    /// The names of calls without a result in lines that are complete, JSON strings, by the hashes of the
    /// calls' ids.
    unanswered: ByHash<Arc<str>>,
    tool_names: ToolNames,
    /// The ids of messages.
    used: IdSet,
    /// The ids of calls.
    called: IdSet,
    hasher: IdHasher,
    /// The time of the last line with a time, in milliseconds since 1970.
    last: i64,
    /// The last title in the output, a JSON string.
    title: KnownTitle,
    /// Whether a line was written since the last resumed line.
    is_dirty: bool,
}

impl EventWriter for SessionWriter {
    fn write(&mut self, event: &Event<'_>, out: &mut Output) {
        self.write_header(event, out);
        self.calls.start_record(event);
        match &event.body {
            Body::Start(start) => losses::count_start(event, start, &self.facts, out),
            Body::Message(message) => self.write_message(event, message, out),
            Body::Notice(notice) => self.write_notice(event, notice, out),
            Body::Outcome(outcome) => self.write_outcome(event, outcome, out),
            Body::Title(title) => {
                if self.is_document || !self.facts.has_title_text(title.text) {
                    return out.lose_record(event);
                }
                self.write_title(event, title, out);
            }
            // An index entry repeats the tool use of a message.
            Body::ToolCall(call) if self.facts.is_called(&call.id.decode()) => {}
            // An event without words has no line, and is kept in the carry.
            _ => return out.lose_record(event),
        }
        losses::count_context(event, &self.facts, out);
        out.lose_members(event);
    }

    fn resume(&mut self, event: &Event<'_>, out: &mut Output) {
        self.flush(out);
        self.is_dirty = false;
        self.has_header |= !matches!(GeminiRecord::decode(event.value), GeminiRecord::Other);
        self.last = event.context.time.and_then(core_model::millis).unwrap_or(self.last);
        if let Some(id) = event.context.uuid {
            self.used.insert(&id.decode());
        }
        match &event.body {
            Body::Title(title) => self.title.set(title.text.as_str()),
            Body::Message(message) => self.resume_message(message),
            _ => {}
        }
    }

    fn finish(&mut self, out: &mut Output) {
        self.flush(out);
        if let (true, Some((_, title))) = (self.is_dirty && !self.is_document, &self.facts.title)
            && !self.title.is(title)
            && let Some(title) = Text::new(title)
        {
            let line = out.open_derived();
            notice::put_title(line, title, out);
            out.emit(line);
        }
        self.is_dirty = false;
    }
}

impl SessionWriter {
    fn write_message(&mut self, event: &Event<'_>, message: &Message<'_>, out: &mut Output) {
        if message.block_counts().is_empty() {
            return out.lose_record(event);
        }
        losses::count_message(event, message, out);
        match message.role {
            Role::Assistant if message.is_by_client() => self.write_failed(event, message, out),
            Role::Assistant => self.write_response(event, message, out),
            Role::User => self.write_user(event, message, out),
        }
        self.emit_complete(out);
    }

    /// Writes the title of the session, unless the output has it.
    fn write_title(&mut self, event: &Event<'_>, title: &Title<'_>, out: &mut Output) {
        out.drop_ids(event);
        out.drop_time(event);
        if self.title.is(title.text.as_str()) {
            return;
        }
        self.title.set(title.text.as_str());
        // Derived: a new title does not replace the line of an old one.
        let line = out.open_derived();
        notice::put_title(line, title.text, out);
        self.push(Open::notice(line), out);
    }

    fn resume_message(&mut self, message: &Message<'_>) {
        for (block, _) in message.blocks() {
            match block {
                Block::ToolUse(tool) if message.role == Role::Assistant => {
                    let name = self.tool_names.json(&tool.name.decode());
                    self.unanswered.insert(self.facts.hash(&tool.id.decode()), name);
                }
                Block::ToolResult(result) => {
                    self.unanswered.remove(&self.facts.hash(&result.tool_use_id.decode()));
                }
                _ => {}
            }
        }
    }

    /// Adds a line behind the ones that wait, and emits those that are complete.
    fn push(&mut self, open: Open, out: &mut Output) {
        self.is_dirty = true;
        self.open.push_back(open);
        self.emit_complete(out);
    }

    /// Emits the lines that are complete: no later result is for one of their calls. The last response may go
    /// on until a message follows it.
    fn emit_complete(&mut self, out: &mut Output) {
        loop {
            let is_full = self.open.len() > MAX_WAITING;
            let is_followed = self.open.iter().skip(1).any(|open| open.closes);
            let Some(first) = self.open.front_mut() else { return };
            let is_closed = !first.is_response() || is_followed;
            if !(is_full || is_closed && first.is_complete(&self.facts)) {
                return;
            }
            self.emit_first(out);
        }
    }

    fn flush(&mut self, out: &mut Output) {
        while !self.open.is_empty() {
            self.emit_first(out);
        }
    }

    fn emit_first(&mut self, out: &mut Output) {
        let Some(open) = self.open.pop_front() else { return };
        for call in open.calls() {
            while self.calls.first(call.id).is_some_and(|(line, _)| *line == self.n_emitted) {
                self.calls.remove(call.id);
                self.unanswered.insert(call.id, call.name.clone());
            }
        }
        self.n_emitted = self.n_emitted.saturating_add(1);
        open.emit(out);
    }
}
