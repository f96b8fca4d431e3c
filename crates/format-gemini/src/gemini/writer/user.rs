//! Writes the user's messages and summaries, and adds results to the responses with their calls.

use core_model::{Block, CallId, Event, LineId, LossKind, Message, Output, ToolResult};
use jsonl::is_js_space;

use super::{SessionWriter, open::Open};
use crate::write_part;

impl SessionWriter {
    pub(super) fn write_user(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        out: &mut Output,
    ) {
        if message.tool_use_result.is_some_and(|extra| !extra.is_null()) {
            out.lose(LossKind::Dropped, event.vocabulary.tool_use_result);
        }
        let mut n_lines = 0_usize;
        let mut n_results = 0_usize;
        for (n, result) in message.tool_results().enumerate() {
            n_results = n.saturating_add(1);
            let has_line = self.write_result(event, message, &result, n_lines, out);
            n_lines = n_lines.saturating_add(usize::from(has_line));
        }
        if !message.blocks().any(|(block, _)| is_shown(&block)) {
            if n_lines == 0 {
                out.drop_ids(event);
            }
            if n_results == 0 {
                out.drop_time(event);
                out.lose(LossKind::Dropped, "text");
            }
            return;
        }
        if n_results > 0 {
            out.lose(LossKind::Flattened, "message.content");
        }
        let line = if message.is_summary && !self.is_document {
            self.write_summary(event, message, n_lines, out)
        } else {
            let line = self.open_line("user", event, n_lines, out);
            put_content(out, line, message);
            out.put(line, "}");
            line
        };
        self.push(Open::message(line), out);
    }

    /// Writes the summary of a compaction as a checkpoint. The client sends it in place of all that is
    /// before it.
    fn write_summary(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        n: usize,
        out: &mut Output,
    ) -> LineId {
        let line = out.open();
        out.put(line, "{\"$set\":{\"messages\":[{");
        self.put_envelope(line, "user", event, n, out);
        put_content(out, line, message);
        out.put(line, ",\"isSummary\":true}]}}");
        line
    }

    /// Adds a tool result to its call. If no call waits for it, its text becomes a notice. Returns whether
    /// the result has a line of its own.
    pub(super) fn write_result(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        result: &ToolResult<'_>,
        n: usize,
        out: &mut Output,
    ) -> bool {
        out.drop_result(result);
        let id = CallId::new(event, result.tool_use_id, self.facts.hasher());
        let Some((line, part)) = self.calls.answer(id) else {
            return match self.unanswered.remove(&id.hash) {
                Some(name) => self.write_late(event, result, (&name, n), out),
                None => self.write_orphan(event, message, result, n, out),
            };
        };
        let Some(place) = line.checked_sub(self.n_emitted) else { return false };
        let Some(open) = self.open.get_mut(place) else { return false };
        let bytes = out.open_part(open.line);
        let Some(call) = open.answer(part) else { return false };
        out.put(bytes, ",\"result\":[");
        let is_error = put_response(out, bytes, result, (call.written.as_deref(), &call.name));
        let status = if is_error { "error" } else { "success" };
        out.put_args(bytes, format_args!("],\"status\":\"{status}\""));
        if event.context.time.is_some() {
            out.put(bytes, ",\"timestamp\":");
            self.put_time(bytes, event, out);
        }
        if let Some(call) = self.open.get_mut(place).and_then(|open| open.answer(part)) {
            call.result = Some(out.pack(bytes));
        }
        false
    }

    /// Writes the result of a call whose line is complete as a message of its own, which the client
    /// sends, too.
    fn write_late(
        &mut self,
        event: &Event<'_>,
        result: &ToolResult<'_>,
        (name, n): (&str, usize),
        out: &mut Output,
    ) -> bool {
        let line = self.open_line("user", event, n, out);
        out.put(line, ",\"content\":[");
        put_response(out, line, result, (None, name));
        out.put(line, "]}");
        self.push(Open::message(line), out);
        true
    }

    fn write_orphan(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        result: &ToolResult<'_>,
        n: usize,
        out: &mut Output,
    ) -> bool {
        out.flatten_orphan(event, message, result);
        let line = self.open_line(result.notice_kind().name(), event, n, out);
        out.put(line, ",\"content\":");
        write_part::put_joined(out, line, &result.content);
        write_part::drop_images(out, &result.content);
        out.put(line, ",\"notice\":{\"subtype\":\"toolResult\",\"about\":");
        out.copy_text(line, result.tool_use_id);
        out.put(line, "}}");
        self.push(Open::notice(line), out);
        true
    }
}

/// Writes the response to a call, and its pictures behind it. Returns whether the call failed.
fn put_response(
    out: &mut Output,
    line: LineId,
    result: &ToolResult<'_>,
    (id, name): (Option<&str>, &str),
) -> bool {
    let is_error = write_part::put_response(out, line, result, id, name);
    out.put(line, "}}}");
    for (block, _) in result.content.blocks() {
        if matches!(block, Block::Image { .. }) {
            out.put(line, ",");
            write_part::put_user(out, line, &block);
        }
    }
    is_error
}

/// Returns whether a block of a user's message is written. The client does not send blank texts.
fn is_shown(block: &Block<'_>) -> bool {
    match block {
        Block::ToolResult(_) => false,
        Block::Text(text) | Block::Thinking { text, .. } => !text.is_blank(),
        _ => true,
    }
}

/// Writes the parts of a message of the user.
fn put_content(out: &mut Output, line: LineId, message: &Message<'_>) {
    let mut head = Head::default();
    let mut blocks = message.blocks().map(|(block, _)| block).filter(is_shown);
    while let Some(Block::Text(text)) = blocks.next()
        && head.push(&text.decode())
    {}
    if head.is_ignored() {
        // The client takes it for a command, and does not send the message.
        out.lose(LossKind::Flattened, "text");
    }
    out.put(line, ",\"content\":[");
    let mut comma = "";
    for (block, _) in message.blocks() {
        if is_shown(&block) {
            out.put(line, comma);
            write_part::put_user(out, line, &block);
            comma = ",";
        } else if matches!(block, Block::Text(_)) {
            out.lose(LossKind::Dropped, "text");
        }
    }
    out.put(line, "]");
}

/// The start of a message of the user. The client joins the texts of its parts before it looks at them.
///
/// In: the texts `<session_` and `context>`. Out: a message that the client does not send.
#[derive(Debug, Default)]
pub(in crate::gemini) struct Head(String);

impl Head {
    /// The words with which a message begins that the client does not send.
    const IGNORED: [&str; 4] = ["/", "?", "<session_context>", "<hook_context>"];

    /// The length of the longest of these words.
    const LONGEST: usize = 17;

    /// Adds a text. Returns whether more texts can matter.
    pub(in crate::gemini) fn push(&mut self, text: &str) -> bool {
        let text = if self.0.is_empty() { text.trim_start_matches(is_js_space) } else { text };
        self.0.extend(text.chars().take(Self::LONGEST));
        self.0.len() < Self::LONGEST
    }

    /// Returns the start of the message, without white space before it.
    pub(in crate::gemini) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the client does not send the message.
    pub(in crate::gemini) fn is_ignored(&self) -> bool {
        Self::IGNORED.iter().any(|start| self.0.starts_with(start))
    }
}
