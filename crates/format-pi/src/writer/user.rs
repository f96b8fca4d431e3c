//! Writes the user's messages, tool results and summaries, each on a line of its own.

use core_model::{Block, Content, Event, Field, LossKind, Message, Output, ToolResult};
use jsonl::Raw;

use super::{SessionWriter, block, thread::Line};

impl SessionWriter {
    pub(super) fn write_user(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        out: &mut Output,
    ) {
        // Results first: the API accepts nothing between a call and its result.
        let n_results = message.tool_results().count();
        let extra = message.tool_use_result.filter(|extra| !extra.is_null());
        if extra.is_some_and(|extra| n_results != 1 || !extra.as_str().starts_with('{')) {
            out.lose(LossKind::Dropped, event.vocabulary.tool_use_result);
        }
        let details = message.details();
        for (n, result) in message.tool_results().enumerate() {
            self.write_result(event, (message, details), &result, n, out);
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
        self.has_prompt = true;
        let line = match (message.is_summary, message.is_meta) {
            (true, _) => self.write_summary(event, message, n_results, out),
            (false, true) => {
                let line = self.thread.open("custom_message", event, n_results, out);
                out.put(line.id, ",\"customType\":\"meta\",\"content\":");
                put_content(out, &line, message);
                out.put(line.id, ",\"display\":false");
                line
            }
            (false, false) => {
                let line = self.thread.open("message", event, n_results, out);
                out.put(line.id, ",\"message\":{\"role\":\"user\",\"content\":");
                put_content(out, &line, message);
                out.put_args(line.id, format_args!(",\"timestamp\":{}}}", line.millis));
                line
            }
        };
        if self.response.is_some() && self.calls.is_any_expected(&self.facts) {
            // Clients add user messages while tools still run. The API needs the results directly
            // after the response.
            return self.emit_after_response(line, out);
        }
        self.close_response(out);
        self.thread.emit(line, out);
    }

    /// Writes a placeholder prompt before the first response of a session without a prompt: pi sends
    /// the session as it is, and the API refuses messages that begin with the assistant's.
    pub(super) fn open_with_prompt(&mut self, event: &Event<'_>, out: &mut Output) {
        if std::mem::replace(&mut self.has_prompt, true) {
            return;
        }
        out.lose(LossKind::Invented, "prompt");
        let uuid = out.uuid(event, "prompt", 0);
        let line = self.thread.open_derived("message", &uuid, out);
        out.put(line.id, ",\"message\":{\"role\":\"user\",\"content\":\"[no prompt recorded]\"");
        out.put_args(line.id, format_args!(",\"timestamp\":{}}}", line.millis));
        self.thread.emit(line, out);
    }

    /// Writes the summary of a compaction. pi sends it in place of all that is before it.
    fn write_summary(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        n: usize,
        out: &mut Output,
    ) -> Line {
        let line = self.thread.open("compaction", event, n, out);
        out.put(line.id, ",\"summary\":");
        out.copy_joined(line.id, &message.content);
        out.put(line.id, ",\"firstKeptEntryId\":");
        let own = event.value.get("firstKeptEntryId").and_then(|id| id.text());
        match own.filter(|_| event.format == crate::NAME) {
            Some(id) => out.put_string(line.id, &id.decode()),
            // A compaction that keeps nothing names itself (FORMAT.md, "Compaction").
            None => out.put(line.id, &line.entry),
        }
        out.put(line.id, ",\"tokensBefore\":");
        let tokens = event.value.get("tokensBefore").filter(|_| event.format == crate::NAME);
        let tokens = tokens.filter(|tokens| tokens.raw().as_f64().is_some());
        match (tokens, self.pre_tokens.take()) {
            (Some(tokens), _) => out.put_raw(line.id, tokens.raw()),
            (None, Some(tokens)) => out.put(line.id, &tokens),
            (None, None) => {
                out.lose(LossKind::Invented, "tokensBefore");
                out.put(line.id, "0");
            }
        }
        line
    }

    /// Writes a tool result. If no call waits for it, its text becomes a notice: pi sends a result
    /// without a call, and the API refuses it.
    pub(super) fn write_result(
        &mut self,
        event: &Event<'_>,
        (message, details): (&Message<'_>, Option<Raw<'_>>),
        result: &ToolResult<'_>,
        n: usize,
        out: &mut Output,
    ) {
        out.drop_result(result);
        let id = result.tool_use_id.decode();
        let Some(call) = self.calls.answer(event, result.tool_use_id, &self.facts) else {
            if !self.calls.comes_later(&id, &self.facts) || !self.early.has_room(&id) {
                return self.write_orphan(event, message, result, n, out);
            }
            out.lose(LossKind::Flattened, "tool_result.order");
            let line = self.thread.open_untyped(event, n, out);
            out.put(line.id, ",\"message\":{\"role\":\"toolResult\"");
            put_result(out, &line, details, result);
            return self.early.hold(&id, (line, out.place()));
        };
        let line = self.thread.open("message", event, n, out);
        out.put(line.id, ",\"message\":{\"role\":\"toolResult\",\"toolCallId\":");
        let written = call.written.as_deref();
        out.copy_text_or(line.id, result.tool_use_id, written, "tool_result.tool_use_id");
        out.put(line.id, ",\"toolName\":");
        out.put(line.id, &call.name);
        put_result(out, &line, details, result);
        out.put(line.id, "}");
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
        out.copy_joined(line.id, &result.content);
        out.put(line.id, "}");
        self.emit_after_response(line, out);
    }
}

/// Writes the members of a result besides its call.
fn put_result(out: &mut Output, line: &Line, details: Option<Raw<'_>>, result: &ToolResult<'_>) {
    out.put(line.id, ",\"content\":");
    block::put_result_content(out, line.id, &result.content);
    let is_error = match result.is_error {
        Field::Value(is_error) => is_error,
        Field::Absent | Field::Null => {
            out.lose(LossKind::Invented, "tool_result.is_error");
            false
        }
    };
    if let Some(details) = details.filter(is_object) {
        out.put(line.id, ",\"details\":");
        out.copy(line.id, details);
    }
    out.put_args(line.id, format_args!(",\"isError\":{is_error},\"timestamp\":{}", line.millis));
}

fn is_object(raw: &Raw<'_>) -> bool {
    raw.as_str().starts_with('{')
}

/// Returns whether a block of a user's message is written. pi does not send blank texts.
fn is_shown(block: &Block<'_>) -> bool {
    match block {
        Block::ToolResult(_) => false,
        Block::Text(text) | Block::Thinking { text, .. } => !text.is_blank(),
        _ => true,
    }
}

fn put_content(out: &mut Output, line: &Line, message: &Message<'_>) {
    if let Content::Text(text) = message.content {
        return out.copy_text(line.id, text);
    }
    out.put(line.id, "[");
    let mut comma = "";
    for (block, _) in message.blocks() {
        if is_shown(&block) {
            out.put(line.id, comma);
            block::put_user(out, line.id, &block);
            comma = ",";
        } else if matches!(block, Block::Text(_)) {
            out.lose(LossKind::Dropped, "text");
        }
    }
    out.put(line.id, "]");
}
