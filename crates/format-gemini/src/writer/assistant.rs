//! Writes responses: all lines of a response as one message.

use core_model::{
    Block, Event, LossKind, Message, NoticeKind, Output, ToolUse, replacement_tool_name,
};
use jsonl::{Raw, Text, is_js_space};

use super::{SessionWriter, losses, response::Response};
use crate::{
    calls::{Call, MAX_CALL_ID},
    validate::PLACEHOLDER,
    write_part,
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
        // A new response would cut off the results of the last one that are yet to come.
        let waits = self.response.is_some() && self.calls.is_any_expected(&self.facts);
        if !continues && !waits {
            self.close_response(out);
        }
        let is_new = self.response.is_none();
        let mut is_shown = false;
        let mut unsendable = Vec::new();
        for (block_idx, (block, raw)) in message.blocks().enumerate() {
            if !write_part::has_part(out, &block) {
                continue;
            }
            is_shown = true;
            match &block {
                // Some proxies answer their own calls.
                Block::ToolResult(result) => {
                    self.write_result(event, message, result, block_idx, out);
                    continue;
                }
                Block::ToolUse(tool) if !tool.is_server && self.calls.is_repeated(tool.id) => {
                    self.calls.add_other(event, tool.id, &self.facts);
                    unsendable.push(raw);
                    continue;
                }
                _ => {}
            }
            let response = match &mut self.response {
                Some(response) => response,
                None => {
                    let line = self.thread.open("assistant", event, 0, out);
                    self.response.insert(Response::new(key, line, out))
                }
            };
            let line = response.line_for_part(out);
            match &block {
                Block::ToolUse(tool) if !tool.is_server => {
                    self.write_call(event, tool, block_idx, line, out);
                }
                Block::ToolUse(tool) => {
                    self.calls.add_closed(&tool.id.decode());
                    write_part::put_said(out, line, &block);
                }
                Block::Text(text) if is_placeholder(*text) => {
                    // Unless the response says more, the client takes it for a failed one.
                    out.lose(LossKind::Flattened, "text");
                    write_part::put_said(out, line, &block);
                }
                _ => write_part::put_said(out, line, &block),
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
            None => losses::count_usage(message, out),
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
        write_part::put_call(out, line, tool, written.as_deref(), name.as_deref());
        let name = self.tool_names.json(&name.map_or_else(|| tool.name.decode(), Into::into));
        let place = self.response.as_mut().map_or(0, Response::add_call);
        let call = Call { written: written.map(Into::into), name, place };
        self.calls.add(event, tool.id, call, &self.facts);
    }

    /// Writes a text of the client that has the role of the assistant as a notice, because the client
    /// would send it as an answer of the model.
    pub(super) fn write_failed(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        out: &mut Output,
    ) {
        let line = self.open_notice(NoticeKind::Error, event, 0, out);
        out.put(line.id, ",\"text\":");
        write_part::put_joined(out, line.id, &message.content);
        write_part::drop_images(out, &message.content);
        out.put(line.id, "}");
        out.lose(LossKind::Flattened, "message.role");
        losses::count_usage(message, out);
        out.drop_if(message.model.is_some(), "model");
        self.emit_after_response(line, out);
    }
}

/// Returns whether a text is the one that a proxy sends in place of a response.
fn is_placeholder(text: Text<'_>) -> bool {
    text.body().contains("request timeout")
        && text.decode().trim_matches(is_js_space) == PLACEHOLDER
}
