//! Writes prompts and texts of the client as steps, and results in the step of their call.
//!
//! In: the result of `t1`. Out: `{"source_call_id":"t1","content":"a.rs"}` in the step with the call
//! `t1`.

use core_model::{Block, Content, Event, Field, LossKind, Message, Output, TextBody, ToolResult};
use jsonl::{Raw, json_string};

use super::{DocumentWriter, json, step::Step};

impl DocumentWriter {
    pub(super) fn write_user(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        out: &mut Output,
    ) {
        out.drop_ids(event);
        let n_results = message.tool_results().count();
        if message.tool_use_result.is_some_and(|extra| n_results != 1 && !extra.is_null()) {
            out.lose(LossKind::Dropped, event.vocabulary.tool_use_result);
        }
        let details = message.details();
        for (block, raw) in message.blocks() {
            if let Block::ToolResult(result) = block {
                self.write_result(event, details, (&result, raw), out);
            }
        }
        let has_text = message.blocks().any(|(block, _)| !matches!(block, Block::ToolResult(_)));
        if n_results > 0 && !has_text {
            out.drop_time(event);
            out.drop_if(message.is_meta, event.vocabulary.is_meta);
            return self.count_cwd(event, out);
        }
        if n_results > 0 {
            out.lose(LossKind::Flattened, "message.content");
        }
        let is_system = message.is_meta || message.is_summary;
        let mut step = Step::new(if is_system { "system" } else { "user" }, event, out);
        let kind = match message {
            Message { is_summary: true, .. } => Some("\"compaction\""),
            Message { is_meta: true, .. } => Some("\"meta\""),
            Message { is_queued: true, .. } => Some("\"queued\""),
            _ => None,
        };
        if let Some(kind) = kind {
            step.add_extra("kind", kind);
        }
        self.add_cwd(&mut step, event, out);
        let texts = message.blocks().filter(|(block, _)| !matches!(block, Block::ToolResult(_)));
        for (_, raw) in texts {
            out.show(step.line, raw);
        }
        step.message = Some(content(&message.content, "message.content", out));
        self.queue.push(step);
    }

    /// Writes a result into the step of its call. A result without a call has a step of its own.
    pub(super) fn write_result(
        &mut self,
        event: &Event<'_>,
        details: Option<Raw<'_>>,
        (result, raw): (&ToolResult<'_>, Raw<'_>),
        out: &mut Output,
    ) {
        out.drop_result(result);
        let id = result.tool_use_id.decode();
        let written = json::text(result.tool_use_id, "tool_result.tool_use_id", out);
        let mut members = String::new();
        if !matches!(&result.content, Content::Absent)
            && !matches!(&result.content, Content::Other(raw) if raw.is_null())
        {
            members.push_str(",\"content\":");
            members.push_str(&content(&result.content, "tool_result.content", out));
        }
        let mut extra = String::new();
        if let Field::Value(is_error) = result.is_error {
            extra.push_str(&format!(",\"is_error\":{is_error}"));
        }
        if let Some(details) = details.filter(|details| !details.is_null()) {
            match json::is_plain(details) {
                true => {
                    extra.push_str(",\"tool_use_result\":");
                    extra.push_str(&json::value(details));
                }
                false => out.lose(LossKind::Dropped, event.vocabulary.tool_use_result),
            }
        }
        if let Some(step) = self.queue.step_of(&id) {
            step.answer(&id);
            out.show(step.line, raw);
            let extra = extra.strip_prefix(',');
            let extra = extra.map_or_else(String::new, |it| format!(",\"extra\":{{{it}}}"));
            return step.add_result(&format!("{{\"source_call_id\":{written}{members}{extra}}}"));
        }
        // Harbor refuses the id of a call that is not in the step.
        out.lose(LossKind::Flattened, "tool_result.order");
        let mut step = Step::new("system", event, out);
        out.show(step.line, raw);
        let result = format!("\"extra\":{{\"tool_use_id\":{written}{extra}}}");
        step.add_result(&match members.strip_prefix(',') {
            Some(members) => format!("{{{members},{result}}}"),
            None => format!("{{{result}}}"),
        });
        self.queue.push(step);
        // A line may have thousands of such results, and each one searches the steps that wait.
        self.emit_complete(out);
    }
}

/// Returns a content as a string, or as an array of parts if it has several texts or an image.
fn content(content: &Content<'_>, field: &'static str, out: &mut Output) -> String {
    match content {
        Content::Text(text) => return json::text(*text, field, out),
        Content::Other(raw) if !raw.is_null() => {
            out.lose(LossKind::Flattened, field);
            return json_string(raw.as_str());
        }
        _ => {}
    }
    let mut parts = Parts::default();
    for (block, _) in content.blocks() {
        match block {
            Block::ToolResult(_) if field == "message.content" => {}
            Block::Text(text) => parts.push(Part::Text(json::text(text, field, out))),
            Block::Thinking { text, .. } => {
                out.lose(LossKind::Flattened, "thinking");
                parts.push(Part::Text(json::text(text, "thinking", out)));
            }
            Block::Image { media_type, data } => parts.push(image(media_type, data, out)),
            _ => {
                let kind = kind_of(&block);
                out.lose_named(LossKind::Flattened, &format!("block.{kind}"));
                parts.push(Part::Text(json_string(&shown(&block, &kind))));
            }
        }
    }
    parts.finish()
}

/// A part of a content.
enum Part {
    /// A JSON string.
    Text(String),
    /// A JSON string with a media type, and the path of a file.
    Image(String, String),
}

/// The parts of a content, as JSON. A message may have a million of them.
#[derive(Default)]
struct Parts {
    /// The first part, until there is a second.
    first: Option<Part>,
    /// The array of two or more parts, without its end.
    array: String,
}

impl Parts {
    fn push(&mut self, part: Part) {
        match self.first.take() {
            None if self.array.is_empty() => return self.first = Some(part),
            None => {}
            Some(first) => self.append(&first),
        }
        self.append(&part);
    }

    fn append(&mut self, part: &Part) {
        self.array.push(if self.array.is_empty() { '[' } else { ',' });
        match part {
            Part::Text(text) => {
                self.array.extend(["{\"type\":\"text\",\"text\":", text, "}"]);
            }
            Part::Image(media_type, path) => self.array.extend([
                "{\"type\":\"image\",\"source\":{\"media_type\":",
                media_type,
                ",\"path\":\"",
                path,
                "\"}}",
            ]),
        }
    }

    /// Returns a string for one text, or else an array.
    fn finish(mut self) -> String {
        match self.first.take() {
            Some(Part::Text(text)) => return text,
            Some(image) => self.append(&image),
            None if self.array.is_empty() => return "\"\"".to_owned(),
            None => {}
        }
        self.array.push(']');
        self.array
    }
}

/// Returns an image as a part with the path of its file, or a text in its place if it cannot be a
/// file.
fn image(media_type: TextBody<'_>, data: TextBody<'_>, out: &mut Output) -> Part {
    let name = media_type.decode();
    if let Some(path) = out.add_image(media_type, data) {
        return Part::Image(json_string(&name), path);
    }
    out.lose(LossKind::Flattened, "block.image");
    let n_bytes = (data.as_str().len() / 4).saturating_mul(3);
    Part::Text(json_string(&format!("[image {name}, {n_bytes} bytes]")))
}

/// Returns the words in place of a block that a document has no place for: the name of a tool that a
/// search found, or its kind.
fn shown(block: &Block<'_>, kind: &str) -> String {
    let mut scanner = jsonl::Scanner::default();
    let name = match block {
        Block::Other { raw, .. } if kind == "tool_reference" => {
            scanner.scan_raw(*raw).ok().and_then(|block| block.get("tool_name")?.text())
        }
        _ => None,
    };
    name.map_or_else(|| format!("[{kind}]"), |name| format!("[{kind} {}]", name.decode()))
}

/// Returns the name of a block's kind, for reports.
pub(super) fn kind_of(block: &Block<'_>) -> String {
    match block {
        Block::Text(_) => "text".to_owned(),
        Block::Thinking { .. } | Block::RedactedThinking { .. } => "thinking".to_owned(),
        Block::ToolUse(_) => "tool_use".to_owned(),
        Block::ToolResult(_) => "tool_result".to_owned(),
        Block::Image { .. } => "image".to_owned(),
        Block::Other { kind: Some(kind), .. } if !kind.is_empty() => kind.decode().into_owned(),
        _ => "block".to_owned(),
    }
}
