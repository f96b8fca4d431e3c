//! Writes the parts of Google's messages: texts, thoughts, calls, results and pictures, and a
//! placeholder text for any other block.
//!
//! In: `{"type":"tool_use","id":"t1","name":"Read","input":{"path":"a.rs"}}`. Out:
//! `{"functionCall":{"id":"t1","name":"Read","args":{"path":"a.rs"}}}`.

use core_model::{Block, Content, Field, LineId, LossKind, Output, ToolResult, ToolUse};
use jsonl::{Text, json_string};

/// Returns whether a block of a response has a part. Counts the loss of one that has none.
pub(crate) fn has_part(out: &mut Output, block: &Block<'_>) -> bool {
    match block {
        Block::Text(text) if text.is_blank() => out.lose(LossKind::Dropped, "text"),
        Block::Thinking { text, signature: None } if text.is_blank() => {
            out.lose(LossKind::Dropped, "thinking");
        }
        // No model but the one that wrote it can read it.
        Block::RedactedThinking { .. } => {
            out.lose(LossKind::Dropped, "block.redacted_thinking");
        }
        Block::Other { kind: Some(kind), .. } if kind.is("redacted_thinking") => {
            out.lose(LossKind::Dropped, "block.redacted_thinking");
        }
        _ => return true,
    }
    false
}

/// Writes a block of a response, other than a tool use.
pub(crate) fn put_said(out: &mut Output, line: LineId, block: &Block<'_>) {
    match block {
        Block::Text(text) => put_text(out, line, *text),
        Block::Thinking { text, signature } => {
            out.put(line, "{\"text\":");
            out.copy_text(line, *text);
            out.put(line, ",\"thought\":true");
            if let Some(signature) = signature {
                if text.is_blank() {
                    // The client sends no thought without words.
                    out.lose(LossKind::Flattened, "thinking.signature");
                }
                out.put(line, ",\"thoughtSignature\":");
                out.copy_text(line, *signature);
            }
            out.put(line, "}");
        }
        // The role of the model has no pictures.
        _ => put_placeholder(out, line, block),
    }
}

/// Writes a block of the user.
pub(crate) fn put_user(out: &mut Output, line: LineId, block: &Block<'_>) {
    match block {
        Block::Text(text) => put_text(out, line, *text),
        Block::Image { media_type, data } => {
            out.put(line, "{\"inlineData\":{\"mimeType\":");
            out.copy_media_type(line, *media_type);
            out.put(line, ",\"data\":");
            out.copy_quoted(line, *data);
            out.put(line, "}}");
        }
        Block::Thinking { text, .. } if !text.is_blank() => {
            out.lose(LossKind::Flattened, "thinking");
            put_text(out, line, *text);
        }
        _ => {
            out.put(line, "{\"text\":\"");
            put_placeholder_words(out, line, block);
            out.put(line, "\"}");
        }
    }
}

/// Writes a tool use. An id or a name that an API would refuse is replaced.
pub(crate) fn put_call(
    out: &mut Output,
    line: LineId,
    tool: &ToolUse<'_>,
    id: Option<&str>,
    name: Option<&str>,
) {
    out.put(line, "{\"functionCall\":{");
    put_call_members(out, line, tool, id, name);
    out.put(line, "}}");
}

/// Writes the members of a tool use.
pub(crate) fn put_call_members(
    out: &mut Output,
    line: LineId,
    tool: &ToolUse<'_>,
    id: Option<&str>,
    name: Option<&str>,
) {
    out.put(line, "\"id\":");
    out.copy_text_or(line, tool.id, id, "tool_use.id");
    out.put(line, ",\"name\":");
    out.copy_tool_name_or(line, tool.name, name);
    out.put(line, ",\"args\":");
    out.copy_object_input(line, tool);
}

/// Writes the response to a call, whose part and object are left open for more members. `id` replaces the id
/// of the call, and `name` is a JSON string. Returns whether the call failed.
pub(crate) fn put_response(
    out: &mut Output,
    line: LineId,
    result: &ToolResult<'_>,
    id: Option<&str>,
    name: &str,
) -> bool {
    out.put(line, "{\"functionResponse\":{\"id\":");
    out.copy_text_or(line, result.tool_use_id, id, "tool_result.tool_use_id");
    out.put(line, ",\"name\":");
    out.put(line, name);
    let is_error = match result.is_error {
        Field::Value(is_error) => is_error,
        Field::Absent | Field::Null => {
            out.lose(LossKind::Invented, "tool_result.is_error");
            false
        }
    };
    let key = if is_error { "error" } else { "output" };
    out.put_args(line, format_args!(",\"response\":{{\"{key}\":"));
    put_joined(out, line, &result.content);
    is_error
}

/// Closes a [response](put_response), with the pictures of its result as `parts`.
pub(crate) fn close_response(out: &mut Output, line: LineId, result: &ToolResult<'_>) {
    out.put(line, "}");
    let is_image = |block: &Block<'_>| matches!(block, Block::Image { .. });
    let mut comma = ",\"parts\":[";
    for (image, _) in result.content.blocks().filter(|(block, _)| is_image(block)) {
        out.put(line, comma);
        put_user(out, line, &image);
        comma = ",";
    }
    out.put(line, if comma == "," { "]}}" } else { "}}" });
}

/// Writes the words of a content as one JSON string, joined by newlines. Pictures are left out.
pub(crate) fn put_joined(out: &mut Output, line: LineId, content: &Content<'_>) {
    out.touch(line);
    match content {
        Content::Text(text) => return out.copy_text(line, *text),
        Content::Other(raw) if !raw.is_null() => {
            out.lose(LossKind::Flattened, "tool_result.content");
            return out.put_string(line, raw.as_str());
        }
        _ => {}
    }
    out.put(line, "\"");
    let mut newline = "";
    for (block, _) in content.blocks() {
        match block {
            // An empty text is not sent.
            Block::Text(text) if text.is_empty() => continue,
            Block::Image { .. } => continue,
            Block::Text(text) => {
                out.put(line, newline);
                out.copy_body(line, text.body());
            }
            Block::Thinking { text, .. } if !text.is_blank() => {
                out.lose(LossKind::Flattened, "thinking");
                out.put(line, newline);
                out.copy_body(line, text.body());
            }
            block => {
                out.put(line, newline);
                put_placeholder_words(out, line, &block);
            }
        }
        newline = "\\n";
    }
    out.put(line, "\"");
}

/// Counts the pictures of a content that is written as words.
pub(crate) fn drop_images(out: &mut Output, content: &Content<'_>) {
    for (block, _) in content.blocks() {
        if matches!(block, Block::Image { .. }) {
            out.lose_named(LossKind::Dropped, "block.image");
        }
    }
}

fn put_text(out: &mut Output, line: LineId, text: Text<'_>) {
    out.put(line, "{\"text\":");
    out.copy_text(line, text);
    out.put(line, "}");
}

fn put_placeholder(out: &mut Output, line: LineId, block: &Block<'_>) {
    out.put(line, "{\"text\":\"");
    put_placeholder_words(out, line, block);
    out.put(line, "\"}");
}

/// Writes the words in place of a block, inside a string.
fn put_placeholder_words(out: &mut Output, line: LineId, block: &Block<'_>) {
    out.touch(line);
    let quoted = json_string(&block.placeholder());
    let body = quoted.strip_prefix('"').and_then(|quoted| quoted.strip_suffix('"'));
    out.put(line, body.unwrap_or_default());
    out.lose_named(LossKind::Flattened, &format!("block.{}", block.kind()));
}
