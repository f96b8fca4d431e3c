//! Writes events as a session that Qwen Code loads and continues: one branch.
//!
//! ```text
//! in   a response in two lines: a text, then a tool use; and its result
//! out  {"uuid":"a",..,"type":"assistant","message":{"role":"model","parts":[{"text":..},{"functionCall":..}]},"parentUuid":..}
//!      {"uuid":"b",..,"type":"tool_result","message":{"role":"user","parts":[{"functionResponse":..}]},..,"parentUuid":"a"}
//! ```

mod assistant;
pub(crate) mod losses;
mod notice;
mod response;
mod thread;
mod user;

use core_model::{
    Block, Body, Calls, Event, EventWriter, Facts, IdHasher, KnownTitle, Message, Options, Output,
    ResponseKey, Role, Title, ToolNames,
};
use jsonl::Text;

use self::{
    response::Response,
    thread::{Line, Thread},
};
use crate::calls::Call;

/// Creates a writer of a session.
pub(crate) fn create(options: &Options, facts: Facts) -> Box<dyn EventWriter> {
    let thread = Thread::new(options.project.as_deref());
    Box::new(SessionWriter { facts, thread, ..SessionWriter::default() })
}

/// The state between two events.
///
/// One response is held. Its lines in the source are merged until a later line shows that it is
/// complete. The results of its calls follow it.
#[derive(Debug, Default)]
struct SessionWriter {
    facts: Facts,
    thread: Thread,
    response: Option<Response>,
    calls: Calls<Call>,
    tool_names: ToolNames,
    hasher: IdHasher,
    /// The tokens before the compaction whose summary follows, as written.
    pre_tokens: Option<String>,
    /// The last title in the output.
    title: KnownTitle,
    /// Whether a line was written since the last resumed line.
    is_dirty: bool,
}

impl EventWriter for SessionWriter {
    fn write(&mut self, event: &Event<'_>, out: &mut Output) {
        self.thread.start(&self.facts, event, out);
        self.calls.start_record(event);
        match &event.body {
            Body::Start(start) => losses::count_start(event, start, &self.facts, out),
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
                losses::count_call(call, out);
            }
            // An event without words has no line, and is kept in the carry.
            _ => return out.lose_record(event),
        }
        losses::count_context(event, &self.facts, out);
        out.lose_members(event);
    }

    fn resume(&mut self, event: &Event<'_>, out: &mut Output) {
        self.close_response(out);
        self.is_dirty = false;
        self.calls.start_record(event);
        self.thread.resume(&event.context);
        match &event.body {
            Body::Title(title) => self.title.set(title.text.as_str()),
            Body::Message(message) => {
                for (block, _) in message.blocks() {
                    match block {
                        Block::ToolUse(tool) => {
                            let name = self.tool_names.json(&tool.name.decode());
                            let call = Call { written: None, name, place: 0 };
                            self.calls.resume(event, tool.id, call, &self.facts);
                        }
                        Block::ToolResult(result) => {
                            self.calls.answer(event, result.tool_use_id, &self.facts);
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn finish(&mut self, out: &mut Output) {
        self.close_response(out);
        if let (true, Some((_, title))) = (self.is_dirty, &self.facts.title)
            && !self.title.is(title)
            && let Some(title) = Text::new(title)
        {
            let line = self.thread.open_derived(&out.uuid_at_end("title", 0), out);
            notice::put_title(&line, title, out);
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
        notice::put_title(&line, title.text, out);
        self.emit_after_response(line, out);
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

    /// Emits the current response, the results of its calls, and the lines that waited. For a call
    /// without a result, the client sends words of its own.
    fn close_response(&mut self, out: &mut Output) {
        self.calls.close();
        self.emit_response(out);
    }

    /// Emits the current response and the lines that waited. Its calls may still get results.
    fn emit_response(&mut self, out: &mut Output) {
        if let Some(response) = self.response.take() {
            response.emit(&mut self.thread, out);
        }
    }

    /// Returns the property that the lines of a response share.
    fn key(&self, event: &Event<'_>, message: &Message<'_>) -> ResponseKey {
        ResponseKey::new(event, message, &self.hasher)
    }
}
