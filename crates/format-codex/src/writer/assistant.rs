//! Writes responses: a line for each text, thinking and call.

use core_model::{Block, Event, Input, LossKind, Message, Output, ToolUse};
use jsonl::{Raw, Scanner, Text, json_string};

use super::{SessionWriter, calls::CallKind, losses, part};

impl SessionWriter {
    pub(super) fn write_assistant(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        out: &mut Output,
    ) {
        self.flush_boundary(out);
        let response = message.id.map(|id| self.hasher.hash_text(id));
        if !self.tally.continues(response) {
            self.flush_usage(out);
        }
        if let Some(time) = event.context.time {
            self.clock.set(time);
        }
        let mut n = 0_usize;
        for (block, _) in message.blocks() {
            match &block {
                Block::Text(text) => self.write_text(event, *text, n, out),
                Block::Thinking { text, signature } if text.is_blank() => {
                    out.lose(LossKind::Dropped, "thinking");
                    if signature.is_some() {
                        out.lose(LossKind::Dropped, "thinking.signature");
                    }
                    continue;
                }
                Block::Thinking { text, signature } => {
                    self.write_thinking(event, *text, *signature, n, out);
                }
                // Encrypted by another API.
                Block::RedactedThinking { .. } => {
                    out.lose(LossKind::Dropped, "block.redacted_thinking");
                    continue;
                }
                Block::Other { kind: Some(kind), .. } if kind.is("redacted_thinking") => {
                    out.lose(LossKind::Dropped, "block.redacted_thinking");
                    continue;
                }
                Block::ToolUse(tool) if !tool.is_server => self.write_call(event, tool, n, out),
                // Some proxies answer their own calls.
                Block::ToolResult(result) => self.write_result(event, result, n, out),
                _ => self.write_placeholder(event, &block, n, out),
            }
            n = n.saturating_add(1);
        }
        if n == 0 {
            out.drop_time(event);
        }
        losses::count_response(event, message, out);
        if let Some(usage) = message.usage.filter(|usage| usage.is_object()) {
            out.lose(LossKind::Flattened, "usage");
            self.tally.hold(response, usage.tokens());
        }
    }

    fn write_text(&mut self, event: &Event<'_>, text: Text<'_>, n: usize, out: &mut Output) {
        let said = json_string(&text.decode());
        let line = self.open_derived("event_msg", out);
        out.put(line, "\"type\":\"agent_message\",\"message\":");
        out.put(line, &said);
        out.put(line, ",\"phase\":null,\"memory_citation\":null");
        self.close(line, out);
        if let Some(turn) = &mut self.turn {
            turn.last_text = Some(said);
        }
        let line = self.open("response_item", event, n, out);
        out.put(line, "\"type\":\"message\",\"role\":\"assistant\",\"content\":[{");
        out.put(line, "\"type\":\"output_text\",\"text\":");
        part::put_text(out, line, text, "text");
        out.put(line, "}]");
        self.close(line, out);
    }

    /// Writes thinking as an event. An item without OpenAI's ciphertext would go to the API. The
    /// member `signature`, which Codex ignores, says that no item has the text.
    fn write_thinking(
        &mut self,
        event: &Event<'_>,
        text: Text<'_>,
        signature: Option<Text<'_>>,
        n: usize,
        out: &mut Output,
    ) {
        let line = self.open("event_msg", event, n, out);
        out.put(line, "\"type\":\"agent_reasoning\",\"text\":");
        part::put_text(out, line, text, "thinking");
        out.put(line, ",\"signature\":");
        match signature {
            Some(signature) => part::put_text(out, line, signature, "thinking.signature"),
            None => out.put(line, "null"),
        }
        self.close(line, out);
    }

    fn write_call(&mut self, event: &Event<'_>, tool: &ToolUse<'_>, n: usize, out: &mut Output) {
        let id = tool.id.decode();
        let json = tool.input.json();
        let mut scanner = Scanner::default();
        let free_text = plain_input(tool, json.raw(), &mut scanner);
        let wanted = if free_text.is_some() { CallKind::Custom } else { CallKind::Function };
        let kind = self.calls.call(&id, wanted);
        let line = self.open("response_item", event, n, out);
        match (kind, free_text) {
            (CallKind::Custom, Some(text)) => {
                out.put(
                    line,
                    "\"type\":\"custom_tool_call\",\"status\":\"completed\",\"call_id\":",
                );
                part::put_text(out, line, tool.id, "tool_use.id");
                out.put(line, ",\"name\":");
                part::put_tool_name(out, line, tool.name);
                out.put(line, ",\"input\":");
                part::put_text(out, line, text, "tool_use.input");
            }
            _ => {
                out.put(line, "\"type\":\"function_call\",\"name\":");
                part::put_tool_name(out, line, tool.name);
                out.put(line, ",\"arguments\":");
                match json.raw().as_str().starts_with('{') {
                    true => out.copy_input_string(line, tool.input),
                    // The API wants an object.
                    false => {
                        out.lose(LossKind::Flattened, "tool_use.input");
                        out.put_string(line, &format!("{{\"value\":{}}}", json.raw().as_str()));
                    }
                }
                out.put(line, ",\"call_id\":");
                part::put_text(out, line, tool.id, "tool_use.id");
            }
        }
        self.close(line, out);
    }

    fn write_placeholder(
        &mut self,
        event: &Event<'_>,
        block: &Block<'_>,
        n: usize,
        out: &mut Output,
    ) {
        let line = self.open("response_item", event, n, out);
        out.put(line, "\"type\":\"message\",\"role\":\"assistant\",\"content\":[{");
        out.put(line, "\"type\":\"output_text\",\"text\":");
        part::put_placeholder(out, line, block);
        out.put(line, "}]");
        self.close(line, out);
    }

    /// Writes a text of the client that has the role of the assistant: an error, which Codex shows
    /// and does not send.
    pub(super) fn write_failed(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        out: &mut Output,
    ) {
        self.flush(out);
        let line = self.open("event_msg", event, 0, out);
        out.put(line, "\"type\":\"error\",\"message\":");
        part::put_words(out, line, &message.content);
        out.put(line, ",\"codex_error_info\":null");
        self.close(line, out);
        out.lose(LossKind::Flattened, "message.role");
        losses::count_response(event, message, out);
    }
}

/// The tools whose input is plain text.
const PLAIN_TOOLS: [&str; 2] = ["apply_patch", "exec"];

/// Returns the input of a tool as plain text, if the tool takes it and the input is no more.
fn plain_input<'s>(
    tool: &ToolUse<'s>,
    json: Raw<'s>,
    scanner: &'s mut Scanner,
) -> Option<Text<'s>> {
    if !PLAIN_TOOLS.iter().any(|name| tool.name.is(name)) {
        return None;
    }
    if let Input::Text(text) = tool.input {
        return Some(text);
    }
    let input = scanner.scan_raw(json).ok()?;
    input.get("input").filter(|_| input.n_members() == 1)?.text()
}
