//! Writes content blocks: pi's four types, and a placeholder text for any other. pi sends a block
//! of an unknown type as an image.
//!
//! In: `{"type":"tool_use","id":"t1","name":"Read","input":{"path":"a.rs"}}`. Out:
//! `{"type":"toolCall","id":"t1","name":"Read","arguments":{"path":"a.rs"}}`.

use core_model::{Block, Content, LineId, LossKind, Output, ToolUse};
use jsonl::{Scanner, Text};

/// The text that pi shows for thinking that the API hides.
const REDACTED: &str = "[Reasoning redacted]";

/// Writes a block of a response, other than a tool use.
pub(super) fn put_assistant(out: &mut Output, line: LineId, block: &Block<'_>) {
    match block {
        Block::Text(text) => put_text(out, line, *text),
        Block::Thinking { text, signature } => {
            out.put(line, "{\"type\":\"thinking\",\"thinking\":");
            out.copy_text(line, *text);
            if let Some(signature) = signature {
                out.put(line, ",\"thinkingSignature\":");
                out.copy_text(line, *signature);
            }
            out.put(line, "}");
        }
        Block::RedactedThinking { data } => put_redacted(out, line, *data),
        Block::Other { kind: Some(kind), raw } if kind.is("redacted_thinking") => {
            let mut scanner = Scanner::default();
            let data = scanner.scan_raw(*raw).ok().and_then(|block| block.get("data")?.text());
            match data {
                Some(data) => put_redacted(out, line, data),
                None => put_placeholder(out, line, block),
            }
        }
        // pi's assistant has no images.
        _ => put_placeholder(out, line, block),
    }
}

/// Writes a block of the user, or of a tool result.
pub(super) fn put_user(out: &mut Output, line: LineId, block: &Block<'_>) {
    match block {
        Block::Text(text) => put_text(out, line, *text),
        Block::Image { media_type, data } => {
            out.put(line, "{\"type\":\"image\",\"data\":");
            out.copy_quoted(line, *data);
            out.put(line, ",\"mimeType\":");
            out.copy_media_type(line, *media_type);
            out.put(line, "}");
        }
        Block::Thinking { text, .. } if !text.is_blank() => {
            out.lose(LossKind::Flattened, "thinking");
            put_text(out, line, *text);
        }
        _ => put_placeholder(out, line, block),
    }
}

/// Writes a tool use. An id or a name that the API would refuse is replaced.
pub(super) fn put_call(
    out: &mut Output,
    line: LineId,
    tool: &ToolUse<'_>,
    id: Option<&str>,
    name: Option<&str>,
) {
    out.put(line, "{\"type\":\"toolCall\",\"id\":");
    out.copy_text_or(line, tool.id, id, "tool_use.id");
    out.put(line, ",\"name\":");
    out.copy_tool_name_or(line, tool.name, name);
    out.put(line, ",\"arguments\":");
    out.copy_object_input(line, tool);
    out.put(line, "}");
}

/// Writes the content of a tool result: an array of texts and images.
pub(super) fn put_result_content(out: &mut Output, line: LineId, content: &Content<'_>) {
    out.put(line, "[");
    let mut comma = "";
    if let Content::Other(raw) = content
        && !raw.is_null()
    {
        out.lose(LossKind::Flattened, "tool_result.content");
        out.touch(line);
        out.put(line, "{\"type\":\"text\",\"text\":");
        out.put_string(line, raw.as_str());
        out.put(line, "}");
    }
    for (block, _) in content.blocks() {
        // An empty text is not sent.
        if matches!(block, Block::Text(text) if text.is_empty()) {
            continue;
        }
        out.put(line, comma);
        put_user(out, line, &block);
        comma = ",";
    }
    out.put(line, "]");
}

fn put_text(out: &mut Output, line: LineId, text: Text<'_>) {
    out.put(line, "{\"type\":\"text\",\"text\":");
    out.copy_text(line, text);
    out.put(line, "}");
}

fn put_redacted(out: &mut Output, line: LineId, data: Text<'_>) {
    out.put(line, "{\"type\":\"thinking\",\"thinking\":");
    out.put_string(line, REDACTED);
    out.put(line, ",\"thinkingSignature\":");
    out.copy_text(line, data);
    out.put(line, ",\"redacted\":true}");
}

fn put_placeholder(out: &mut Output, line: LineId, block: &Block<'_>) {
    out.touch(line);
    out.put(line, "{\"type\":\"text\",\"text\":");
    out.put_string(line, &block.placeholder());
    out.put(line, "}");
    out.lose_named(LossKind::Flattened, &format!("block.{}", block.kind()));
}
