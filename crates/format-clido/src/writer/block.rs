//! Writes content blocks: clido's five types, and a placeholder text for any other.
//!
//! In: a tool use of `Read`. Out:
//! `{"id":"t1","input":{"path":"a.rs"},"name":"Read","type":"tool_use"}`.

use core_model::{Block, LineId, LossKind, ToolCall, ToolName, ToolUse};
use jsonl::{MAX_SERDE_DEPTH, Raw, Text};

use super::pen::Pen;

/// Levels that the input of a tool may have, inside a block of a line.
const MAX_INPUT_DEPTH: usize = MAX_SERDE_DEPTH - 3;

/// Writes a block with its keys in alphabetical order, as clido does.
pub(super) fn write(block: &Block<'_>, line: LineId, pen: &mut Pen<'_>) {
    match *block {
        Block::Text(text) => {
            pen.out.put(line, "{\"text\":");
            pen.text(line, text, "text");
            pen.out.put(line, ",\"type\":\"text\"}");
        }
        Block::Thinking { text, signature } => {
            pen.out.put(line, "{\"thinking\":");
            pen.text(line, text, "thinking");
            pen.out.put(line, ",\"type\":\"thinking\"}");
            if signature.is_some() {
                pen.out.lose(LossKind::Dropped, "thinking.signature");
            }
        }
        Block::RedactedThinking { .. } => write_placeholder("redacted_thinking", line, pen),
        Block::ToolUse(tool) if tool.is_server => {
            write_words("server_tool_use", &block.placeholder(), line, pen);
        }
        Block::ToolUse(tool) => {
            pen.out.put(line, "{\"id\":");
            pen.text(line, tool.id, "tool_use.id");
            pen.out.put(line, ",\"input\":");
            pen.value(line, tool.input.json().raw(), MAX_INPUT_DEPTH, "tool_use.input");
            pen.out.put(line, ",\"name\":");
            pen.tool_name(line, tool.name);
            pen.out.put(line, ",\"type\":\"tool_use\"}");
        }
        Block::Image { media_type, data } => {
            pen.out.put(line, "{\"base64_data\":");
            pen.part(line, data, "image");
            pen.out.put(line, ",\"media_type\":");
            pen.part(line, media_type, "image");
            pen.out.put(line, ",\"type\":\"image\"}");
        }
        Block::Other { kind, .. } => {
            let kind = kind.map(|kind| kind.decode());
            write_placeholder(kind.as_deref().unwrap_or("unknown"), line, pen);
        }
        // Tool results have lines of their own. Any other kind is unknown.
        _ => write_placeholder("unknown", line, pen),
    }
}

/// Returns the name of a block's kind, for reports.
pub(super) fn kind(block: &Block<'_>) -> String {
    match block {
        Block::Text(_) => "text".to_owned(),
        Block::Thinking { .. } => "thinking".to_owned(),
        Block::RedactedThinking { .. } => "redacted_thinking".to_owned(),
        Block::ToolUse(tool) if tool.is_server => "server_tool_use".to_owned(),
        Block::ToolUse(_) => "tool_use".to_owned(),
        Block::ToolResult(_) => "tool_result".to_owned(),
        Block::Image { .. } => "image".to_owned(),
        Block::Other { kind: Some(kind), .. } => kind.decode().into_owned(),
        _ => "unknown".to_owned(),
    }
}

fn write_placeholder(kind: &str, line: LineId, pen: &mut Pen<'_>) {
    write_words(kind, &format!("[{kind}]"), line, pen);
}

fn write_words(kind: &str, words: &str, line: LineId, pen: &mut Pen<'_>) {
    pen.out.put(line, "{\"text\":");
    pen.stand_in(line, words);
    pen.out.put(line, ",\"type\":\"text\"}");
    pen.out.lose_named(LossKind::Flattened, &format!("block.{kind}"));
}

/// Writes the `tool_call` line of a tool use in a response.
pub(super) fn repeat_call(pen: &mut Pen<'_>, tool: &ToolUse<'_>) -> LineId {
    let line = pen.out.open_derived();
    put_call(pen, line, tool.id, tool.name, tool.input.json().raw());
    line
}

/// Writes the `tool_call` line of a tool use without a response.
pub(super) fn write_call(pen: &mut Pen<'_>, call: &ToolCall<'_>) -> LineId {
    let line = pen.out.open();
    put_call(pen, line, call.id, call.name.into(), call.input);
    line
}

fn put_call(pen: &mut Pen<'_>, line: LineId, id: Text<'_>, name: ToolName<'_>, input: Raw<'_>) {
    pen.out.put(line, "{\"type\":\"tool_call\",\"tool_use_id\":");
    pen.repeat(line, Raw::from(id), 0);
    pen.out.put(line, ",\"tool_name\":");
    match name.as_text() {
        Some(name) => pen.repeat(line, Raw::from(name), 0),
        None => pen.out.put_string(line, &name.decode()),
    }
    pen.out.put(line, ",\"input\":");
    pen.repeat(line, input, MAX_INPUT_DEPTH);
    pen.out.put(line, "}");
}
