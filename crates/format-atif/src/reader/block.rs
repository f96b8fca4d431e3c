//! Reads the blocks of a step: parts of its message, its thinking, its calls and their results.
//!
//! In: `{"tool_call_id":"t1","function_name":"Bash","arguments":{"command":"ls"}}`. Out:
//! [`Block::ToolUse`].

use core_model::{Block, Content, Field, Input, TextBody, ToolResult, ToolUse};
use jsonl::{Raw, Text, Value};

fn member<'l>(value: Value<'l>, name: &str) -> Option<Text<'l>> {
    value.get(name)?.text()
}

/// Reads a part of a message or of a result.
pub fn read_block(value: Value<'_>) -> Block<'_> {
    if let Some(text) = value.text() {
        return Block::Text(text);
    }
    let kind = member(value, "type");
    let other = Block::Other { kind, raw: value.raw() };
    match (kind, member(value, "text")) {
        (Some(kind), Some(text)) if kind.is("text") => Block::Text(text),
        (Some(kind), _) if kind.is("image") => read_image(value).unwrap_or(other),
        _ => other,
    }
}

/// Reads an image from its data URL, which Harbor refuses and other programs write. The bytes of
/// another image are in a file or on a server.
fn read_image(value: Value<'_>) -> Option<Block<'_>> {
    let url = member(value.get("source")?, "path")?.body().strip_prefix("data:")?;
    let (media_type, data) = url.split_once(";base64,")?;
    let (media_type, data) = (TextBody::new(media_type), TextBody::new(data));
    Some(Block::Image { media_type, data })
}

/// Reads the thinking of a step.
pub(super) fn read_thinking(step: Value<'_>) -> Block<'_> {
    match member(step, "reasoning_content") {
        Some(text) => {
            let extra = step.get("extra");
            let signature = extra.and_then(|extra| member(extra, "thinking_signature"));
            Block::Thinking { text, signature }
        }
        None => Block::Other { kind: None, raw: Raw::NULL },
    }
}

/// Reads the message of a step that is a text.
pub(super) fn read_message(step: Value<'_>) -> Block<'_> {
    match member(step, "message") {
        Some(text) => Block::Text(text),
        None => Block::Other { kind: None, raw: Raw::NULL },
    }
}

/// Reads a call.
pub(super) fn read_call(value: Value<'_>) -> Block<'_> {
    let [id, name, input, extra] =
        value.get_all(["tool_call_id", "function_name", "arguments", "extra"]);
    let (Some(id), Some(name)) = (id.and_then(|id| id.text()), name.and_then(|name| name.text()))
    else {
        return Block::Other { kind: None, raw: value.raw() };
    };
    let input = Input::Json(input.map_or(Raw::NULL, |input| input.raw()));
    let is_server = extra.and_then(|extra| extra.get("is_server")?.bool()) == Some(true);
    Block::ToolUse(ToolUse { id, name: name.into(), input, is_server })
}

/// Reads the result of a call. A result without a call is a text, unless a writer of this crate
/// noted its call.
pub(super) fn read_result(value: Value<'_>) -> Block<'_> {
    let [id, content, extra] = value.get_all(["source_call_id", "content", "extra"]);
    let extra = extra.map_or([None; 3], |extra| {
        extra.get_all(["tool_use_id", "is_error", "tool_result_is_error"])
    });
    let [own_id, is_error, of_harbor] = extra;
    let id = id.filter(|id| !id.is_null()).or(own_id).and_then(|id| id.text());
    let Some(id) = id else {
        return match content {
            Some(content) if content.text().is_some() => read_block(content),
            _ => Block::Other { kind: None, raw: value.raw() },
        };
    };
    let is_error = is_error.or(of_harbor).and_then(|it| it.bool());
    let is_error = is_error.map_or(Field::Absent, Field::Value);
    Block::ToolResult(ToolResult::new(id, Content::new(content, read_block), is_error))
}
