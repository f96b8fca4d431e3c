//! Writes events as a clido session: what clido's own loader takes, in the order clido writes it.

mod block;
mod closing;
mod held;
mod losses;
mod notice;
mod pen;
mod result;

use std::{
    collections::{BTreeMap, HashSet},
    hash::{BuildHasher, RandomState},
};

use core_model::{
    Block, Body, Event, Facts, LineId, LossKind, Message, Options, Output, Role, ToolResult,
    ToolUse, Writer,
};
use jsonl::{Scanner, Text};

use self::{
    closing::Ending,
    held::{Held, Key, Response},
    pen::Pen,
};

/// The start of a session that has none.
const NO_TIME: &str = "1970-01-01T00:00:00Z";

/// What stands in for the prompt of a session without any: clido deletes sessions without one.
const NO_PROMPT: &str = "[no prompt recorded]";

/// Creates a writer of a session.
pub(crate) fn create(_options: &Options, facts: Facts) -> Box<dyn Writer> {
    Box::new(SessionWriter {
        facts,
        has_header: false,
        response: None,
        early: BTreeMap::new(),
        n_results: 0,
        called: HashSet::new(),
        hasher: RandomState::new(),
        ending: Ending::default(),
        title: None,
        has_new_title: false,
        has_written: false,
        has_ended: false,
        has_resumed: false,
    })
}

/// The state between two events.
///
/// Only one response is held back: its lines in the source are merged until something shows that
/// it is complete, and the tool results among them follow it.
#[derive(Debug)]
struct SessionWriter {
    facts: Facts,
    has_header: bool,
    response: Option<Response>,
    /// The results whose call is still to come, by the id of the call.
    early: BTreeMap<String, Vec<Held>>,
    n_results: u64,
    /// Hashes of the ids of all calls so far.
    called: HashSet<u64>,
    hasher: RandomState,
    ending: Ending,
    /// The last title that already stands in the output.
    title: Option<String>,
    has_new_title: bool,
    /// Whether a line was written since the last that stood in the output before.
    has_written: bool,
    /// Whether no message came after the last outcome.
    has_ended: bool,
    has_resumed: bool,
}

impl Writer for SessionWriter {
    fn write(&mut self, event: &Event<'_>, out: &mut Output) {
        if self.facts.n_messages == 0 && !self.has_header {
            // clido has no session without a message: the source lives on in its carry alone.
            return out.lose(LossKind::Dropped, "line");
        }
        let pen = &mut Pen::new(out, event.value);
        match &event.body {
            Body::Start(start) => {
                losses::count_start(start, pen.out);
                self.write_header(event, pen.out);
            }
            Body::Message(message) => self.write_message(event, message, pen),
            Body::ToolCall(call) => {
                // The line of a call that stands in a response is written with the response.
                if !self.facts.is_called(&call.id.decode()) {
                    self.write_header(event, pen.out);
                    let line = block::write_call(pen, call);
                    self.emit_after_response(line, pen.out);
                }
            }
            Body::Notice(notice) => {
                self.write_header(event, pen.out);
                let line = notice::write(notice, pen);
                self.emit_after_response(line, pen.out);
            }
            Body::Outcome(outcome) => {
                self.write_header(event, pen.out);
                self.close_response(pen.out);
                closing::write_outcome(outcome, event.format, pen);
                self.has_written = true;
                self.has_ended = true;
            }
            Body::Title(title) => {
                let winner = self.facts.title.as_ref();
                if winner.is_none_or(|(_, text)| text != title.text.as_str()) {
                    pen.out.lose(LossKind::Dropped, "title");
                }
                self.has_new_title = true;
            }
            _ => return pen.out.lose(LossKind::Dropped, "line"),
        }
        losses::count_context(event, &self.facts, pen.out);
    }

    fn resume(&mut self, event: &Event<'_>, out: &mut Output) {
        self.has_resumed = true;
        self.has_written = false;
        self.has_new_title = false;
        match &event.body {
            Body::Start(_) => self.has_header = true,
            Body::Message(message) => self.resume_message(message, out),
            Body::Title(title) => self.title = Some(title.text.as_str().to_owned()),
            _ => self.close_response(out),
        }
    }

    fn finish(&mut self, out: &mut Output) {
        let has_open_call = self.response.as_ref().is_some_and(|response| response.is_open());
        self.close_response(out);
        let mut early: Vec<Held> =
            std::mem::take(&mut self.early).into_values().flatten().collect();
        early.sort_by_key(|held| held.arrival);
        for held in early {
            out.emit(held.line);
        }
        if let Some((_, title)) = &self.facts.title
            && self.has_header
            && (self.has_written || self.has_new_title)
            && self.title.as_ref() != Some(title)
        {
            closing::write_title(title, out);
        }
        // The source says how it ended, but not what its client added to a restored session.
        let is_told = self.has_ended || (self.facts.has_outcome && !self.has_resumed);
        if self.has_written && !has_open_call && !is_told {
            self.ending.write(out);
        }
    }
}

impl SessionWriter {
    /// Writes the line that must come first, and a prompt where the session has none.
    fn write_header(&mut self, event: &Event<'_>, out: &mut Output) {
        if self.has_header {
            return;
        }
        self.has_header = true;
        self.has_written = true;
        let is_home = matches!(event.body, Body::Start(_));
        let line = if is_home { out.open() } else { out.open_derived() };
        out.put(line, "{\"type\":\"meta\",\"session_id\":");
        match self.facts.session_id.as_deref().and_then(Text::new) {
            Some(id) => out.put_string(line, &id.decode()),
            None => {
                let id = out.uuid(event, "session", 0);
                out.put_string(line, &id);
                out.lose(LossKind::Invented, "session_id");
            }
        }
        out.put(line, ",\"schema_version\":1,\"start_time\":");
        let start = self.start_time(out);
        out.put_string(line, &start);
        out.put(line, ",\"project_path\":");
        match self.facts.cwd.as_deref().and_then(Text::new) {
            Some(cwd) => out.put_string(line, &cwd.decode()),
            None => {
                out.put(line, "\"\"");
                out.lose(LossKind::Invented, "cwd");
            }
        }
        out.put(line, "}");
        out.emit(line);
        if self.facts.interactions.is_empty() && !self.facts.has_user_text {
            let line = out.open_derived();
            out.put(line, "{\"type\":\"user_message\",\"role\":\"user\",\"content\":[{\"text\":");
            out.put_string(line, NO_PROMPT);
            out.put(line, ",\"type\":\"text\"}]}");
            out.emit(line);
            out.lose(LossKind::Invented, "prompt");
        }
    }

    fn start_time(&self, out: &mut Output) -> String {
        let start = self.facts.start.as_deref().unwrap_or("null");
        if let Some(text) = Text::new(start) {
            let start = text.decode();
            // clido cuts the time at fixed bytes when it lists sessions (FORMAT.md).
            if start.is_ascii() {
                return start.into_owned();
            }
        } else if let Ok(number) = Scanner::default().scan_slice(start.as_bytes(), 0)
            && let Some(millis) = core_model::millis(number.raw())
        {
            out.lose(LossKind::Flattened, "timestamp");
            return core_model::iso_millis(millis);
        }
        out.lose(LossKind::Invented, "timestamp");
        NO_TIME.to_owned()
    }

    fn write_message(&mut self, event: &Event<'_>, message: &Message<'_>, pen: &mut Pen<'_>) {
        losses::count_message(message, pen.out);
        if message.blocks().next().is_none() {
            // No API takes a message without content, and between calls and results it would part
            // them.
            return pen.out.lose(LossKind::Dropped, "message.content");
        }
        self.write_header(event, pen.out);
        self.has_written = true;
        self.has_ended = false;
        self.ending.add_time(event.context.time);
        match message.role {
            Role::Assistant => self.write_assistant(event, message, pen),
            Role::User => self.write_user(event, message, pen),
        }
    }

    fn write_assistant(&mut self, event: &Event<'_>, message: &Message<'_>, pen: &mut Pen<'_>) {
        let key = Key::of(event, message);
        let goes_on = self.response.as_ref().is_some_and(|response| response.takes(&key));
        if !goes_on {
            self.close_response(pen.out);
        }
        self.ending.add_response(message, goes_on);
        let mut response = self.response.take().unwrap_or_else(|| Response::new(key));
        for (block, _) in message.blocks() {
            // Some proxies answer their own calls.
            if matches!(block, Block::ToolResult(_)) {
                continue;
            }
            let line = response.line_for_block(pen.out);
            block::write(block, line, pen);
            if let Block::ToolUse(tool) = block {
                self.write_call(event, &tool, &mut response, pen);
            }
        }
        self.response = Some(response);
        for result in message.tool_results() {
            self.write_result(event, message, &result, pen);
        }
    }

    fn write_call(
        &mut self,
        event: &Event<'_>,
        tool: &ToolUse<'_>,
        response: &mut Response,
        pen: &mut Pen<'_>,
    ) {
        let id = tool.id.decode().into_owned();
        self.called.insert(self.hasher.hash_one(id.as_str()));
        if tool.is_server {
            return;
        }
        let is_answered = self.early.contains_key(&id);
        let line = block::repeat_call(pen, tool);
        let millis = event.context.time.and_then(core_model::millis);
        if is_answered {
            response.add_call(id.clone(), Some(line), millis);
            response.answer(&id);
        } else {
            response.add_call(id, Some(line), millis);
        }
    }

    fn write_user(&mut self, event: &Event<'_>, message: &Message<'_>, pen: &mut Pen<'_>) {
        let mut has_result = false;
        for result in message.tool_results() {
            self.write_result(event, message, &result, pen);
            has_result = true;
        }
        let mut said = None;
        for (block, _) in message.blocks() {
            if matches!(block, Block::ToolResult(_)) {
                continue;
            }
            let line = match said {
                Some(line) => {
                    pen.out.put(line, ",");
                    line
                }
                None => {
                    self.close_response(pen.out);
                    let line = pen.out.open();
                    pen.out.put(line, "{\"type\":\"user_message\",\"role\":\"user\",\"content\":[");
                    *said.insert(line)
                }
            };
            block::write(block, line, pen);
        }
        let Some(line) = said else { return };
        pen.out.put(line, "]}");
        pen.out.emit(line);
        self.ending.add_user(message);
        if has_result {
            pen.out.lose(LossKind::Flattened, "message.content");
        }
    }

    fn write_result(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        result: &ToolResult<'_>,
        pen: &mut Pen<'_>,
    ) {
        let id = result.tool_use_id.decode();
        let call_millis = self.response.as_ref().and_then(|response| response.time_of(&id));
        let line = result::write(event, message, result, call_millis, pen);
        let held = Held { line, arrival: self.n_results };
        self.n_results += 1;
        let is_of_response = self.response.as_mut().is_some_and(|response| response.answer(&id));
        let is_called = self.called.contains(&self.hasher.hash_one(&*id));
        match &mut self.response {
            _ if !is_of_response && !is_called && self.facts.is_called(&id) => {
                self.early.entry(id.into_owned()).or_default().push(held);
                pen.out.lose(LossKind::Flattened, "tool_result.order");
            }
            Some(response) => response.add_result(&id, held),
            None => pen.out.emit(line),
        }
    }

    /// Emits a line after the response that is being written, or now.
    fn emit_after_response(&mut self, line: LineId, out: &mut Output) {
        self.has_written = true;
        match &mut self.response {
            Some(response) if response.tail.len() < Response::MAX_TAIL => response.tail.push(line),
            _ => {
                self.close_response(out);
                out.emit(line);
            }
        }
    }

    fn close_response(&mut self, out: &mut Output) {
        if let Some(response) = self.response.take() {
            response.emit(&mut self.early, out);
        }
    }

    fn resume_message(&mut self, message: &Message<'_>, out: &mut Output) {
        let mut results = message.tool_results().peekable();
        if message.role == Role::User && results.peek().is_some() {
            // Lines that wait for the response come before this one, which is in the output.
            let Some(response) = &mut self.response else { return };
            response.emit_held(&mut self.early, out);
            for result in results {
                response.answer(&result.tool_use_id.decode());
            }
            return;
        }
        self.close_response(out);
        if message.role == Role::User {
            return self.ending.add_user(message);
        }
        self.ending.add_response(message, false);
        let mut response = Response::new(Key::Alone);
        for (block, _) in message.blocks() {
            if let Block::ToolUse(tool) = block {
                let id = tool.id.decode().into_owned();
                self.called.insert(self.hasher.hash_one(id.as_str()));
                response.add_call(id, None, None);
            }
        }
        self.response = Some(response);
    }
}
