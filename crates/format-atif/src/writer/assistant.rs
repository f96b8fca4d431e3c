//! Writes responses: all lines of a response as one step.
//!
//! In: a line with a text and a line with a tool use, both of the message `m1`. Out: one step with
//! `message` and `tool_calls`.

use core_model::{Block, Event, LossKind, Message, Output, ResponseKey, ToolUse};
use jsonl::json_string;

use super::{
    DocumentWriter, json,
    step::{Call, Step},
    user::kind_of,
};

/// The text between two texts of a response.
const SEPARATOR: &str = "\n\n";

impl DocumentWriter {
    pub(super) fn write_assistant(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        out: &mut Output,
    ) {
        out.drop_ids(event);
        let key = ResponseKey::new(event, message, &self.hasher);
        if !self.continues(key) {
            let mut step = Step::new("agent", event, out);
            step.key = key;
            self.start_response(&mut step, event, message, out);
            self.queue.push(step);
        } else {
            out.drop_time(event);
            self.count_cwd(event, out);
        }
        let mut answers = Vec::new();
        let Some(step) = self.queue.last_response() else { return };
        out.touch(step.line);
        observe(step, message, out);
        for (block, raw) in message.blocks() {
            if !matches!(block, Block::ToolResult(_)) {
                out.show(step.line, raw);
            }
            match &block {
                Block::Text(text) => {
                    add_text(step, &text.decode(), text.has_lone_surrogate(), out);
                }
                Block::Thinking { text, signature } => {
                    let words = text.decode();
                    if text.has_lone_surrogate() {
                        out.lose(LossKind::Flattened, "thinking");
                    }
                    add_thinking(step, &words, out);
                    match signature {
                        Some(signature) if step.n_thinking == 1 => {
                            let text = json::text(*signature, "thinking.signature", out);
                            step.signature = Some((text, out.place()));
                        }
                        Some(_) => out.lose(LossKind::Dropped, "thinking.signature"),
                        None => {}
                    }
                }
                Block::ToolUse(tool) => {
                    let id = tool.id.decode();
                    let is_awaited = self.facts.is_answered(&id);
                    add_call(step, tool, is_awaited, out);
                }
                // Some proxies answer their own calls.
                Block::ToolResult(result) => answers.push((*result, raw)),
                Block::RedactedThinking { .. } => {
                    out.lose(LossKind::Dropped, "block.redacted_thinking");
                }
                _ => add_other(step, &block, out),
            }
        }
        let details = message.details();
        for (result, raw) in answers {
            self.write_result(event, details, (&result, raw), out);
        }
    }

    /// Returns whether a line continues the last response.
    fn continues(&mut self, key: ResponseKey) -> bool {
        match key {
            ResponseKey::Id(_) => self.queue.last_response().is_some_and(|step| step.key == key),
            ResponseKey::Run(..) => {
                let last = self.queue.last();
                last.is_some_and(|step| step.key == key && step.results.is_empty())
            }
            ResponseKey::Alone => false,
        }
    }

    fn start_response(
        &self,
        step: &mut Step,
        event: &Event<'_>,
        message: &Message<'_>,
        out: &mut Output,
    ) {
        self.add_cwd(step, event, out);
        step.is_call_of_model = !message.is_by_client();
        if message.is_meta {
            step.add_extra("kind", "\"meta\"");
        }
        if message.is_api_error {
            step.add_extra("is_api_error", "true");
            // Streams say which error it is.
            out.lose(LossKind::Flattened, event.vocabulary.is_api_error);
        }
        for (name, id) in [("message_id", message.id), ("request_id", message.request_id)] {
            if let Some(id) = id {
                step.add_extra(name, &json::text(id, "message.id", out));
            }
        }
    }

    /// Adds the folder of an event to its step, if it is not the session's.
    pub(super) fn add_cwd(&self, step: &mut Step, event: &Event<'_>, out: &mut Output) {
        if let Some(cwd) = event.context.cwd
            && Some(cwd.as_str()) != self.facts.cwd.as_deref()
        {
            step.add_extra("cwd", &json::text(cwd, "cwd", out));
        }
    }
}

/// Stores the members of a line of a response. The last line has the final ones.
fn observe(step: &mut Step, message: &Message<'_>, out: &mut Output) {
    if let Some(model) = message.model {
        step.model_name = Some(json::text(model, "model", out));
    }
    if let Some(usage) = message.usage {
        match usage.is_object() {
            true => {
                let metrics = Some(json::metrics_of(&usage));
                if step.metrics.is_some() && step.metrics != metrics {
                    for place in step.tokens_places.drain(..) {
                        out.lose_at(LossKind::Dropped, "usage", place);
                    }
                }
                step.metrics = metrics;
                step.tokens = Some(usage.tokens());
                step.tokens_places.push(out.place());
            }
            false => out.drop_if(!usage.is_null(), "usage"),
        }
    }
    if let Some(reason) = message.stop_reason.filter(|reason| !reason.is_null()) {
        match reason.as_text() {
            Some(reason) => {
                let reason = json::text(reason, "stop_reason", out);
                let replaced = step.stop_reason.replace((reason.clone(), out.place()));
                if let Some((_, place)) = replaced.filter(|(earlier, _)| *earlier != reason) {
                    out.lose_at(LossKind::Dropped, "stop_reason", place);
                }
            }
            None => out.lose(LossKind::Dropped, "stop_reason"),
        }
    }
}

fn add_text(step: &mut Step, words: &str, is_odd: bool, out: &mut Output) {
    if is_odd {
        out.lose(LossKind::Flattened, "text");
    }
    if !step.tool_calls.is_empty() {
        out.lose(LossKind::Flattened, "message.content");
    }
    match &mut step.text {
        Some(text) => {
            out.lose(LossKind::Flattened, "text");
            text.push_str(SEPARATOR);
            text.push_str(words);
        }
        None => step.text = Some(words.to_owned()),
    }
}

fn add_thinking(step: &mut Step, words: &str, out: &mut Output) {
    step.n_thinking = step.n_thinking.saturating_add(1);
    if step.text.is_some() || !step.tool_calls.is_empty() {
        out.lose(LossKind::Flattened, "message.content");
    }
    match &mut step.thinking {
        Some(thinking) => {
            out.lose(LossKind::Flattened, "thinking");
            thinking.push_str(SEPARATOR);
            thinking.push_str(words);
            // A signature is of one text.
            if let Some((_, place)) = step.signature.take() {
                out.lose_at(LossKind::Dropped, "thinking.signature", place);
            }
        }
        None => step.thinking = Some(words.to_owned()),
    }
}

fn add_call(step: &mut Step, tool: &ToolUse<'_>, is_awaited: bool, out: &mut Output) {
    if !step.tool_calls.is_empty() {
        step.tool_calls.push(',');
    }
    let id = json::text(tool.id, "tool_use.id", out);
    let name = match tool.name.as_text() {
        Some(name) => json::text(name, "tool_use.name", out),
        None => json_string(&tool.name.decode()),
    };
    let arguments = json::arguments(tool.input, out);
    step.tool_calls.push_str("{\"tool_call_id\":");
    step.tool_calls.push_str(&id);
    step.tool_calls.push_str(",\"function_name\":");
    step.tool_calls.push_str(&name);
    step.tool_calls.push_str(",\"arguments\":");
    step.tool_calls.push_str(&arguments);
    if tool.is_server {
        step.tool_calls.push_str(",\"extra\":{\"is_server\":true}");
    }
    step.tool_calls.push('}');
    let call = Call { is_answered: false, is_awaited };
    if step.calls.insert(tool.id.decode().into_owned(), call).is_none() && is_awaited {
        step.n_awaited = step.n_awaited.saturating_add(1);
    }
}

/// Adds a block without a place in a step: its kind is shown in the text.
fn add_other(step: &mut Step, block: &Block<'_>, out: &mut Output) {
    let kind = kind_of(block);
    out.lose_named(LossKind::Flattened, &format!("block.{kind}"));
    let shown = format!("[{kind}]");
    match &mut step.text {
        Some(text) => {
            text.push_str(SEPARATOR);
            text.push_str(&shown);
        }
        None => step.text = Some(shown),
    }
}
