//! Writes events as a session that Copilot loads and continues: `session.start` first, and each line
//! with the id of the line before.
//!
//! ```text
//! in   a prompt, and a response in two lines: a text, then a tool use; and its result
//! out  {"type":"session.start","data":{"sessionId":..,"context":{"cwd":..}},"id":..,"parentId":null}
//!      {"type":"user.message","data":{"content":..},"id":"a",..}
//!      {"type":"assistant.message","data":{"content":..,"toolRequests":[{"toolCallId":..}]},"id":"b",..}
//!      {"type":"tool.execution_complete","data":{"toolCallId":..,"result":{"content":..}},..}
//! ```

mod agent;
mod assistant;
mod block;
mod calls;
mod compaction;
mod header;
mod losses;
mod notice;
mod response;
mod thread;
mod usage;
mod user;

use core_model::{
    Block, Body, Calls, Content, EarlyResults, Event, EventWriter, Facts, IdHasher, IdSet,
    KnownTitle, LossKind, Message, Options, Output, Place, ResponseKey, Role, Title,
};
use jsonl::{Text, json_string};

use self::{
    agent::Speaker, calls::Call, compaction::Boundary, response::Response, thread::Thread,
    usage::Tally,
};
pub(crate) use self::{compaction::TRIGGERS, thread::is_iso};

/// Creates a writer of a session.
pub(crate) fn create(_options: &Options, facts: Facts) -> Box<dyn EventWriter> {
    Box::new(SessionWriter { facts, ..SessionWriter::default() })
}

/// The state between two events.
///
/// One line of a response is held: the lines of a response in the source are merged into it, as long
/// as thinking, text and calls come in this order. A further one begins a new line, because Copilot
/// joins lines that follow each other and keeps their order.
#[derive(Debug, Default)]
struct SessionWriter {
    facts: Facts,
    has_start: bool,
    thread: Thread,
    response: Option<Response>,
    /// The property of the last line of a response.
    last_key: ResponseKey,
    calls: Calls<Call>,
    /// Results whose calls come later, with their places in the source.
    early: EarlyResults<(thread::Line, Place)>,
    tally: Tally,
    /// The boundary of a compaction whose summary follows.
    boundary: Option<Boundary>,
    /// The number of compactions so far.
    n_compactions: u64,
    hasher: IdHasher,
    /// The sub-agent that speaks; `None` for the session itself.
    speaker: Option<Speaker>,
    /// The sub-agents that have a line.
    started: IdSet,
    /// The model of the last response, a JSON string.
    model: Option<String>,
    /// The git branch in the first line, as written in the source.
    git_branch: Option<String>,
    /// The last title in the output.
    title: KnownTitle,
    /// Whether a line was written since the last resumed line.
    is_dirty: bool,
    /// Whether the session has a message.
    has_message: bool,
}

impl EventWriter for SessionWriter {
    fn write(&mut self, event: &Event<'_>, out: &mut Output) {
        self.write_start(event, out);
        self.calls.start_record(event);
        self.hear(event, out);
        match &event.body {
            Body::Start(start) => self.count_start(event, start, out),
            Body::Message(message) => self.write_message(event, message, out),
            Body::Notice(notice) => self.write_notice(event, notice, out),
            Body::Outcome(outcome) => self.write_outcome(event, outcome, out),
            Body::Title(title) => {
                if !self.facts.has_title_text(title.text) {
                    return out.lose_record(event);
                }
                self.write_title(event, title, out);
            }
            // An index entry repeats the tool use of a message.
            Body::ToolCall(call) if self.facts.is_called(&call.id.decode()) => {
                losses::count_call(event, call, out);
            }
            // An event without words has no line, and is kept in the carry.
            _ => return out.lose_record(event),
        }
        self.count_context(event, out);
        out.lose_members(event);
    }

    fn resume(&mut self, event: &Event<'_>, out: &mut Output) {
        self.flush(out);
        self.is_dirty = false;
        self.calls.start_record(event);
        self.thread.resume(&event.context);
        match &event.body {
            Body::Start(start) => {
                self.has_start = true;
                self.note_model(start.model);
            }
            Body::Title(title) => self.title.set(title.text.as_str()),
            Body::Message(message) => self.resume_message(event, message),
            _ => {}
        }
    }

    fn finish(&mut self, out: &mut Output) {
        self.flush(out);
        self.flush_early(out);
        self.speaker = None;
        let title = self.facts.title.take();
        if let (true, Some((_, title))) = (self.is_dirty, &title)
            && !self.title.is(title)
            && let Some(title) = Text::new(title)
        {
            let id = out.uuid_at_end("title", 0);
            let line = self.thread.open_derived(&id, out);
            self.put_title(line, title, out);
        }
        self.facts.title = title;
        self.is_dirty = false;
    }
}

impl SessionWriter {
    fn write_message(&mut self, event: &Event<'_>, message: &Message<'_>, out: &mut Output) {
        if message.block_counts().is_empty() {
            return out.lose_record(event);
        }
        losses::count_message(event, message, out);
        self.is_dirty = true;
        match message.role {
            Role::Assistant if message.is_by_client() => self.write_failed(event, message, out),
            Role::Assistant => {
                self.open_with_prompt(event, out);
                self.write_assistant(event, message, out);
            }
            Role::User => {
                // Copilot does not send a blank message.
                let is_sent = |block: &Block<'_>| match block {
                    Block::Text(text) => !text.is_blank(),
                    Block::ToolResult(_) => false,
                    _ => true,
                };
                let has_words =
                    matches!(message.content, Content::Other(_)) || message.any_block(is_sent);
                self.has_message |= self.speaker.is_none() && has_words;
                self.write_user(event, message, out);
            }
        }
    }

    /// Writes a placeholder prompt before the first message if it is a response: Copilot sends the session as it is,
    /// and the API refuses messages that begin with the assistant's.
    fn open_with_prompt(&mut self, event: &Event<'_>, out: &mut Output) {
        if self.speaker.is_some() || std::mem::replace(&mut self.has_message, true) {
            return;
        }
        out.lose(LossKind::Invented, "prompt");
        let id = out.uuid(event, "prompt", 0);
        let line = self.thread.open_derived(&id, out);
        out.put(
            line.id,
            "\"type\":\"user.message\",\"data\":{\"content\":\"[no prompt recorded]\"",
        );
        self.emit(line, out);
    }

    /// Writes the title of the session, unless the output has it.
    fn write_title(&mut self, event: &Event<'_>, title: &Title<'_>, out: &mut Output) {
        if self.title.is(title.text.as_str()) {
            out.drop_ids(event);
            return out.drop_time(event);
        }
        self.flush(out);
        // Derived: a new title does not replace the line of an old one.
        let line = self.thread.open_title(event, out);
        self.put_title(line, title.text, out);
    }

    fn put_title(&mut self, line: thread::Line, title: Text<'_>, out: &mut Output) {
        self.title.set(title.as_str());
        self.is_dirty = true;
        out.put(line.id, "\"type\":\"session.title_changed\",\"data\":{\"title\":");
        out.put_string(line.id, &title.decode());
        self.emit(line, out);
    }

    fn resume_message(&mut self, event: &Event<'_>, message: &Message<'_>) {
        self.has_message = true;
        for (block, _) in message.blocks() {
            match block {
                Block::ToolUse(tool) if message.role == Role::Assistant => {
                    self.calls.resume(event, tool.id, Call { written: None }, &self.facts);
                }
                Block::ToolResult(result) => {
                    self.calls.answer(event, result.tool_use_id, &self.facts);
                }
                _ => {}
            }
        }
        if message.role == Role::Assistant {
            self.note_model(message.model);
        }
    }

    fn note_model(&mut self, model: Option<Text<'_>>) {
        if let Some(model) = model.filter(|model| !model.is_empty()) {
            self.model = Some(json_string(&model.decode()));
        }
    }

    /// Writes the lines that wait for a later event.
    fn flush(&mut self, out: &mut Output) {
        self.close_response(out);
        self.flush_boundary(out);
        self.flush_usage(out);
    }

    /// Emits the results whose calls did not come, as notices, which Copilot does not send.
    fn flush_early(&mut self, out: &mut Output) {
        for (line, place) in self.early.take_all() {
            out.lose_at(LossKind::Flattened, "tool_result", place);
            out.put(line.id, ",\"message\":\"\"},\"type\":\"session.info\"");
            self.emit_closed(line, out);
        }
    }

    /// Writes the end of a line's data and the members that all lines have, and emits the line.
    fn emit(&mut self, line: thread::Line, out: &mut Output) {
        out.put(line.id, "}");
        self.emit_closed(line, out);
    }

    /// Writes the members that all lines have, and emits the line.
    fn emit_closed(&mut self, line: thread::Line, out: &mut Output) {
        self.is_dirty = true;
        self.thread.emit(line, out);
    }
}
