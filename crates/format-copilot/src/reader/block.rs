//! Reads the parts of messages: words, thinking, calls, results, and attachments.
//!
//! In: `{"toolCallId":"t1","name":"view","arguments":{"path":"a.rs"},"type":"function"}`. Out:
//! [`Block::ToolUse`] with the input `{"path":"a.rs"}`.

use core_model::{Block, Content, Field, Input, ToolResult, ToolUse};
use jsonl::{Raw, Text, Value};

use crate::record::text;

/// Reads a block of thinking, as the API returned it.
pub fn read_block(value: Value<'_>) -> Block<'_> {
    let kind = text(value, "type");
    let is = |name: &str| kind.is_some_and(|kind| kind.is(name));
    let block = if is("thinking") {
        let signature = text(value, "signature");
        text(value, "thinking").map(|text| Block::Thinking { text, signature })
    } else if is("redacted_thinking") {
        text(value, "data").map(|data| Block::RedactedThinking { data })
    } else {
        None
    };
    block.unwrap_or(Block::Other { kind, raw: value.raw() })
}

/// Reads the words of thinking whose blocks are not known.
pub(super) fn read_thought(data: Value<'_>) -> Block<'_> {
    match text(data, "reasoningText") {
        Some(text) => Block::Thinking { text, signature: None },
        None => Block::Other { kind: None, raw: data.raw() },
    }
}

/// Reads the text of a message.
pub(super) fn read_words(data: Value<'_>) -> Block<'_> {
    match text(data, "content") {
        Some(text) => Block::Text(text),
        None => Block::Other { kind: None, raw: Raw::NULL },
    }
}

/// Reads a call of a response.
pub(super) fn read_call(value: Value<'_>) -> Block<'_> {
    let [id, name, input] = value.get_all(["toolCallId", "name", "arguments"]);
    let [id, name] = [id, name].map(|member| member.and_then(|member| member.text()));
    let (Some(id), Some(name)) = (id, name) else { return other(value) };
    // A tool whose input is plain text has it as a string.
    let input = match input {
        Some(input) => match input.text() {
            Some(text) => Input::JsonString(text),
            None => Input::Json(input.raw()),
        },
        None => Input::Json(Raw::NULL),
    };
    Block::ToolUse(ToolUse { id, name: name.into(), input, is_server: false })
}

/// Reads an attachment of a prompt.
pub(super) fn read_attachment(value: Value<'_>) -> Block<'_> {
    read_image(value).unwrap_or(other(value))
}

/// Reads a picture that a line of its own holds.
pub(super) fn read_asset(value: Value<'_>) -> Block<'_> {
    read_image(value).unwrap_or(other(value))
}

fn read_image(value: Value<'_>) -> Option<Block<'_>> {
    let [media_type, data] = value.get_all(["mimeType", "data"]).map(|it| it?.text());
    let media_type = media_type.filter(|kind| kind.body().starts_with("image"))?;
    Some(Block::Image { media_type: media_type.into(), data: data?.into() })
}

/// Reads the result of a call. The client sends the words of an error instead of the result.
pub(super) fn read_result(data: Value<'_>) -> Block<'_> {
    let [id, success, result, error] = data.get_all(["toolCallId", "success", "result", "error"]);
    let Some(id) = id.and_then(|id| id.text()) else { return other(data) };
    let is_error = match success {
        None => Field::Absent,
        Some(success) => success.bool().map_or(Field::Null, |success| Field::Value(!success)),
    };
    let words = error_words(error).filter(|_| is_error != Field::Value(false));
    let pictures = result.and_then(pictures);
    let content = match (words, result, pictures) {
        (Some(_), _, Some(pictures)) => {
            Content::after((data, read_error), pictures, read_attachment)
        }
        (Some(words), _, None) => Content::Text(words),
        (None, Some(result), Some(pictures)) => {
            Content::after((result, read_words), pictures, read_attachment)
        }
        (None, Some(result), None) => Content::new(result.get("content"), read_item),
        (None, None, _) => Content::Absent,
    };
    Block::ToolResult(ToolResult::new(id, content, is_error))
}

/// Returns the words of an error.
pub(crate) fn error_words(error: Option<Value<'_>>) -> Option<Text<'_>> {
    text(error?, "message")
}

/// Returns the pictures of a result, if they are in it. Others are lines of their own.
pub(crate) fn pictures(result: Value<'_>) -> Option<Value<'_>> {
    result.get("binaryResultsForLlm").filter(|pictures| super::has_blob(*pictures))
}

fn read_error(data: Value<'_>) -> Block<'_> {
    match error_words(data.get("error")) {
        Some(words) => Block::Text(words),
        None => other(data),
    }
}

/// Reads an item of a result that is an array, which no client of Copilot writes.
fn read_item(value: Value<'_>) -> Block<'_> {
    match value.text().or_else(|| text(value, "text")) {
        Some(text) => Block::Text(text),
        None => other(value),
    }
}

/// Creates a block of no kind of the API's.
fn other(value: Value<'_>) -> Block<'_> {
    Block::Other { kind: None, raw: value.raw() }
}
