//! Writes prompts, and one entry for each tool result.
//!
//! In: a message with two tool results. Out: two lines, each with one result, whose parents are the
//! lines before them.

use core_model::{Block, Content, Event, Field, LineId, LossKind, Message, Output, ToolResult};
use jsonl::Raw;

use super::{
    ClaudeCodeWriter,
    block::{put_block, put_flat, put_result_content},
    thread::Ending,
};

impl ClaudeCodeWriter {
    pub(super) fn user(&mut self, event: &Event<'_>, message: &Message<'_>, out: &mut Output) {
        self.flush_thought(out);
        // Results first: the API accepts nothing between a tool use and its result.
        let n_results = message.tool_results().count();
        if n_results != 1 && message.tool_use_result.is_some_and(|extra| !extra.is_null()) {
            out.lose(LossKind::Dropped, event.vocabulary.tool_use_result);
        }
        if n_results > 0 && message.is_meta {
            out.lose(LossKind::Dropped, event.vocabulary.is_meta);
        }
        for (block_idx, result) in message.tool_results().enumerate() {
            let extra = message.tool_use_result.filter(|extra| n_results == 1 && !extra.is_null());
            self.result(event, &result, extra, block_idx, out);
        }
        match message.content {
            Content::Blocks(blocks) => {
                let is_shown = |block: &Block<'_>| match block {
                    Block::ToolResult(_) => false,
                    Block::Text(text) => !text.is_blank(),
                    _ => true,
                };
                if blocks.into_iter().any(|(block, _)| is_shown(&block)) {
                    let line = self.open_user(event, out);
                    out.put(line, "[");
                    let shown = blocks.into_iter().filter(|(block, _)| is_shown(block));
                    for (n, (block, raw)) in shown.enumerate() {
                        out.put(line, if n > 0 { "," } else { "" });
                        put_user_block(out, line, &block, raw);
                    }
                    out.put(line, "]");
                    self.close_user(line, event, message, n_results, out);
                } else if message.is_prompt() {
                    self.placeholder(event, message, out);
                } else if n_results == 0 {
                    out.lose_record(event);
                }
            }
            // The API refuses a blank prompt (client 2.1.330).
            Content::Text(text) if text.is_blank() => self.placeholder(event, message, out),
            Content::Text(text) => {
                let line = self.open_user(event, out);
                out.copy_text(line, text);
                self.close_user(line, event, message, 0, out);
            }
            Content::Other(raw) if !raw.is_null() => {
                out.lose(LossKind::Flattened, "message.content");
                let line = self.open_user(event, out);
                out.put_string(line, raw.as_str());
                self.close_user(line, event, message, 0, out);
            }
            Content::Other(_) | Content::Absent => out.lose_record(event),
        }
    }

    /// Writes a placeholder for an empty prompt: the text that the client itself uses.
    fn placeholder(&mut self, event: &Event<'_>, message: &Message<'_>, out: &mut Output) {
        out.lose(LossKind::Invented, "message.content");
        let line = self.open_user(event, out);
        out.put(line, "\"(no content)\"");
        self.close_user(line, event, message, 0, out);
    }

    fn open_user(&mut self, event: &Event<'_>, out: &mut Output) -> LineId {
        if !self.is_asked {
            self.give_up_calls(false, event, out);
        }
        self.is_asked = true;
        self.has_prompt = true;
        self.response = None;
        let line = self.thread.open(event, out);
        out.put(line, ",\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":");
        line
    }

    fn close_user(
        &mut self,
        line: LineId,
        event: &Event<'_>,
        message: &Message<'_>,
        block_idx: usize,
        out: &mut Output,
    ) {
        out.put(line, "}");
        if message.is_meta {
            out.put(line, ",\"isMeta\":true");
        }
        if message.is_summary {
            out.put(line, ",\"isCompactSummary\":true");
        }
        if let (0, Some(time)) = (block_idx, event.context.time) {
            self.thread.clock.start_run(time);
        }
        self.thread.close(line, &Ending::new("entry", block_idx, event), out);
    }

    /// Writes a placeholder prompt before the first response of a session without a prompt.
    pub(super) fn open_with_prompt(&mut self, event: &Event<'_>, out: &mut Output) {
        if self.has_prompt {
            return;
        }
        self.has_prompt = true;
        out.lose(LossKind::Invented, "prompt");
        let line = self.thread.open_derived(event, out);
        out.put(line, ",\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":");
        out.put(line, "\"[no prompt recorded]\"}");
        let ending = Ending { is_own: false, ..Ending::new("prompt", 0, event) };
        self.thread.close(line, &ending, out);
    }

    /// Writes a tool result. If no tool use waits for it, its text becomes a notice.
    pub(super) fn result(
        &mut self,
        event: &Event<'_>,
        result: &ToolResult<'_>,
        extra: Option<Raw<'_>>,
        block_idx: usize,
        out: &mut Output,
    ) {
        self.flush_thought(out);
        if let Some(response) = &mut self.response {
            response.is_interrupted = true;
        }
        lose_what_has_no_place(result, out);
        let Some(call) = self.calls.answer(event, result.tool_use_id, &self.facts) else {
            if !self.hold(event, result, extra, block_idx, out) {
                if extra.is_some() {
                    out.lose(LossKind::Dropped, event.vocabulary.tool_use_result);
                }
                self.orphan(event, result, block_idx, out);
            }
            return;
        };
        if call.written.is_some() {
            out.lose(LossKind::Flattened, "tool_result.tool_use_id");
        }
        let line = self.thread.open(event, out);
        out.put(line, ",\"type\":\"user\",");
        put_result(out, line, result, call.written.as_deref(), extra);
        out.put(line, ",\"sourceToolAssistantUUID\":");
        out.put(line, &call.entry);
        let duration = result.duration_ms.and_then(|ms| ms.as_f64()).unwrap_or(0.0);
        let earliest = call.at.saturating_add(duration as i64);
        let ending = Ending { earliest, ..Ending::new("entry", block_idx, event) };
        self.thread.close(line, &ending, out);
    }

    fn orphan(
        &mut self,
        event: &Event<'_>,
        result: &ToolResult<'_>,
        block_idx: usize,
        out: &mut Output,
    ) {
        out.lose(LossKind::Flattened, "tool_result");
        out.lose(LossKind::Dropped, "tool_result.tool_use_id");
        if let Field::Value(_) = result.is_error {
            out.lose(LossKind::Flattened, "tool_result.is_error");
        }
        let line = self.open_notice(event, out);
        if !put_flat(out, line, &result.content) {
            out.put(line, "\"[tool result]\"");
        }
        let level = result.notice_kind().name();
        self.close_notice(line, level, &Ending::new("entry", block_idx, event), out);
    }

    /// Writes an error result for tool uses without a result. The client would drop their message
    /// with its text.
    pub(super) fn give_up_calls(&mut self, all: bool, event: &Event<'_>, out: &mut Output) {
        let calls = match all {
            true => self.calls.take_all(),
            false => self.calls.take_unexpected(&self.facts),
        };
        for (n, call) in calls.into_iter().enumerate() {
            out.lose(LossKind::Invented, "tool_result");
            let line = self.thread.open_derived(event, out);
            out.put(line, ",\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[");
            out.put(line, "{\"tool_use_id\":");
            out.put_string(line, call.written.as_ref().unwrap_or(&call.id));
            out.put(line, ",\"type\":\"tool_result\",\"content\":\"[no result recorded]\"");
            out.put(line, ",\"is_error\":true}]},\"sourceToolAssistantUUID\":");
            out.put(line, &call.entry);
            let ending = Ending { is_own: false, ..Ending::new("no-result", n, event) };
            self.thread.close(line, &ending, out);
        }
    }
}

/// Writes the message of a tool result and the client's own data about it.
pub(super) fn put_result(
    out: &mut Output,
    line: LineId,
    result: &ToolResult<'_>,
    id: Option<&str>,
    extra: Option<Raw<'_>>,
) {
    out.put(line, "\"message\":{\"role\":\"user\",\"content\":[{\"tool_use_id\":");
    match id {
        Some(id) => {
            out.put_string(line, id);
            out.show(line, result.tool_use_id.into());
        }
        None => out.copy_text(line, result.tool_use_id),
    }
    out.put(line, ",\"type\":\"tool_result\",\"content\":");
    put_result_content(out, line, &result.content);
    if let Field::Value(is_error) = result.is_error {
        out.put(line, if is_error { ",\"is_error\":true" } else { ",\"is_error\":false" });
    }
    out.put(line, "}]}");
    if let Some(extra) = extra {
        out.put(line, ",\"toolUseResult\":");
        out.copy(line, extra);
    }
}

fn put_user_block(out: &mut Output, line: LineId, block: &Block<'_>, raw: Raw<'_>) {
    match block {
        // In a user's line the API refuses thinking and tool uses.
        Block::Thinking { text, .. } => {
            out.lose(LossKind::Flattened, "thinking");
            put_block(out, line, &Block::Text(*text), raw);
        }
        Block::ToolUse(tool) => {
            let kind = Some(tool.name.without_namespace());
            put_block(out, line, &Block::Other { kind, raw }, raw);
        }
        _ => put_block(out, line, block, raw),
    }
}

fn lose_what_has_no_place(result: &ToolResult<'_>, out: &mut Output) {
    if result.duration_ms.is_some() {
        out.lose(LossKind::Dropped, "tool_result.duration_ms");
    }
    let file = &result.file;
    for (is_there, field) in [
        (file.path.is_some(), "tool_result.path"),
        (file.content_hash.is_some(), "tool_result.content_hash"),
        (file.mtime_nanos.is_some(), "tool_result.mtime_nanos"),
    ] {
        if is_there {
            out.lose(LossKind::Dropped, field);
        }
    }
}
