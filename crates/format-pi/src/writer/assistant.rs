//! Writes responses: all lines of a response as one message.

use core_model::{
    Block, Event, LossKind, Message, NoticeKind, Output, Tokens, ToolUse, replacement_tool_name,
};
use jsonl::Raw;

use super::{
    SessionWriter, block,
    calls::{Call, MAX_CALL_ID},
    losses,
    response::{self, Response},
};

impl SessionWriter {
    pub(super) fn write_assistant(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        out: &mut Output,
    ) {
        let key = self.key(event, message);
        let continues = self.response.as_ref().is_some_and(|response| response.takes(key));
        if !continues && self.calls.is_any_expected(&self.facts) && self.response.is_some() {
            // A new response would cut off the results of the last one that are yet to come.
            if message.id.is_some() {
                out.lose(LossKind::Flattened, event.vocabulary.message_id);
            }
        } else if !continues {
            self.close_response(out);
        }
        let is_new = self.response.is_none();
        let mut is_shown = false;
        let mut unsendable = Vec::new();
        let details = message.details();
        for (block_idx, (block, raw)) in message.blocks().enumerate() {
            match &block {
                Block::Text(text) if text.is_blank() => {
                    out.lose(LossKind::Dropped, "text");
                    continue;
                }
                Block::Thinking { text, signature: None } if text.is_blank() => {
                    out.lose(LossKind::Dropped, "thinking");
                    continue;
                }
                // Some proxies answer their own calls.
                Block::ToolResult(result) => {
                    is_shown = true;
                    self.write_result(event, (message, details), result, block_idx, out);
                    continue;
                }
                Block::ToolUse(tool) if !tool.is_server && self.calls.is_repeated(tool.id) => {
                    is_shown = true;
                    self.calls.add_other(event, tool.id, &self.facts);
                    unsendable.push(raw);
                    continue;
                }
                _ => {}
            }
            let response = match &mut self.response {
                Some(response) => response,
                None => {
                    self.open_with_prompt(event, out);
                    let line = self.thread.open("message", event, 0, out);
                    self.response.insert(Response::new(key, line, out))
                }
            };
            is_shown = true;
            let line = response.line_for_block(out);
            match &block {
                Block::ToolUse(tool) if !tool.is_server => {
                    self.write_call(event, tool, block_idx, line, out);
                }
                Block::ToolUse(tool) => {
                    self.calls.add_closed(&tool.id.decode());
                    block::put_assistant(out, line, &block);
                }
                _ => block::put_assistant(out, line, &block),
            }
        }
        for (n, raw) in unsendable.into_iter().enumerate() {
            self.write_unsendable(event, raw, (n, is_new && self.response.is_none()), out);
        }
        if !is_new || !is_shown {
            out.drop_ids(event);
            out.drop_time(event);
        }
        match &mut self.response {
            Some(response) => response.observe(message, out),
            None => losses::count_response(event, message, out),
        }
    }

    /// Writes a call that the API would refuse as a notice with its JSON.
    fn write_unsendable(
        &mut self,
        event: &Event<'_>,
        raw: Raw<'_>,
        (n, is_own): (usize, bool),
        out: &mut Output,
    ) {
        out.lose(LossKind::Flattened, "tool_use");
        let n = if is_own { n } else { n.saturating_add(1) };
        let line = self.open_notice(NoticeKind::Warning, event, n, out);
        out.put(line.id, ",\"subtype\":\"toolCall\",\"text\":");
        out.put_as_string(line.id, raw);
        out.put(line.id, "}");
        self.emit_after_response(line, out);
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
        block::put_call(out, line, tool, written.as_deref(), name.as_deref());
        let name = self.tool_names.json(&name.map_or_else(|| tool.name.decode(), Into::into));
        let place = self.response.as_mut().map_or(0, Response::add_call);
        let call = Call { written: written.map(Into::into), name, place };
        let Some((early, _)) = self.early.release(&id) else {
            return self.calls.add(event, tool.id, call, &self.facts);
        };
        self.calls.add(event, tool.id, call.clone(), &self.facts);
        self.calls.answer(event, tool.id, &self.facts);
        out.put(early.id, ",\"toolCallId\":");
        out.put_string(early.id, call.written.as_deref().unwrap_or(&id));
        out.put(early.id, ",\"toolName\":");
        out.put(early.id, &call.name);
        out.put(early.id, "},\"type\":\"message\"");
        if let Some(response) = &mut self.response {
            response.add_result(place, early);
        }
    }

    /// Writes a text of the client that has the role of the assistant: a failed response, which pi
    /// shows and does not send.
    pub(super) fn write_failed(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        out: &mut Output,
    ) {
        let line = self.thread.open("message", event, 0, out);
        let id = line.id;
        out.put(id, ",\"message\":{\"role\":\"assistant\",\"content\":[],\"api\":");
        out.put(id, "\"anthropic-messages\",\"provider\":\"anthropic\"");
        response::put_model(out, id, self.model.as_deref());
        out.put(id, ",\"usage\":");
        out.put(id, &response::usage_of(Tokens::default()));
        out.put(id, ",\"stopReason\":\"error\",\"errorMessage\":");
        out.copy_joined(id, &message.content);
        out.put_args(id, format_args!(",\"timestamp\":{}}}", line.millis));
        out.lose(LossKind::Flattened, "message.role");
        self.emit_after_response(line, out);
    }
}
