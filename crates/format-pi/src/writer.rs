//! Writes events as a session that pi loads and continues: one branch, a header first.
//!
//! ```text
//! in   a response in two lines: a text, then a tool use; and its result
//! out  {"type":"session","version":3,"id":..,"timestamp":..,"cwd":..}
//!      {"type":"message","id":"a",..,"message":{"role":"assistant","content":[{"type":"text",..},{"type":"toolCall",..}],..},"parentId":..}
//!      {"type":"message","id":"b",..,"message":{"role":"toolResult",..},"parentId":"a"}
//! ```

mod assistant;
mod block;
mod calls;
mod header;
mod losses;
mod notice;
mod response;
mod thread;
mod user;

use core_model::{
    Body, Calls, EarlyResults, Event, EventWriter, Facts, IdHasher, KnownTitle, LossKind, Message,
    Options, Output, Place, ResponseKey, Role, Title, ToolNames,
};
use jsonl::{Text, json_string};

use self::{
    calls::Call,
    response::Response,
    thread::{Line, Thread},
};

/// Creates a writer of a session.
pub(crate) fn create(options: &Options, facts: Facts) -> Box<dyn EventWriter> {
    let project = options.project.clone();
    Box::new(SessionWriter { facts, project, ..SessionWriter::default() })
}

/// The state between two events.
///
/// One response is held. Its lines in the source are merged until a later line shows that it is
/// complete. The results of its calls follow it.
#[derive(Debug, Default)]
struct SessionWriter {
    facts: Facts,
    /// The folder in which pi will go on, if it is not the session's.
    project: Option<String>,
    has_header: bool,
    /// Whether the output has a message that pi sends as the user's.
    has_prompt: bool,
    thread: Thread,
    response: Option<Response>,
    calls: Calls<Call>,
    tool_names: ToolNames,
    /// Results whose calls come later, with their places in the source.
    early: EarlyResults<(Line, Place)>,
    hasher: IdHasher,
    /// The model of the last response, a JSON string.
    model: Option<String>,
    /// The tokens before the compaction whose summary follows, as written.
    pre_tokens: Option<String>,
    /// The last title in the output.
    title: KnownTitle,
    /// Whether a title was read.
    has_new_title: bool,
    /// Whether a line was written since the last resumed line.
    is_dirty: bool,
}

impl EventWriter for SessionWriter {
    fn write(&mut self, event: &Event<'_>, out: &mut Output) {
        self.write_header(event, out);
        self.calls.start_record(event);
        match &event.body {
            Body::Start(start) => losses::count_start(event, start, out),
            Body::Message(message) => self.write_message(event, message, out),
            Body::Notice(notice) => self.write_notice(event, notice, out),
            Body::Outcome(outcome) => self.write_outcome(event, outcome, out),
            Body::Title(title) => {
                self.has_new_title = true;
                if !self.facts.has_title_text(title.text) {
                    return out.lose_record(event);
                }
                self.write_title(event, title, out);
            }
            // An index entry repeats the tool use of a message.
            Body::ToolCall(call) if self.facts.is_called(&call.id.decode()) => {
                losses::count_call(call, out);
            }
            // An event without words has no line, and is kept in the carry.
            _ => return out.lose_record(event),
        }
        losses::count_context(event, &self.facts, out);
        out.lose_members(event);
    }

    fn learn(&mut self, facts: &Facts) -> bool {
        let is_same = self.facts.has_head_of(facts)
            && (!self.has_new_title || self.facts.title == facts.title);
        self.facts.title.clone_from(&facts.title);
        is_same
    }

    fn resume(&mut self, event: &Event<'_>, out: &mut Output) {
        self.close_response(out);
        self.is_dirty = false;
        self.calls.start_record(event);
        self.thread.resume(&event.context);
        match &event.body {
            Body::Start(_) => self.has_header = true,
            Body::Title(title) => self.title.set(title.text.as_str()),
            Body::Message(message) => self.resume_message(event, message),
            _ => {}
        }
    }

    fn finish(&mut self, out: &mut Output) {
        self.close_response(out);
        self.flush_early(out);
        if let (true, Some((_, title))) = (self.is_dirty, &self.facts.title)
            && !self.title.is(title)
            && let Some(title) = Text::new(title)
        {
            let id = out.uuid_at_end("title", 0);
            let line = self.thread.open_derived("session_info", &id, out);
            out.put(line.id, ",\"name\":");
            out.put_string(line.id, &title.decode());
            self.thread.emit(line, out);
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
        self.is_dirty = true;
        match message.role {
            Role::Assistant if message.is_by_client() => self.write_failed(event, message, out),
            Role::Assistant => self.write_assistant(event, message, out),
            Role::User => self.write_user(event, message, out),
        }
    }

    /// Writes the title of the session, unless the output has it.
    fn write_title(&mut self, event: &Event<'_>, title: &Title<'_>, out: &mut Output) {
        if self.title.is(title.text.as_str()) {
            out.drop_ids(event);
            return out.drop_time(event);
        }
        self.title.set(title.text.as_str());
        // Derived: a new title does not replace the line of an old one.
        let line = self.thread.open_title(event, out);
        out.put(line.id, ",\"name\":");
        out.put_string(line.id, &title.text.decode());
        self.emit_after_response(line, out);
    }

    fn resume_message(&mut self, event: &Event<'_>, message: &Message<'_>) {
        self.has_prompt = true;
        for (block, _) in message.blocks() {
            match block {
                core_model::Block::ToolUse(tool) if message.role == Role::Assistant => {
                    let name = self.tool_names.json(&tool.name.decode());
                    let call = Call { written: None, name, place: 0 };
                    self.calls.resume(event, tool.id, call, &self.facts);
                }
                core_model::Block::ToolResult(result) => {
                    self.calls.answer(event, result.tool_use_id, &self.facts);
                }
                _ => {}
            }
        }
        if let (Role::Assistant, Some(model)) = (message.role, message.model) {
            self.model = Some(json_string(&model.decode()));
        }
    }

    /// Emits a line after the current response, or at once if there is none.
    fn emit_after_response(&mut self, line: Line, out: &mut Output) {
        self.is_dirty = true;
        match &mut self.response {
            Some(response) if response.tail.len() < Response::MAX_TAIL => response.tail.push(line),
            _ => {
                self.close_response(out);
                self.thread.emit(line, out);
            }
        }
    }

    /// Emits the current response, the results of its calls, and the lines that waited. Its calls
    /// without a result get none: pi sends `No result provided`.
    fn close_response(&mut self, out: &mut Output) {
        self.calls.close();
        self.emit_response(out);
    }

    /// Emits the current response and the lines that waited. Its calls may still get results.
    fn emit_response(&mut self, out: &mut Output) {
        let Some(response) = self.response.take() else { return };
        response.emit(&mut self.model, &mut self.thread, out);
    }

    /// Emits the results whose calls did not come, as entries that pi does not send.
    fn flush_early(&mut self, out: &mut Output) {
        for (line, place) in self.early.take_all() {
            out.lose_at(LossKind::Flattened, "tool_result", place);
            out.lose_at(LossKind::Dropped, "tool_result.tool_use_id", place);
            out.put(line.id, "},\"type\":\"custom\",\"customType\":\"toolResult\"");
            self.thread.emit(line, out);
        }
    }

    /// Returns the property that the lines of a response share.
    fn key(&self, event: &Event<'_>, message: &Message<'_>) -> ResponseKey {
        ResponseKey::new(event, message, &self.hasher)
    }
}
