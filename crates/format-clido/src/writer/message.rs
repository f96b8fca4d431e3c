//! Writes messages: a response of many lines as one, a line for each result, the rest as it is.

use std::hash::BuildHasher;

use core_model::{Block, Event, LossKind, Message, Role, ToolResult, ToolUse};

use super::{
    SessionWriter, block,
    held::{Held, Key, Response},
    losses,
    pen::Pen,
    result,
};

impl SessionWriter {
    /// Writes a message and counts what it loses.
    pub(super) fn write_message(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        pen: &mut Pen<'_>,
    ) {
        losses::count_message(message, pen.out);
        if message.blocks().next().is_none() {
            // No API takes a message without content, and between calls and results it would part
            // them.
            return pen.out.lose(LossKind::Dropped, "message.content");
        }
        self.write_header(event, pen.out);
        self.has_written = true;
        self.has_ended = false;
        self.ending.add_time(event.context.time);
        match message.role {
            Role::Assistant => self.write_assistant(event, message, pen),
            Role::User => self.write_user(event, message, pen),
        }
    }

    fn write_assistant(&mut self, event: &Event<'_>, message: &Message<'_>, pen: &mut Pen<'_>) {
        let key = Key::of(event, message);
        let goes_on = self.response.as_ref().is_some_and(|response| response.takes(&key));
        if !goes_on {
            self.close_response(pen.out);
        }
        self.ending.add_response(message, goes_on);
        let mut response = self.response.take().unwrap_or_else(|| Response::new(key));
        for (block, _) in message.blocks() {
            // Some proxies answer their own calls.
            if matches!(block, Block::ToolResult(_)) {
                continue;
            }
            let line = response.line_for_block(pen.out);
            block::write(block, line, pen);
            if let Block::ToolUse(tool) = block {
                self.write_call(event, &tool, &mut response, pen);
            }
        }
        self.response = Some(response);
        for result in message.tool_results() {
            self.write_result(event, message, &result, pen);
        }
    }

    fn write_call(
        &mut self,
        event: &Event<'_>,
        tool: &ToolUse<'_>,
        response: &mut Response,
        pen: &mut Pen<'_>,
    ) {
        let id = tool.id.decode().into_owned();
        self.called.insert(self.hasher.hash_one(id.as_str()));
        if tool.is_server {
            return;
        }
        let is_answered = self.early.contains_key(&id);
        let line = block::repeat_call(pen, tool);
        let millis = event.context.time.and_then(core_model::millis);
        if is_answered {
            response.add_call(id.clone(), Some(line), millis);
            response.answer(&id);
        } else {
            response.add_call(id, Some(line), millis);
        }
    }

    fn write_user(&mut self, event: &Event<'_>, message: &Message<'_>, pen: &mut Pen<'_>) {
        let mut has_result = false;
        for result in message.tool_results() {
            self.write_result(event, message, &result, pen);
            has_result = true;
        }
        let mut said = None;
        let mut waits = false;
        for (block, _) in message.blocks() {
            if matches!(block, Block::ToolResult(_)) {
                continue;
            }
            let line = match said {
                Some(line) => {
                    pen.out.put(line, ",");
                    line
                }
                None => {
                    // Clients say things in the user's place while tools still run; clido wants the
                    // results directly after the response.
                    let response = self.response.as_mut();
                    waits =
                        response.is_some_and(|response| response.completes_to_wait(&self.facts));
                    if !waits {
                        self.close_response(pen.out);
                    }
                    let line = pen.out.open();
                    pen.out.put(line, "{\"type\":\"user_message\",\"role\":\"user\",\"content\":[");
                    *said.insert(line)
                }
            };
            block::write(block, line, pen);
        }
        let Some(line) = said else { return };
        pen.out.put(line, "]}");
        if waits {
            self.emit_after_response(line, pen.out);
        } else {
            pen.out.emit(line);
        }
        self.ending.add_user(message);
        if has_result {
            pen.out.lose(LossKind::Flattened, "message.content");
        }
    }

    fn write_result(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        result: &ToolResult<'_>,
        pen: &mut Pen<'_>,
    ) {
        let id = result.tool_use_id.decode();
        let call_millis = self.response.as_ref().and_then(|response| response.time_of(&id));
        let line = result::write(event, message, result, call_millis, pen);
        let held = Held { line, arrival: self.n_results };
        self.n_results += 1;
        let is_of_response = self.response.as_mut().is_some_and(|response| response.answer(&id));
        let is_called = self.called.contains(&self.hasher.hash_one(&*id));
        match &mut self.response {
            _ if !is_of_response && !is_called && self.facts.is_called(&id) => {
                self.early.entry(id.into_owned()).or_default().push(held);
                pen.out.lose(LossKind::Flattened, "tool_result.order");
            }
            Some(response) => {
                if response.moves() {
                    pen.out.lose(LossKind::Flattened, "tool_result.order");
                }
                response.add_result(&id, held);
            }
            None => pen.out.emit(line),
        }
    }
}
