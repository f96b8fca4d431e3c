//! Writes messages: a response of many lines as one line, and each tool result as a line.

use core_model::{
    Block, BlockCounts, Event, LossKind, Message, ResponseKey, Role, ToolResult, ToolUse,
};
use jsonl::Raw;

use super::{
    SessionWriter, block,
    held::{Call, Held, Response},
    notice,
    pen::Pen,
    result,
};

impl SessionWriter {
    /// Writes a message and counts its losses.
    pub(super) fn write_message(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        pen: &mut Pen<'_>,
    ) {
        pen.out.drop_message(event, message);
        let block_counts = message.block_counts();
        if block_counts.is_empty() {
            // No API accepts a message without content, and it would separate calls from their
            // results.
            return pen.out.lose_record(event);
        }
        self.write_header(event, pen.out);
        self.has_written = true;
        self.has_ended = false;
        self.ending.add_time(pen.millis);
        match message.role {
            // As an `assistant_message`, clido would send it as the model's words.
            Role::Assistant if message.is_by_client() => {
                self.ending.add_other(message, block_counts);
                let line = notice::write_told(message, pen);
                self.emit_after_response(line, pen.out);
            }
            Role::Assistant => self.write_assistant(event, message, block_counts, pen),
            Role::User => self.write_user(event, message, block_counts, pen),
        }
    }

    fn write_assistant(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        block_counts: BlockCounts,
        pen: &mut Pen<'_>,
    ) {
        let key = ResponseKey::new(event, message, &self.hasher);
        let goes_on = self.response.as_ref().is_some_and(|response| response.takes(key));
        if !goes_on {
            self.close_response(pen.out);
        }
        self.ending.add_response(message, block_counts, goes_on);
        let response = self.response.take();
        let mut response = response.unwrap_or_else(|| std::mem::take(&mut self.last).start(key));
        message.each_block(|block| {
            // Some proxies answer their own calls.
            if matches!(block, Block::ToolResult(_)) {
                return;
            }
            let line = response.line_for_block(pen.out);
            block::write(block, line, pen);
            if let Block::ToolUse(tool) = block {
                self.write_call(tool, &mut response, pen);
                if response.is_full() {
                    response.emit(&mut self.early, pen.out);
                }
            }
        });
        self.response = Some(response);
        if block_counts.n_tool_results == 0 {
            return;
        }
        self.write_results(event, message, pen);
    }

    fn write_call(&mut self, tool: &ToolUse<'_>, response: &mut Response, pen: &mut Pen<'_>) {
        let id = self.hasher.hash_text(tool.id);
        self.called.insert(id);
        if tool.is_server {
            return;
        }
        let line = block::repeat_call(pen, tool);
        response.add_call(Call {
            id,
            line: Some(pen.out.pack(line)),
            millis: pen.millis,
            is_answered: self.early.contains_key(&id),
        });
    }

    fn write_user(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        block_counts: BlockCounts,
        pen: &mut Pen<'_>,
    ) {
        self.ending.add_other(message, block_counts);
        if block_counts.n_tool_results > 0 {
            self.write_results(event, message, pen);
        }
        if block_counts.n_said() == 0 {
            return;
        }
        let mut said = None;
        let mut waits = false;
        message.each_block(|block| {
            if matches!(block, Block::ToolResult(_)) {
                return;
            }
            let line = match said {
                Some(line) => {
                    pen.out.put(line, ",");
                    line
                }
                None => {
                    // Clients add user messages while tools still run. clido needs the results
                    // directly after the response.
                    let response = self.response.as_mut();
                    waits = response.is_some_and(|it| it.completes_to_wait(&self.facts));
                    if !waits {
                        self.close_response(pen.out);
                    }
                    let line = pen.out.open();
                    pen.out.put(line, "{\"type\":\"user_message\",\"role\":\"user\",\"content\":[");
                    *said.insert(line)
                }
            };
            block::write(block, line, pen);
        });
        let Some(line) = said else { return };
        pen.out.put(line, "]}");
        if waits {
            self.emit_after_response(line, pen.out);
        } else {
            pen.out.emit(line);
        }
        if block_counts.n_tool_results > 0 {
            pen.out.lose(LossKind::Flattened, "message.content");
        }
    }

    fn write_results(&mut self, event: &Event<'_>, message: &Message<'_>, pen: &mut Pen<'_>) {
        let duration = result::told_duration(event.value, message);
        message.each_tool_result(|result| self.write_result(duration, result, pen));
    }

    /// Writes a result; `duration` is the client's own number.
    fn write_result(
        &mut self,
        duration: Option<Raw<'_>>,
        result: &ToolResult<'_>,
        pen: &mut Pen<'_>,
    ) {
        let id = self.hasher.hash_text(result.tool_use_id);
        let call_millis = self.response.as_ref().and_then(|response| response.time_of(id));
        let line = result::write(result, duration, call_millis, pen);
        let held = Held { line, arrival: self.n_results };
        self.n_results = self.n_results.saturating_add(1);
        let is_of_response = self.response.as_mut().is_some_and(|response| response.answer(id));
        let is_called = self.called.contains(&id);
        match &mut self.response {
            _ if !is_of_response
                && !is_called
                && self.facts.is_called(&result.tool_use_id.decode()) =>
            {
                self.early.entry(id).or_default().push(held);
                pen.out.lose(LossKind::Flattened, "tool_result.order");
            }
            Some(response) => {
                if response.moves() {
                    pen.out.lose(LossKind::Flattened, "tool_result.order");
                }
                response.add_result(id, held);
                if response.is_full() {
                    response.emit(&mut self.early, pen.out);
                }
            }
            None => pen.out.emit(line),
        }
    }
}
