//! Writes the parts of messages: texts and images, and a placeholder text for any other block.
//!
//! In: `{"type":"image","source":{"media_type":"image/png","data":"iVBO.."}}`. Out:
//! `{"type":"input_image","image_url":"data:image/png;base64,iVBO.."}`.

use std::borrow::Cow;

use core_model::{Block, Content, LineId, LossKind, Output, ToolName};
use jsonl::Text;

/// Writes the content of a user's message, or of an output: an array. Tool results are left out.
pub(super) fn put_parts(out: &mut Output, line: LineId, content: &Content<'_>) {
    out.put(line, "[");
    let mut comma = "";
    if let Content::Other(raw) = content
        && !raw.is_null()
    {
        out.lose(LossKind::Flattened, "message.content");
        out.touch(line);
        out.put(line, "{\"type\":\"input_text\",\"text\":");
        out.put_string(line, raw.as_str());
        out.put(line, "}");
    }
    for (block, _) in content.blocks() {
        if matches!(block, Block::ToolResult(_)) {
            continue;
        }
        out.put(line, comma);
        put_part(out, line, &block);
        comma = ",";
    }
    out.put(line, "]");
}

fn put_part(out: &mut Output, line: LineId, block: &Block<'_>) {
    match block {
        Block::Text(text) => {
            out.put(line, "{\"type\":\"input_text\",\"text\":");
            put_text(out, line, *text, "text");
            out.put(line, "}");
        }
        Block::Image { media_type, data } => {
            out.put(line, "{\"type\":\"input_image\",\"image_url\":\"data:");
            out.copy_part(line, *media_type);
            out.put(line, ";base64,");
            out.copy_part(line, *data);
            out.put(line, "\"}");
        }
        Block::Thinking { text, .. } if !text.is_blank() => {
            out.lose(LossKind::Flattened, "thinking");
            out.put(line, "{\"type\":\"input_text\",\"text\":");
            put_text(out, line, *text, "text");
            out.put(line, "}");
        }
        _ => {
            out.put(line, "{\"type\":\"input_text\",\"text\":");
            put_placeholder(out, line, block);
            out.put(line, "}");
        }
    }
}

/// Writes the name of a block that Codex has no place for, as a string.
pub(super) fn put_placeholder(out: &mut Output, line: LineId, block: &Block<'_>) {
    let kind = block.kind();
    out.touch(line);
    out.put_string(line, &block.placeholder());
    out.lose_named(LossKind::Flattened, &format!("block.{kind}"));
}

/// Writes a string. Codex cannot read half a surrogate pair, and skips the line that has one.
pub(super) fn put_text(out: &mut Output, line: LineId, text: Text<'_>, field: &'static str) {
    if text.has_lone_surrogate() {
        out.lose(LossKind::Flattened, field);
        out.touch(line);
        return out.put_string(line, &text.decode());
    }
    out.copy_text(line, text);
}

/// Writes the name of a tool as one string, as other formats and older versions of Codex have it.
pub(super) fn put_tool_name(out: &mut Output, line: LineId, name: ToolName<'_>) {
    match name.as_text() {
        Some(name) => put_text(out, line, name, "tool_use.name"),
        None => out.copy_tool_name(line, name),
    }
}

/// Writes the texts of a content as one string, joined by newlines.
pub(super) fn put_joined(out: &mut Output, line: LineId, content: &Content<'_>) {
    match content {
        Content::Text(text) => put_text(out, line, *text, "text"),
        content => {
            out.touch(line);
            for (block, _) in content.blocks() {
                if !matches!(block, Block::Text(_)) {
                    out.lose_named(LossKind::Dropped, &format!("block.{}", block.kind()));
                }
            }
            out.put_string(line, &content.joined());
        }
    }
}

/// Writes the words of a message as one string, joined by newlines: its texts, its thinking, and the name of each other block.
///
/// In: the text `Done.` and a call of `Bash`. Out: `"Done.\n[tool_use Bash {\"command\":\"ls\"}]"`.
pub(super) fn put_words(out: &mut Output, line: LineId, content: &Content<'_>) {
    let Content::Blocks(_) = content else { return put_joined(out, line, content) };
    let words: Vec<Cow<'_, str>> = content
        .blocks()
        .map(|(block, _)| match block {
            Block::Text(text) => text.decode(),
            Block::Thinking { text, .. } if !text.is_blank() => {
                out.lose(LossKind::Flattened, "thinking");
                text.decode()
            }
            block => {
                out.lose_named(LossKind::Flattened, &format!("block.{}", block.kind()));
                block.placeholder().into()
            }
        })
        .collect();
    out.touch(line);
    out.put_string(line, &words.join("\n"));
}
