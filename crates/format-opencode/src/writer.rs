//! Writes events as a document that OpenCode imports and continues.
//!
//! ```text
//! in   a response in two lines: a text, then a tool use; and its result
//! out  {"info":{"id":"ses_..",..},"messages":[
//!      {"info":{"role":"assistant",..},"parts":[{"type":"text",..},
//!       {"type":"tool","callID":..,"state":{"status":"completed","input":..,"output":..,..},..}]}
//!      ]}
//! ```
//!
//! A message waits until the results of its calls have come, because they are in its parts. Later
//! messages wait behind it.

mod header;
mod ids;
mod losses;
mod message;
mod part;

use std::collections::VecDeque;

use core_model::{
    Block, Body, CallId, Event, EventWriter, Facts, IdHasher, LossKind, Message, NoticeKind,
    OpenCalls, Options, Output, ResponseKey, Role, ToolResult, millis, replacement_tool_id,
    replacement_tool_name,
};
use jsonl::Text;

pub(crate) use self::ids::{is_session_id, is_session_of};
use self::{
    ids::Ids,
    message::{Open, TIMES},
    part::Part,
};
use crate::Record;

/// Limit for the messages that wait for the result of a call before them.
const MAX_WAITING: usize = 1000;

/// Creates a writer of a document.
pub(crate) fn create(_options: &Options, facts: Facts) -> Box<dyn EventWriter> {
    Box::new(SessionWriter { facts, ..SessionWriter::default() })
}

/// The state between two events.
#[derive(Debug, Default)]
struct SessionWriter {
    facts: Facts,
    has_header: bool,
    /// Whether the document has a message.
    has_message: bool,
    ids: Ids,
    /// Whether the session has another id than in the source.
    has_other_id: bool,
    /// The messages that are not complete, in order.
    open: VecDeque<Open>,
    /// The number of messages that were emitted.
    n_emitted: usize,
    /// The calls without a result: the number of the message, and the number of the part.
    calls: OpenCalls<(usize, usize)>,
    hasher: IdHasher,
    /// The model of the last response.
    model: Option<String>,
    /// The provider of the last response of a resumed document.
    provider: Option<String>,
    /// The folder of the session, a JSON string.
    cwd: Option<String>,
    /// Whether the compaction whose summary follows was made by the client.
    is_auto: bool,
}

impl EventWriter for SessionWriter {
    fn write(&mut self, event: &Event<'_>, out: &mut Output) {
        self.write_header(event, out);
        self.calls.start_record(event);
        if self.has_other_id && event.context.session_id.is_some() {
            out.lose(LossKind::Flattened, event.vocabulary.session_id);
        }
        match &event.body {
            Body::Start(start) => losses::count_start(event, start, out),
            Body::Message(message) => self.write_message(event, message, out),
            Body::Title(title) => {
                if !self.facts.has_title_text(title.text) {
                    return out.lose_record(event);
                }
                out.drop_ids(event);
                out.drop_time(event);
            }
            // An index entry repeats the tool use of a message.
            Body::ToolCall(call) if self.facts.is_called(&call.id.decode()) => {
                if replacement_tool_name(&call.name.decode()).is_some() {
                    out.lose(LossKind::Flattened, "tool_name");
                }
            }
            Body::Notice(notice) => {
                if notice.kind == NoticeKind::Compaction {
                    self.is_auto = notice.trigger.is_some_and(|trigger| trigger.is("auto"));
                }
                return out.lose_record(event);
            }
            // OpenCode has no place for other events: the carry keeps them.
            _ => return out.lose_record(event),
        }
        losses::count_context(event, &self.facts, out);
        out.lose_members(event);
    }

    fn resume(&mut self, event: &Event<'_>, out: &mut Output) {
        self.flush(out);
        match Record::decode(event.value) {
            Record::Session(session) => {
                self.has_header = true;
                self.ids.resume_session(session.id);
                self.ids.set_undone(session.undone());
                self.cwd = session.directory.map(|cwd| cwd.as_str().to_owned());
            }
            Record::Message(message) => {
                self.has_message = true;
                self.ids.resume_session(message.session_id);
                let created = message.created.and_then(|time| millis(time.raw()));
                self.ids.resume_message(message.id, created, message.is_user());
                for id in message.parts().filter_map(|part| part.get("callID")?.text()) {
                    self.ids.is_new_call(&id.decode());
                }
                if let Some(model) = message.model_id {
                    self.model = Some(model.decode().into_owned());
                    let provider = message.value.get("providerID").and_then(|id| id.text());
                    self.provider = provider.map(|id| id.decode().into_owned());
                }
            }
            Record::Other => {}
        }
    }

    fn finish(&mut self, out: &mut Output) {
        self.flush(out);
    }
}

impl SessionWriter {
    fn write_message(&mut self, event: &Event<'_>, message: &Message<'_>, out: &mut Output) {
        if message.block_counts().is_empty() {
            return out.lose_record(event);
        }
        losses::count_message(event, message, out);
        match (message.role, message.is_summary) {
            (_, true) => self.write_summary(event, message, out),
            (Role::Assistant, _) => self.write_response(event, message, out),
            (Role::User, _) => self.write_user(event, message, out),
        }
        self.emit_complete(out);
    }

    fn write_user(&mut self, event: &Event<'_>, message: &Message<'_>, out: &mut Output) {
        let results = message.tool_results();
        let orphans: Vec<_> = results.filter(|it| !self.complete_call(event, it, out)).collect();
        let is_said = message.blocks().any(|(block, _)| part::is_shown(&block));
        if !is_said || orphans.is_empty() {
            out.drop_if(message.tool_use_result.is_some(), event.vocabulary.tool_use_result);
        }
        if !is_said {
            orphans.iter().for_each(|_| lose_result(out));
            out.drop_ids(event);
            out.drop_time(event);
            if message.tool_results().next().is_none() {
                out.lose(LossKind::Dropped, "text");
            }
            return;
        }
        let mut open = self.open_message(event, ResponseKey::Alone, Role::User, out);
        for (block, _) in message.blocks().filter(|(block, _)| part::is_shown(block)) {
            let part = Part::of_user(out, open.line, &block, message.is_meta);
            open.parts.push(part);
        }
        for result in &orphans {
            out.flatten_orphan(event, message, result);
            open.parts.push(Part::of_orphan(out, open.line, result));
        }
        open.pack(0, out);
        self.open.push_back(open);
    }

    /// Writes the summary of a compaction: the client's request, and the response with the summary.
    fn write_summary(&mut self, event: &Event<'_>, message: &Message<'_>, out: &mut Output) {
        let mut request = self.open_derived(event, out);
        request.parts.push(Part::compaction(out, request.line, self.is_auto));
        self.is_auto = false;
        self.open.push_back(request);
        let mut open = self.open_message(event, ResponseKey::Alone, Role::Assistant, out);
        open.is_summary = true;
        open.parts.push(Part::joined(out, open.line, &message.content));
        self.open.push_back(open);
    }

    /// Writes a placeholder prompt before the first response of a session without a prompt: OpenCode sends
    /// the session as it is, and the API refuses messages that begin with the assistant's.
    fn open_with_prompt(&mut self, event: &Event<'_>, out: &mut Output) {
        if self.has_message {
            return;
        }
        out.lose(LossKind::Invented, "prompt");
        let mut prompt = self.open_derived(event, out);
        prompt.parts.push(Part::placeholder(out, prompt.line));
        self.open.push_back(prompt);
    }

    fn write_response(&mut self, event: &Event<'_>, message: &Message<'_>, out: &mut Output) {
        let key = ResponseKey::new(event, message, &self.hasher);
        // Some proxies answer their own calls. The results are in the parts of the calls.
        if message.blocks().all(|(block, _)| matches!(block, Block::ToolResult(_))) {
            out.drop_ids(event);
            out.drop_time(event);
            match self.open.back_mut().filter(|open| open.takes(key)) {
                Some(open) => open.observe(message, out),
                None => losses::count_response(message, out),
            }
            for result in message.tool_results() {
                self.write_result(event, &result, out);
            }
            return;
        }
        let last = self.open.pop_back();
        let continues = last.as_ref().is_some_and(|open| open.takes(key));
        let mut open = match last {
            Some(open) if continues => {
                out.touch(open.line);
                out.drop_ids(event);
                out.drop_time(event);
                open
            }
            last => {
                self.open.extend(last);
                self.open_with_prompt(event, out);
                self.open_message(event, key, Role::Assistant, out)
            }
        };
        open.has_failed |= message.is_by_client();
        let n_before = open.parts.len();
        for (n, (block, _)) in message.blocks().enumerate() {
            match &block {
                Block::Thinking { text, signature: None } if text.is_blank() => {
                    out.lose(LossKind::Dropped, "thinking");
                }
                Block::Text(text) if text.is_blank() => out.lose(LossKind::Dropped, "text"),
                Block::ToolUse(tool) if !tool.is_server => {
                    let id = tool.id.decode();
                    // The API would refuse two calls with one id.
                    let other = (!self.ids.is_new_call(&id))
                        .then(|| replacement_tool_id(&out.uuid(event, "call", n)));
                    let call = CallId::new(event, tool.id, self.facts.hasher());
                    open.parts.push(Part::call(
                        out,
                        open.line,
                        tool,
                        (call.hash, other.as_deref()),
                    ));
                    let place = self.n_emitted.saturating_add(self.open.len());
                    let part = open.parts.len().saturating_sub(1);
                    self.calls.add(call, (place, part));
                }
                Block::ToolResult(_) => {}
                _ => open.parts.push(Part::of_response(out, open.line, &block, open.created)),
            }
        }
        open.observe(message, out);
        open.pack(n_before, out);
        self.open.push_back(open);
        for result in message.tool_results() {
            self.write_result(event, &result, out);
        }
    }

    /// Completes the call of a result of the assistant's own. A result without a call is lost.
    fn write_result(&mut self, event: &Event<'_>, result: &ToolResult<'_>, out: &mut Output) {
        if !self.complete_call(event, result, out) {
            lose_result(out);
        }
    }

    /// Completes the call of a result. Returns whether the session has that call: without it, the API would
    /// refuse the result.
    fn complete_call(
        &mut self,
        event: &Event<'_>,
        result: &ToolResult<'_>,
        out: &mut Output,
    ) -> bool {
        out.drop_result(result);
        let place = self.calls.answer(CallId::new(event, result.tool_use_id, self.facts.hasher()));
        let part = place.and_then(|(message, part)| {
            let message = self.open.get_mut(message.checked_sub(self.n_emitted)?)?;
            message.has_results = true;
            Some((message.line, message.created, message.parts.get_mut(part)?))
        });
        let Some((line, created, part)) = part else { return false };
        let end = event.context.time.and_then(millis).filter(|millis| TIMES.contains(millis));
        let end = end.unwrap_or(created).max(created);
        part.complete(out, line, result, end);
        true
    }

    /// Emits the messages that are complete: no later result is for one of their calls. The last one may go
    /// on.
    fn emit_complete(&mut self, out: &mut Output) {
        while self.open.len() > 1 {
            let is_full = self.open.len() > MAX_WAITING;
            let first = self.open.front_mut();
            if !is_full && !first.is_some_and(|open| open.is_complete(&self.facts)) {
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
        for id in open.parts.iter().filter_map(|part| part.call) {
            while self.calls.first(id).is_some_and(|(message, _)| *message == self.n_emitted) {
                self.calls.remove(id);
            }
        }
        self.n_emitted = self.n_emitted.saturating_add(1);
        if let Some(model) = &open.model {
            self.model = Some(model.clone());
            self.provider = None;
        }
        let model = self.model.clone().or_else(|| self.first_model());
        let (cwd, provider) = (self.cwd.clone(), self.provider.clone());
        open.emit(&mut self.ids, model.as_deref(), provider.as_deref(), cwd.as_deref(), out);
    }

    /// Returns the model of the first response.
    fn first_model(&self) -> Option<String> {
        let model = self.open.iter().find_map(|open| open.model.clone());
        model.or_else(|| {
            Text::new(self.facts.interactions.first_model()?).map(|it| it.decode().into_owned())
        })
    }
}

/// Counts a result that no message has.
fn lose_result(out: &mut Output) {
    out.lose(LossKind::Dropped, "tool_result");
    out.lose(LossKind::Dropped, "tool_result.content");
}
