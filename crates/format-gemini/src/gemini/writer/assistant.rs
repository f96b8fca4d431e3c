//! Writes responses: all lines of a response as one message.

use core_model::{
    Block, CallId, Event, LineId, LossKind, Message, Output, ResponseKey, ToolUse,
    replacement_tool_id,
};

use super::{
    SessionWriter, losses,
    open::{Call, Open, Part, PartKind},
};
use crate::write_part;

impl SessionWriter {
    pub(super) fn write_response(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        out: &mut Output,
    ) {
        let key = ResponseKey::new(event, message, &self.hasher);
        let mut is_own = false;
        let mut is_shown = false;
        let mut line = None;
        for (block_idx, (block, _)) in message.blocks().enumerate() {
            if let Block::ToolResult(result) = &block {
                // Some proxies answer their own calls.
                self.write_result(event, message, result, block_idx.saturating_add(1), out);
                continue;
            }
            if !has_part(out, &block) {
                continue;
            }
            is_shown = true;
            let at = match self.response_at(key, line) {
                Some(at) => at,
                None => {
                    let opened = self.open_line("gemini", event, usize::from(is_own), out);
                    (is_own, self.is_dirty, line) = (true, true, Some(opened));
                    self.open.push_back(Open::response(opened, key, out.place()));
                    self.open.len().saturating_sub(1)
                }
            };
            self.add_part(event, &block, (at, block_idx), out);
        }
        if !is_own {
            out.drop_ids(event);
            out.drop_time(event);
        }
        let at = self.response_at(key, line).filter(|_| is_shown);
        match at.and_then(|at| self.open.get_mut(at)) {
            Some(open) => open.observe(message, out),
            None => losses::count_usage(message, out),
        }
    }

    /// Returns the place of the response that a record with a key continues, or whose line is this one.
    fn response_at(&self, key: ResponseKey, line: Option<LineId>) -> Option<usize> {
        let last = self.open.len().checked_sub(1);
        self.open.iter().enumerate().rev().find_map(|(at, open)| {
            (Some(open.line) == line || open.takes(key, Some(at) == last)).then_some(at)
        })
    }

    /// Adds a block to the last response.
    fn add_part(
        &mut self,
        event: &Event<'_>,
        block: &Block<'_>,
        (at, block_idx): (usize, usize),
        out: &mut Output,
    ) {
        let Some(line) = self.open.get(at).map(|open| open.line) else { return };
        let bytes = out.open_part(line);
        let kind = match block {
            Block::ToolUse(tool) if !tool.is_server => {
                return self.add_call(event, tool, (bytes, at, block_idx), out);
            }
            Block::Thinking { text, signature } => {
                // The client sends no thoughts of earlier turns.
                out.lose(LossKind::Flattened, "thinking");
                out.drop_if(signature.is_some(), "thinking.signature");
                out.copy_text(bytes, *text);
                PartKind::Thought
            }
            block => {
                write_part::put_said(out, bytes, block);
                PartKind::Text
            }
        };
        if let Some(open) = self.open.get_mut(at) {
            open.add(Part { bytes: out.pack(bytes), kind });
        }
    }

    fn add_call(
        &mut self,
        event: &Event<'_>,
        tool: &ToolUse<'_>,
        (bytes, at, block_idx): (LineId, usize, usize),
        out: &mut Output,
    ) {
        let id = tool.id.decode();
        // The client finds the call of a result by its id.
        let is_known = id.is_empty() || !self.called.insert(&id);
        let written = is_known.then(|| replacement_tool_id(&out.uuid(event, "tool", block_idx)));
        write_part::put_call_members(out, bytes, tool, written.as_deref(), None);
        let name = self.tool_names.json(&tool.name.decode());
        let call_id = CallId::new(event, tool.id, self.facts.hasher());
        let call = Call { id: call_id.hash, written: written.map(Into::into), name, result: None };
        let place = self.n_emitted.saturating_add(at);
        if let Some(open) = self.open.get_mut(at) {
            let part = open.add(Part { bytes: out.pack(bytes), kind: PartKind::Call(call) });
            self.calls.add(call_id, (place, part));
        }
    }

    /// Writes a text of the client that has the role of the assistant as an error, because the client
    /// would send it as an answer of the model.
    pub(super) fn write_failed(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        out: &mut Output,
    ) {
        let line = self.open_line("error", event, 0, out);
        out.put(line, ",\"content\":");
        write_part::put_joined(out, line, &message.content);
        write_part::drop_images(out, &message.content);
        out.put(line, "}");
        out.lose(LossKind::Flattened, "message.role");
        losses::count_usage(message, out);
        self.push(Open::notice(line), out);
    }
}

/// Returns whether a block of a response is written. Counts the loss of one that is not.
fn has_part(out: &mut Output, block: &Block<'_>) -> bool {
    match block {
        // Thoughts without words are nothing that the client could show.
        Block::Thinking { text, signature: Some(_) } if text.is_blank() => {
            out.lose(LossKind::Dropped, "thinking");
            out.lose(LossKind::Dropped, "thinking.signature");
            false
        }
        block => write_part::has_part(out, block),
    }
}
