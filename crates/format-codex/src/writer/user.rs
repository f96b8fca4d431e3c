//! Writes the user's messages and the outputs of calls, each on a line of its own.

use core_model::{Block, Content, Event, Field, LossKind, Message, Output, ToolResult};
use jsonl::json_string;

use super::{SessionWriter, calls::CallKind, part};

impl SessionWriter {
    pub(super) fn write_user(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        out: &mut Output,
    ) {
        let n_results = message.tool_results().count();
        let extra = message.tool_use_result.filter(|extra| !extra.is_null());
        if extra.is_some() {
            out.lose(LossKind::Dropped, event.vocabulary.tool_use_result);
        }
        if n_results > 0 || !message.is_summary {
            self.flush_boundary(out);
        }
        for (n, result) in message.tool_results().enumerate() {
            self.write_result(event, &result, n, out);
        }
        let is_said = message.blocks().any(|(block, _)| !matches!(block, Block::ToolResult(_)));
        if !is_said {
            return;
        }
        if n_results > 0 {
            out.lose(LossKind::Flattened, "message.content");
        }
        self.flush_usage(out);
        if message.is_summary {
            return self.write_summary(event, message, n_results, out);
        }
        if message.is_meta {
            return self.put_user_item(event, message, n_results, out);
        }
        if n_results == 0
            && let Some(time) = event.context.time
        {
            self.clock.set(time);
        }
        self.start_turn(out);
        self.put_user_item(event, message, n_results, out);
        self.put_prompt(message, out);
    }

    fn put_user_item(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        n: usize,
        out: &mut Output,
    ) {
        let line = self.open("response_item", event, n, out);
        out.put(line, "\"type\":\"message\",\"role\":\"user\",\"content\":");
        part::put_parts(out, line, &message.content);
        self.close(line, out);
    }

    /// Writes the event of a prompt, without which Codex does not list the session.
    fn put_prompt(&mut self, message: &Message<'_>, out: &mut Output) {
        let line = self.open_derived("event_msg", out);
        out.put(line, "\"type\":\"user_message\",\"message\":");
        out.put_string(line, &message.content.joined());
        out.put(line, ",\"images\":[");
        let mut comma = "";
        for (block, _) in message.blocks() {
            if let Block::Image { media_type, data } = block {
                out.put(line, comma);
                let url = format!("data:{};base64,{}", media_type.decode(), data.decode());
                out.put(line, &json_string(&url));
                comma = ",";
            }
        }
        out.put(line, "],\"local_images\":[],\"text_elements\":[]");
        self.close(line, out);
        self.has_prompt = true;
    }

    /// Writes the event of a prompt that the session does not have, so that Codex lists it. The event is for the
    /// screen: Codex does not send it.
    pub(super) fn put_placeholder_prompt(&mut self, out: &mut Output) {
        out.lose(LossKind::Invented, "prompt");
        let line = self.open_derived("event_msg", out);
        out.put(line, "\"type\":\"user_message\",\"message\":\"[no prompt recorded]\"");
        out.put(line, ",\"images\":[],\"local_images\":[],\"text_elements\":[]");
        self.close(line, out);
        self.has_prompt = true;
    }

    /// Writes the output of a call. Codex does not send one without a call, so its text becomes a
    /// notice.
    pub(super) fn write_result(
        &mut self,
        event: &Event<'_>,
        result: &ToolResult<'_>,
        n: usize,
        out: &mut Output,
    ) {
        out.drop_result(result);
        let id = result.tool_use_id.decode();
        let kind = self.calls.kind(&id);
        if kind.is_none() && !self.facts.is_called(&id) {
            out.lose(LossKind::Flattened, "tool_result");
            if matches!(result.is_error, Field::Value(_)) {
                out.lose(LossKind::Flattened, "tool_result.is_error");
            }
            let Some(line) = self.open_notice(result.notice_kind(), event, n, out) else { return };
            out.put(line, ",\"subtype\":\"tool_result\",\"about\":");
            out.copy_text(line, result.tool_use_id);
            out.put(line, ",\"text\":");
            part::put_joined(out, line, &result.content);
            return self.close(line, out);
        }
        if matches!(result.is_error, Field::Value(_)) {
            // Codex has no flag. Its own outputs say it in their text.
            out.lose(LossKind::Flattened, "tool_result.is_error");
        }
        let kind = self.calls.answer(&id);
        let line = self.open("response_item", event, n, out);
        out.put(
            line,
            match kind {
                CallKind::Function => "\"type\":\"function_call_output\",\"call_id\":",
                CallKind::Custom => "\"type\":\"custom_tool_call_output\",\"call_id\":",
            },
        );
        part::put_text(out, line, result.tool_use_id, "tool_result.tool_use_id");
        out.put(line, ",\"output\":");
        put_output(out, line, &result.content);
        self.close(line, out);
    }
}

/// Writes the content of a tool result: a string, or an array if it has several parts or an image.
fn put_output(out: &mut Output, line: core_model::LineId, content: &Content<'_>) {
    let mut blocks = content.blocks();
    match (content, blocks.next(), blocks.next()) {
        (Content::Text(text), ..) => part::put_text(out, line, *text, "tool_result.content"),
        (Content::Other(raw), ..) if !raw.is_null() => {
            out.lose(LossKind::Flattened, "tool_result.content");
            out.touch(line);
            out.put_string(line, raw.as_str());
        }
        (_, None, _) => out.put(line, "\"\""),
        (_, Some((Block::Text(text), _)), None) => {
            part::put_text(out, line, text, "tool_result.content");
        }
        _ => part::put_parts(out, line, content),
    }
}
