//! Writes responses: one entry for each block, all with one message id.

use core_model::{Block, Event, LineId, LossKind, Message, Output, ToolUse, replacement_tool_name};
use jsonl::{Raw, Text, json_string};

use super::{
    ClaudeCodeWriter,
    block::{put_assistant_block, put_tool_use},
    calls::Call,
    thread::{Ending, lose_envelope},
};

/// The current response.
#[derive(Debug)]
pub(super) struct Response {
    /// The id of its message, a JSON string.
    id: String,
    source_id: Option<String>,
    model: Option<String>,
    /// Whether a result was written since. A message without an id then starts a new response.
    pub(super) is_interrupted: bool,
}

impl Response {
    /// Continues the response of a resumed line; `None` for a line without a message id.
    pub(super) fn resume(message: &Message<'_>) -> Option<Self> {
        let source_id = message.id?.decode().into_owned();
        Some(Self {
            id: json_string(&source_id),
            source_id: Some(source_id),
            model: message.model.map(|model| model.decode().into_owned()),
            is_interrupted: false,
        })
    }
}

/// Unsigned thinking, on an open line that waits for the next block of the response.
#[derive(Debug)]
pub(super) struct Thought {
    line: LineId,
    uuid: String,
}

impl ClaudeCodeWriter {
    pub(super) fn assistant<'l>(
        &mut self,
        event: &Event<'l>,
        message: &Message<'l>,
        out: &mut Output,
    ) {
        if !self.is_continued(event, message, out) {
            self.flush_thought(out);
            self.give_up_calls(true, event, out);
            self.response = Some(Response {
                id: match message.id {
                    Some(id) => json_string(&id.decode()),
                    None => {
                        out.lose(LossKind::Invented, "message.id");
                        json_string(&out.message_id(event, 0))
                    }
                },
                source_id: message.id.map(|id| id.decode().into_owned()),
                model: message.model.map(|model| model.decode().into_owned()),
                is_interrupted: false,
            });
        }
        self.is_asked = false;
        let (mut is_empty, mut is_first) = (true, true);
        for (block_idx, (block, raw)) in message.blocks().enumerate() {
            is_empty = false;
            let entry = Entry { event, message, block_idx, is_first };
            match block {
                // The API refuses such blocks.
                Block::Text(text) if text.is_blank() => {
                    out.lose(LossKind::Dropped, "text");
                    continue;
                }
                Block::Thinking { text, signature } if signature.is_none_or(|s| s.is_empty()) => {
                    self.think(&entry, text, out);
                    continue;
                }
                // The API wants the result of its own tools, which other formats do not have.
                Block::ToolUse(tool) if !tool.is_server || event.vocabulary.has_api_blocks => {
                    self.tool_use(&entry, &tool, out);
                }
                Block::ToolResult(result) => self.result(event, &result, None, block_idx, out),
                _ => {
                    let line = self.open_assistant(&entry, out);
                    put_assistant_block(out, line, &block, raw);
                    self.close_assistant(&entry, line, out);
                }
            }
            is_first = false;
        }
        if is_empty {
            out.lose_record(event);
        } else if is_first {
            lose_envelope(event, message, out);
        }
    }

    /// Returns whether a message continues the current response.
    fn is_continued(&mut self, event: &Event<'_>, message: &Message<'_>, out: &mut Output) -> bool {
        let Some(response) = &self.response else { return false };
        let is = |ours: &Option<String>, text: Option<Text<'_>>| {
            ours.as_deref().is_some_and(|ours| text.is_some_and(|text| text.is(ours)))
        };
        let is_same = match message.id {
            Some(_) => is(&response.source_id, message.id),
            None if response.source_id.is_some() => false,
            None => is(&response.model, message.model) && !response.is_interrupted,
        };
        // A new response would cut off the results of the last one that are yet to come.
        if !is_same && self.calls.is_any_expected(&self.facts) {
            if message.id.is_some() {
                out.lose(LossKind::Flattened, event.vocabulary.message_id);
            }
            return true;
        }
        is_same
    }

    fn tool_use(&mut self, entry: &Entry<'_, '_>, tool: &ToolUse<'_>, out: &mut Output) {
        let line = self.open_assistant(entry, out);
        let id = tool.id.decode();
        let Entry { event, block_idx, .. } = *entry;
        let written =
            self.calls.replacement(&id, usize::MAX, || out.uuid(event, "tool", block_idx));
        put_tool_use(
            out,
            line,
            tool,
            written.as_deref(),
            replacement_tool_name(&tool.name.decode()).as_deref(),
        );
        self.close_assistant(entry, line, out);
        if !tool.is_server {
            let entry = self.shared_entry.share(self.thread.parent());
            let at = self.thread.clock.last();
            let call = Call { id: id.into(), written: written.map(Into::into), entry, at };
            if self.release(&call, out) {
                self.calls.add_closed(&call.id);
            } else {
                self.calls.add(event, tool.id, call, &self.facts);
            }
        }
    }

    /// Opens an entry up to its block. If there is unsigned thinking, its line becomes the entry.
    fn open_assistant(&mut self, entry: &Entry<'_, '_>, out: &mut Output) -> LineId {
        self.open_with_prompt(entry.event, out);
        let line = match self.thought.take() {
            Some(thought) => {
                out.put(thought.line, "]");
                thought.line
            }
            None => self.thread.open(entry.event, out),
        };
        let id = self.response.as_ref().map_or("\"\"", |response| &response.id);
        out.put(line, ",\"type\":\"assistant\",\"message\":{\"id\":");
        out.put(line, id);
        out.put(line, ",\"type\":\"message\",\"role\":\"assistant\"");
        self.put_model(entry.message, line, out);
        out.put(line, ",\"content\":[");
        line
    }

    /// Writes the model of the message, else of the responses before it. If none is known, the
    /// member is left out: with an unknown model in the last response, the client drops all
    /// thinking.
    fn put_model(&self, message: &Message<'_>, line: LineId, out: &mut Output) {
        let model = message
            .model
            .filter(|model| is_known(*model) && (!self.is_of_claude || is_claude(*model)));
        if model.is_none() && message.model.is_some() {
            out.lose(LossKind::Dropped, "model");
        }
        match (model, &self.model) {
            (Some(model), _) => {
                out.put(line, ",\"model\":");
                out.put_raw(line, Raw::from(model));
            }
            (None, Some(model)) if message.model.is_none() || !self.is_of_claude => {
                out.put(line, ",\"model\":");
                out.put(line, model);
            }
            (None, _) => {}
        }
    }

    fn close_assistant(&mut self, entry: &Entry<'_, '_>, line: LineId, out: &mut Output) {
        let Entry { event, message, block_idx, is_first } = *entry;
        out.put(line, "],\"stop_reason\":");
        match message.stop_reason.filter(|reason| reason.is_null() || reason.as_text().is_some()) {
            Some(reason) => out.put_raw(line, reason),
            None => {
                if message.stop_reason.is_some() {
                    out.lose(LossKind::Dropped, "stop_reason");
                }
                out.put(line, stop_reason(message));
            }
        }
        out.put(line, ",\"stop_sequence\":");
        out.put_raw(line, message.stop_sequence.unwrap_or(Raw::NULL));
        match message.usage {
            Some(usage) if usage.is_of_api() => {
                out.put(line, ",\"usage\":");
                out.put_raw(line, usage.raw());
            }
            Some(usage) if usage.is_object() => {
                out.put(line, ",\"usage\":");
                out.put(line, &usage.to_api_json());
            }
            Some(usage) if !usage.is_null() => out.lose(LossKind::Dropped, "usage"),
            _ => {}
        }
        out.put(line, "}");
        if let Some(request_id) = message.request_id {
            out.put(line, ",\"requestId\":");
            out.put_raw(line, Raw::from(request_id));
        }
        if message.is_api_error {
            out.put(line, ",\"isApiErrorMessage\":true");
            if block_idx == 0 {
                // Streams say which error it is. Entries have no place for it.
                out.lose(LossKind::Flattened, event.vocabulary.is_api_error);
            }
        }
        let ending = Ending { is_own: is_first, ..Ending::new("entry", block_idx, event) };
        self.thread.close(line, &ending, out);
    }

    /// Stores thinking that the API would refuse. It is written beside the message of the next
    /// block.
    fn think(&mut self, entry: &Entry<'_, '_>, text: Text<'_>, out: &mut Output) {
        if text.is_empty() {
            return out.lose(LossKind::Dropped, "thinking");
        }
        out.lose(LossKind::Flattened, "thinking");
        self.open_with_prompt(entry.event, out);
        let line = match &self.thought {
            Some(thought) => {
                out.put(thought.line, ",");
                thought.line
            }
            None => {
                let line = self.thread.open(entry.event, out);
                out.put(line, ",\"unsignedThinking\":[");
                let uuid = json_string(&out.uuid(entry.event, "thinking", entry.block_idx));
                self.thought = Some(Thought { line, uuid });
                line
            }
        };
        out.copy_text(line, text);
    }

    /// Writes stored thinking that no block followed on a line that the client does not send.
    pub(super) fn flush_thought(&mut self, out: &mut Output) {
        let Some(Thought { line, uuid }) = self.thought.take() else { return };
        out.put(line, "],\"type\":\"system\",\"subtype\":\"unsigned_thinking\",\"content\":\"\"");
        out.put(line, ",\"isMeta\":false,\"level\":\"info\"");
        let time = self.thread.clock.next(None, 0, out);
        self.thread.close_as(line, uuid, &time, out);
    }
}

/// Returns whether a model is of Claude, by its name.
pub(super) fn is_claude(model: Text<'_>) -> bool {
    model.body().starts_with("claude")
}

/// Returns whether a model is known. Version 0.1.0 wrote `unknown` for an unknown one.
pub(super) fn is_known(model: Text<'_>) -> bool {
    !model.is_empty() && !model.is("unknown")
}

/// A block of a message that becomes an entry.
struct Entry<'a, 'l> {
    event: &'a Event<'l>,
    message: &'a Message<'l>,
    block_idx: usize,
    /// Whether this is the first entry of the event. The first one has the event's id and time.
    is_first: bool,
}

/// Returns why the model stopped, as far as it can be derived. A message of a format without models
/// is a whole response; in a stream, more blocks may follow.
fn stop_reason(message: &Message<'_>) -> &'static str {
    let calls = message.blocks().any(|(block, _)| match block {
        Block::ToolUse(tool) => !tool.is_server,
        _ => false,
    });
    match (calls, message.model) {
        (true, _) => "\"tool_use\"",
        (false, None) => "\"end_turn\"",
        (false, Some(_)) => "null",
    }
}
