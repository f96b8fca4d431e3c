//! Writes responses: their thinking, texts and calls, in lines that Copilot joins again.

use core_model::{
    Block, Event, LossKind, Message, Output, ResponseKey, ToolUse, replacement_tool_name,
};
use jsonl::{Raw, json_string};

use super::{
    SessionWriter, block,
    calls::{Call, MAX_CALL_ID},
    losses,
    response::{Response, Stage},
    thread::put_type,
};

impl SessionWriter {
    pub(super) fn write_assistant(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        out: &mut Output,
    ) {
        self.flush_boundary(out);
        let key = ResponseKey::new(event, message, &self.hasher);
        if !self.response.as_ref().is_some_and(|response| response.is_of(key)) {
            self.close_response(out);
        }
        if !self.tally.continues(key) {
            self.flush_usage(out);
        }
        let details = message.details();
        let mut n_lines = 0;
        for (block_idx, (block, raw)) in message.blocks().enumerate() {
            match &block {
                // Some proxies answer their own calls.
                Block::ToolResult(result) => {
                    self.close_response(out);
                    self.write_result(event, (message, details), result, n_lines, out);
                    n_lines = n_lines.saturating_add(1);
                }
                Block::ToolUse(tool) if !tool.is_server && self.calls.is_repeated(tool.id) => {
                    self.close_response(out);
                    self.calls.add_other(event, tool.id, &self.facts);
                    self.write_unsendable(event, raw, n_lines, out);
                    n_lines = n_lines.saturating_add(1);
                }
                _ => self.write_block(event, &block, (key, block_idx), &mut n_lines, out),
            }
            if let Some(response) = &mut self.response {
                response.observe(message);
            }
        }
        if n_lines == 0 {
            out.drop_ids(event);
            out.drop_time(event);
        }
        losses::count_response(message, out);
        if self.response.is_none() {
            out.drop_if(message.id.is_some(), event.vocabulary.message_id);
            out.drop_if(message.model.is_some(), "model");
        }
        if let Some(usage) = message.usage.filter(|usage| !usage.is_null()) {
            match usage.is_object() {
                true => {
                    out.lose(LossKind::Flattened, "usage");
                    let id = message.id.map(|id| json_string(&id.decode()));
                    self.tally.hold(key, id, usage.tokens());
                }
                false => out.lose(LossKind::Dropped, "usage"),
            }
        }
    }

    fn write_block(
        &mut self,
        event: &Event<'_>,
        block: &Block<'_>,
        (key, block_idx): (ResponseKey, usize),
        n_lines: &mut usize,
        out: &mut Output,
    ) {
        let stage = match block {
            _ if block::is_thinking(block) => Stage::Thinking,
            Block::ToolUse(tool) if !tool.is_server => Stage::Calls,
            _ => Stage::Text,
        };
        if !self.response.as_ref().is_some_and(|response| response.takes(key, stage)) {
            self.close_response(out);
        }
        let response = match &mut self.response {
            Some(response) => response,
            None => {
                let n = *n_lines;
                *n_lines = n_lines.saturating_add(1);
                let uuid = out.uuid(event, "message", n);
                let line = self.thread.open_untyped(event, n, out);
                put_type(line.id, "assistant.message", out);
                self.response.insert(Response::new(key, line, &uuid, out))
            }
        };
        let line = response.line_for(stage, out);
        match block {
            Block::ToolUse(tool) if !tool.is_server => {
                self.write_call(event, tool, block_idx, line, out);
            }
            Block::ToolUse(tool) => {
                self.calls.add_closed(&tool.id.decode());
                block::put_text(out, line, block);
            }
            _ if stage == Stage::Thinking => block::put_thinking(out, line, block, response),
            _ => block::put_text(out, line, block),
        }
    }

    /// Writes a call that the API would refuse as a notice with its JSON.
    fn write_unsendable(&mut self, event: &Event<'_>, raw: Raw<'_>, n: usize, out: &mut Output) {
        out.lose(LossKind::Flattened, "tool_use");
        let line = self.thread.open("session.warning", event, n, out);
        out.put(line.id, "\"warningType\":\"tool_use\",\"message\":");
        out.put_as_string(line.id, raw);
        self.emit(line, out);
    }

    fn write_call(
        &mut self,
        event: &Event<'_>,
        tool: &ToolUse<'_>,
        block_idx: usize,
        line: core_model::LineId,
        out: &mut Output,
    ) {
        let id = tool.id.decode();
        let written =
            self.calls.replacement(&id, MAX_CALL_ID, || out.uuid(event, "tool", block_idx));
        let name = replacement_tool_name(&tool.name.decode());
        let names = (written.as_deref(), name.as_deref());
        block::put_call(out, line, tool, names, event.may_be_unloadable_input(tool));
        let call = Call { written: written.map(Into::into) };
        let early = self.early.release(&id);
        self.calls.add(event, tool.id, call.clone(), &self.facts);
        if let Some((early, _)) = early {
            self.calls.answer(event, tool.id, &self.facts);
            out.put(early.id, ",\"toolCallId\":");
            out.put_string(early.id, call.written.as_deref().unwrap_or(&id));
            out.put(early.id, "},\"type\":\"tool.execution_complete\"");
            self.close_response(out);
            self.emit_closed(early, out);
        }
    }

    /// Writes a text of the client that has the role of the assistant: an error, which Copilot shows
    /// and does not send.
    pub(super) fn write_failed(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        out: &mut Output,
    ) {
        self.flush(out);
        let line = self.thread.open("session.error", event, 0, out);
        out.put(line.id, "\"errorType\":\"query\",\"message\":");
        block::put_all_words(out, line.id, &message.content);
        out.lose(LossKind::Flattened, "message.role");
        self.emit(line, out);
    }
}
