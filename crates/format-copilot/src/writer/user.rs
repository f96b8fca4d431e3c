//! Writes the user's messages, tool results and summaries.

use core_model::{Block, Content, Event, Field, LossKind, Message, Output, ToolResult};
use jsonl::Raw;

use super::{SessionWriter, block};

impl SessionWriter {
    pub(super) fn write_user(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        out: &mut Output,
    ) {
        let n_results = message.tool_results().count();
        if message
            .tool_use_result
            .is_some_and(|extra| !extra.is_null() && (n_results != 1 || extra.as_text().is_none()))
        {
            out.lose(LossKind::Dropped, event.vocabulary.tool_use_result);
        }
        self.close_response(out);
        if n_results > 0 || !message.is_summary {
            self.flush_boundary(out);
        }
        let details = message.details();
        for (n, result) in message.tool_results().enumerate() {
            self.write_result(event, (message, details), &result, n, out);
        }
        let is_said = message.blocks().any(|(block, _)| !matches!(block, Block::ToolResult(_)));
        if !is_said && !matches!(message.content, Content::Other(_)) {
            return;
        }
        if n_results > 0 {
            out.lose(LossKind::Flattened, "message.content");
        }
        self.flush_usage(out);
        match message.is_summary {
            true => self.write_summary(event, message, n_results, out),
            false => self.write_words(event, message, n_results, out),
        }
    }

    /// Writes texts and pictures. Copilot sends the text of a message before its pictures, so a text
    /// after something else begins another line.
    fn write_words(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        n_before: usize,
        out: &mut Output,
    ) {
        let mut open = None;
        let mut n = n_before;
        for (block, _) in message.blocks() {
            if matches!(block, Block::ToolResult(_)) {
                continue;
            }
            let is_picture = matches!(block, Block::Image { .. });
            let (line, n_pictures) = match open.take() {
                Some(open) if is_picture => open,
                before => {
                    if let Some(before) = before {
                        self.close_words(before, message, out);
                    }
                    let line = self.thread.open("user.message", event, n, out);
                    n = n.saturating_add(1);
                    out.put(line.id, "\"content\":");
                    match is_picture {
                        true => out.put(line.id, "\"\""),
                        false => block::put_text(out, line.id, &block),
                    }
                    (line, 0)
                }
            };
            if is_picture {
                out.put(line.id, if n_pictures == 0 { ",\"attachments\":[" } else { "," });
                block::put_picture(out, line.id, &block, "blob");
            }
            let n_pictures = usize::from(is_picture).saturating_add(n_pictures);
            open = Some((line, n_pictures));
        }
        match (open, &message.content) {
            (Some(open), _) => self.close_words(open, message, out),
            (None, Content::Other(raw)) => {
                out.lose(LossKind::Flattened, "message.content");
                let line = self.thread.open("user.message", event, n, out);
                out.put(line.id, "\"content\":");
                out.put_string(line.id, raw.as_str());
                self.close_words((line, 0), message, out);
            }
            _ => {}
        }
    }

    fn close_words(
        &mut self,
        (line, n_pictures): (super::thread::Line, usize),
        message: &Message<'_>,
        out: &mut Output,
    ) {
        if n_pictures > 0 {
            out.put(line.id, "]");
        }
        if message.is_meta {
            out.put(line.id, ",\"source\":\"system\"");
        }
        self.emit(line, out);
    }

    /// Writes a tool result. Copilot does not send one without a call, so its text becomes a notice.
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
            out.put(line.id, "\"data\":{");
            put_result(out, line.id, details, result);
            return self.early.hold(&id, (line, out.place()));
        };
        let line = self.thread.open("tool.execution_complete", event, n, out);
        out.put(line.id, "\"toolCallId\":");
        let written = call.written.as_deref();
        out.copy_text_or(line.id, result.tool_use_id, written, "tool_result.tool_use_id");
        out.put(line.id, ",");
        put_result(out, line.id, details, result);
        self.emit(line, out);
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
        out.put(line.id, "\"tool_result\",\"about\":");
        out.copy_text(line.id, result.tool_use_id);
        out.put(line.id, ",\"message\":");
        out.copy_joined(line.id, &result.content);
        self.emit(line, out);
    }
}

/// Writes the members of a result besides its call. Copilot sends no flag for a failure.
fn put_result(
    out: &mut Output,
    line: core_model::LineId,
    details: Option<Raw<'_>>,
    result: &ToolResult<'_>,
) {
    let has_pictures = result.content.blocks().any(|(it, _)| matches!(it, Block::Image { .. }));
    let details = details.and_then(|details| details.as_text());
    if result.is_error == Field::Value(true) {
        out.lose(LossKind::Flattened, "tool_result.is_error");
        out.put(line, "\"success\":false,\"error\":{\"message\":");
        block::put_result_words(out, line, &result.content);
        out.put(line, ",\"code\":\"failure\"}");
        if !has_pictures && details.is_none() {
            return;
        }
        out.put(line, ",\"result\":{\"content\":\"\"");
    } else {
        if !matches!(result.is_error, Field::Value(_)) {
            out.lose(LossKind::Invented, "tool_result.is_error");
        }
        out.put(line, "\"success\":true,\"result\":{\"content\":");
        block::put_result_words(out, line, &result.content);
    }
    if let Some(details) = details {
        out.put(line, ",\"detailedContent\":");
        out.copy_text(line, details);
    }
    if has_pictures {
        block::put_pictures(out, line, &result.content);
    }
    out.put(line, "}");
}
