//! Writes blocks that the API accepts, with no foreign members.
//!
//! In: `{"type":"text","text":"Hi","mood":"good"}`. Out: `{"type":"text","text":"Hi"}`.

use std::borrow::Cow;

use core_model::{Block, Content, LineId, LossKind, Output, ToolUse};
use jsonl::{Raw, Text};

/// Kinds of blocks that the API accepts as it sent them, beyond the kinds that all formats share.
const API_KINDS: [&str; 16] = [
    "bash_code_execution_tool_result",
    "code_execution_tool_result",
    "container_upload",
    "document",
    "fallback",
    "image",
    "mcp_tool_result",
    "mcp_tool_use",
    "redacted_thinking",
    "search_result",
    "server_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_reference",
    "tool_search_tool_result",
    "web_fetch_tool_result",
    "web_search_tool_result",
];

/// Writes a block other than a tool use, a tool result or unsigned thinking.
pub(super) fn put_block(out: &mut Output, line: LineId, block: &Block<'_>, raw: Raw<'_>) {
    match block {
        Block::Text(text) => {
            out.put(line, "{\"type\":\"text\",\"text\":");
            out.copy_text(line, *text);
            out.put(line, "}");
        }
        Block::Thinking { text, signature } => {
            out.put(line, "{\"type\":\"thinking\",\"thinking\":");
            out.copy_text(line, *text);
            if let Some(signature) = signature {
                out.put(line, ",\"signature\":");
                out.copy_text(line, *signature);
            }
            out.put(line, "}");
        }
        Block::RedactedThinking { data } => {
            out.put(line, "{\"type\":\"redacted_thinking\",\"data\":");
            out.copy_text(line, *data);
            out.put(line, "}");
        }
        Block::Image { media_type, data } => {
            out.put(line, "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":");
            out.copy_quoted(line, *media_type);
            out.put(line, ",\"data\":");
            out.copy_quoted(line, *data);
            out.put(line, "}}");
        }
        Block::Other { kind: Some(kind), raw } if is_api_kind(*kind) => out.copy(line, *raw),
        Block::Other { kind, .. } => put_placeholder(out, line, kind_of(*kind).as_ref()),
        Block::ToolUse(tool) if tool.is_server => put_placeholder(out, line, "server_tool_use"),
        Block::ToolUse(_) | Block::ToolResult(_) => put_placeholder(out, line, ""),
        // A block of an unknown kind becomes a text with its JSON.
        _ => {
            out.lose(LossKind::Flattened, "block");
            out.put(line, "{\"type\":\"text\",\"text\":");
            out.put_string(line, raw.as_str());
            out.put(line, "}");
        }
    }
}

/// Writes a block of the assistant. An image or a document becomes a placeholder, because the API
/// accepts them from the user only.
pub(super) fn put_assistant_block(out: &mut Output, line: LineId, block: &Block<'_>, raw: Raw<'_>) {
    match block {
        Block::Image { .. } => put_placeholder(out, line, "image"),
        Block::Other { kind: Some(kind), .. } if is_of_the_user(*kind) => {
            put_placeholder(out, line, &kind.decode());
        }
        _ => put_block(out, line, block, raw),
    }
}

fn is_of_the_user(kind: Text<'_>) -> bool {
    kind.is("image") || kind.is("document")
}

fn is_api_kind(kind: Text<'_>) -> bool {
    API_KINDS.contains(&&*kind.decode())
}

fn kind_of(kind: Option<Text<'_>>) -> Cow<'_, str> {
    kind.map(|kind| kind.decode()).unwrap_or_default()
}

fn put_placeholder(out: &mut Output, line: LineId, kind: &str) {
    out.put(line, "{\"type\":\"text\",\"text\":");
    let kind = if kind.is_empty() { "block" } else { kind };
    out.lose_named(LossKind::Flattened, &format!("block.{kind}"));
    out.put_string(line, &format!("[{kind}]"));
    out.put(line, "}");
}

/// Writes a tool use. An id or a name that the API would refuse is replaced.
pub(super) fn put_tool_use(
    out: &mut Output,
    line: LineId,
    tool: &ToolUse<'_>,
    id: Option<&str>,
    name: Option<&str>,
) {
    out.put(
        line,
        match tool.is_server {
            true => "{\"type\":\"server_tool_use\",\"id\":",
            false => "{\"type\":\"tool_use\",\"id\":",
        },
    );
    out.copy_text_or(line, tool.id, id, "tool_use.id");
    out.put(line, ",\"name\":");
    out.copy_tool_name_or(line, tool.name, name);
    out.put(line, ",\"input\":");
    out.copy_object_input(line, tool);
    out.put(line, "}");
}

/// Writes the content of a tool result: a string, or an array of blocks.
pub(super) fn put_result_content(out: &mut Output, line: LineId, content: &Content<'_>) {
    match content {
        Content::Text(text) => out.copy_text(line, *text),
        Content::Blocks(blocks) if content.blocks().all(is_as_the_api_has_it) => {
            out.copy(line, blocks.raw());
        }
        Content::Blocks(blocks) => {
            out.put(line, "[");
            let mut comma = "";
            for (block, raw) in *blocks {
                if matches!(block, Block::Text(text) if text.is_empty()) {
                    continue;
                }
                out.put(line, comma);
                put_block(out, line, &block, raw);
                comma = ",";
            }
            out.put(line, "]");
        }
        Content::Other(raw) if !raw.is_null() => {
            out.lose(LossKind::Flattened, "tool_result.content");
            out.put_string(line, raw.as_str());
        }
        Content::Absent | Content::Other(_) => out.put(line, "\"\""),
    }
}

/// Returns whether a block of a result can be written unchanged: it has a type and the members of
/// that type.
fn is_as_the_api_has_it((block, raw): (Block<'_>, Raw<'_>)) -> bool {
    let has = |member: &str| raw.as_str().contains(member);
    match block {
        Block::Text(text) => {
            let is_text = has("\"type\":\"text\"") || has("\"type\": \"text\"");
            !text.is_empty() && is_text && raw.as_str().starts_with('{')
        }
        Block::Image { .. } => has("\"type\"") && has("\"source\""),
        Block::Other { kind: Some(kind), .. } => is_api_kind(kind),
        _ => false,
    }
}

/// Writes the text of a content as one JSON string. Returns `false` if there is no text.
pub(super) fn put_flat(out: &mut Output, line: LineId, content: &Content<'_>) -> bool {
    match content {
        Content::Text(text) if !text.is_empty() => out.copy_text(line, *text),
        Content::Blocks(_) => {
            let texts = content.blocks().filter_map(|(block, _)| match block {
                Block::Text(text) if !text.is_empty() => Some(text),
                _ => None,
            });
            let mut is_empty = true;
            for text in texts {
                out.put(line, if is_empty { "\"" } else { "\\n" });
                out.copy_body(line, text.body());
                is_empty = false;
            }
            if is_empty {
                return false;
            }
            out.put(line, "\"");
        }
        Content::Other(raw) if !raw.is_null() => out.put_string(line, raw.as_str()),
        Content::Text(_) | Content::Absent | Content::Other(_) => return false,
    }
    true
}
