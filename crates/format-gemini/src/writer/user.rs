//! Writes the user's messages, tool results and summaries, each on a line of its own.

use core_model::{Block, Event, LossKind, Message, Output, ToolResult};

use super::{SessionWriter, thread::Line};
use crate::write_part;

impl SessionWriter {
    pub(super) fn write_user(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        out: &mut Output,
    ) {
        // Results first: the API accepts nothing between a call and its result.
        let n_results = message.tool_results().count();
        if message.tool_use_result.is_some_and(|extra| !extra.is_null()) {
            out.lose(LossKind::Dropped, event.vocabulary.tool_use_result);
        }
        for (n, result) in message.tool_results().enumerate() {
            self.write_result(event, message, &result, n, out);
        }
        let is_said = message.blocks().any(|(block, _)| is_shown(&block));
        if !is_said {
            if n_results == 0 {
                out.drop_ids(event);
                out.drop_time(event);
                out.lose(LossKind::Dropped, "text");
            }
            return;
        }
        if n_results > 0 {
            out.lose(LossKind::Flattened, "message.content");
        }
        let line = if message.is_summary {
            self.write_summary(event, message, n_results, out)
        } else {
            let line = self.thread.open("user", event, n_results, out);
            if message.is_meta {
                out.put(line.id, ",\"subtype\":\"notification\"");
            } else if message.is_queued {
                out.put(line.id, ",\"subtype\":\"mid_turn_user_message\"");
            }
            out.put(line.id, ",\"message\":");
            put_message(out, &line, message);
            line
        };
        if self.response.is_some() && self.calls.is_any_expected(&self.facts) {
            // Clients add user messages while tools still run. The API needs the results directly
            // after the response.
            return self.emit_after_response(line, out);
        }
        self.close_response(out);
        self.thread.emit(line, out);
    }

    /// Writes the summary of a compaction. The client sends it in place of all that is before it.
    fn write_summary(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        n: usize,
        out: &mut Output,
    ) -> Line {
        let line = self.thread.open("system", event, n, out);
        out.put(line.id, ",\"subtype\":\"chat_compression\",\"systemPayload\":{\"info\":{");
        out.put(line.id, "\"originalTokenCount\":");
        match self.pre_tokens.take() {
            Some(tokens) => out.put(line.id, &tokens),
            None => {
                out.lose(LossKind::Invented, "originalTokenCount");
                out.put(line.id, "0");
            }
        }
        out.put(line.id, ",\"newTokenCount\":0,\"compressionStatus\":1},\"compressedHistory\":[");
        put_message(out, &line, message);
        out.put(line.id, "]}");
        line
    }

    /// Writes a tool result. If no call waits for it, its text becomes a notice: the client does not
    /// send a result without a call.
    pub(super) fn write_result(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        result: &ToolResult<'_>,
        n: usize,
        out: &mut Output,
    ) {
        out.drop_result(result);
        let Some(call) = self.calls.answer(event, result.tool_use_id, &self.facts) else {
            return self.write_orphan(event, message, result, n, out);
        };
        let line = self.thread.open("tool_result", event, n, out);
        out.put(line.id, ",\"message\":{\"role\":\"user\",\"parts\":[");
        let id = call.written.as_deref();
        let is_error = write_part::put_response(out, line.id, result, id, &call.name);
        write_part::close_response(out, line.id, result);
        out.put(line.id, "]},\"toolCallResult\":{\"callId\":");
        match id {
            Some(id) => out.put_string(line.id, id),
            None => out.put_raw(line.id, result.tool_use_id.into()),
        }
        let status = if is_error { "error" } else { "success" };
        out.put_args(line.id, format_args!(",\"status\":\"{status}\"}}"));
        match &mut self.response {
            Some(response) => {
                if response.moves() {
                    out.lose(LossKind::Flattened, "tool_result.order");
                }
                response.add_result(call.place, line);
                if response.is_full() {
                    self.emit_response(out);
                }
            }
            None => self.thread.emit(line, out),
        }
    }

    fn write_orphan(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        result: &ToolResult<'_>,
        n: usize,
        out: &mut Output,
    ) {
        out.flatten_orphan(event, message, result);
        let line = self.open_notice(result.notice_kind(), event, n, out);
        out.put(line.id, ",\"subtype\":\"toolResult\",\"about\":");
        out.copy_text(line.id, result.tool_use_id);
        out.put(line.id, ",\"text\":");
        write_part::put_joined(out, line.id, &result.content);
        write_part::drop_images(out, &result.content);
        out.put(line.id, "}");
        self.emit_after_response(line, out);
    }
}

/// Returns whether a block of a user's message is written. The client does not send blank texts.
fn is_shown(block: &Block<'_>) -> bool {
    match block {
        Block::ToolResult(_) => false,
        Block::Text(text) | Block::Thinking { text, .. } => !text.is_blank(),
        _ => true,
    }
}

fn put_message(out: &mut Output, line: &Line, message: &Message<'_>) {
    out.put(line.id, "{\"role\":\"user\",\"parts\":[");
    let mut comma = "";
    for (block, _) in message.blocks() {
        if is_shown(&block) {
            out.put(line.id, comma);
            write_part::put_user(out, line.id, &block);
            comma = ",";
        } else if matches!(block, Block::Text(_)) {
            out.lose(LossKind::Dropped, "text");
        }
    }
    out.put(line.id, "]}");
}
