//! Writes blocks of other formats as blocks of a stream.
//!
//! In: a text block. Out: `{"text": "Hi"}` in a dump, `{"type":"text","text":"Hi"}` on the wire.

use core_model::{Block, Content, Event, Field, LossKind, Message, Role, ToolResult, ToolUse};
use jsonl::{Raw, Text};

use crate::{compose::Composer, record::Flavor, speech::Manner};

/// Appends the content of a message as an array of blocks.
pub(crate) fn blocks(
    manner: Manner,
    line: &mut Composer<'_>,
    event: &Event<'_>,
    message: &Message<'_>,
) {
    if let Content::Other(_) = message.content {
        line.lose(LossKind::Dropped, "message.content");
    }
    let is_api = event.vocabulary.has_api_blocks;
    // Blocks in an array have the API's form. On the wire they are copied as they are.
    let is_api_form = is_api
        && matches!(message.content, Content::Blocks(blocks) if blocks.raw().as_str().starts_with('['));
    line.array("content");
    for (block, raw) in message.blocks() {
        match manner.flavor {
            Flavor::Dump => dumped_block(manner, line, block, message.role, is_api),
            Flavor::Wire => wire_block(line, block, raw, (is_api, is_api_form)),
        }
    }
    line.end("]");
}

fn dumped_block(
    manner: Manner,
    line: &mut Composer<'_>,
    block: Block<'_>,
    role: Role,
    is_api: bool,
) {
    match block {
        Block::Text(text) => {
            line.item();
            line.copy("text", Raw::from(text));
            line.end("}");
        }
        Block::Thinking { text, signature } if role == Role::Assistant => {
            line.item();
            thinking(line, text, signature);
            line.end("}");
        }
        Block::ToolUse(tool) if tool.is_server && manner.is_old_dump() => {
            line.lose(LossKind::Dropped, "block.server_tool_use");
        }
        Block::ToolUse(tool) => {
            line.item();
            tool_use(line, &tool);
            line.end("}");
        }
        Block::ToolResult(result) => {
            line.item();
            tool_result(line, &result, is_api);
            match result.is_error {
                Field::Value(is_error) => line.put("is_error", boolean(is_error)),
                Field::Null => line.put("is_error", "null"),
                Field::Absent => {
                    line.put("is_error", "null");
                    line.lose(LossKind::Flattened, "tool_result.is_error");
                }
            }
            line.end("}");
        }
        Block::Thinking { .. } => line.lose(LossKind::Dropped, "thinking"),
        Block::RedactedThinking { .. } => {
            lose_named_block(line, LossKind::Dropped, Some("redacted_thinking"));
        }
        Block::Image { .. } => line.lose(LossKind::Dropped, "block.image"),
        Block::Other { kind, .. } => lose_block(line, LossKind::Dropped, kind),
        _ => line.lose(LossKind::Dropped, "block"),
    }
}

/// Writes a block. `is_api` is whether the source has the API's blocks, and `is_api_form` whether
/// the message has an array of them.
fn wire_block(
    line: &mut Composer<'_>,
    block: Block<'_>,
    raw: Raw<'_>,
    (is_api, is_api_form): (bool, bool),
) {
    let is_api_form = is_api_form && raw.as_str().starts_with('{');
    match block {
        Block::Text(_) | Block::ToolUse(_) | Block::ToolResult(_) if is_api_form => {
            line.copy_item(raw);
        }
        Block::Thinking { signature: Some(_), .. } if is_api_form => line.copy_item(raw),
        // The SDK would refuse the line if such a block lacked a member.
        Block::Other { kind: Some(kind), .. }
            if is_api_form && !KNOWN_TYPES.iter().any(|known| kind.is(known)) =>
        {
            line.copy_item(raw);
        }
        Block::Text(text) => {
            typed(line, "text");
            line.copy("text", Raw::from(text));
            line.end("}");
        }
        Block::Thinking { text, signature } => {
            typed(line, "thinking");
            thinking(line, text, signature);
            line.end("}");
        }
        Block::RedactedThinking { data } => {
            typed(line, "redacted_thinking");
            line.copy("data", Raw::from(data));
            line.end("}");
        }
        Block::ToolUse(tool) => {
            typed(line, if tool.is_server { "server_tool_use" } else { "tool_use" });
            tool_use(line, &tool);
            line.end("}");
        }
        Block::ToolResult(result) => {
            typed(line, "tool_result");
            tool_result(line, &result, is_api);
            if let Field::Value(is_error) = result.is_error {
                line.put("is_error", boolean(is_error));
            }
            line.end("}");
        }
        Block::Image { media_type, data } => {
            typed(line, "image");
            line.object("source");
            line.string("type", "base64");
            line.copy_quoted("media_type", media_type);
            line.copy_quoted("data", data);
            line.end("}");
            line.end("}");
        }
        Block::Other { kind, .. } => {
            let kind = kind.map(|kind| kind.decode());
            typed(line, "text");
            line.string("text", &format!("[{}]", kind.as_deref().unwrap_or("unknown")));
            line.end("}");
            lose_named_block(line, LossKind::Flattened, kind.as_deref());
        }
        _ => line.lose(LossKind::Dropped, "block"),
    }
}

/// Types of blocks whose members the SDK checks.
const KNOWN_TYPES: [&str; 6] =
    ["text", "thinking", "tool_use", "tool_result", "server_tool_use", "advisor_tool_result"];

fn typed(line: &mut Composer<'_>, kind: &str) {
    line.item();
    line.string("type", kind);
}

fn thinking(line: &mut Composer<'_>, text: Text<'_>, signature: Option<Text<'_>>) {
    line.copy("thinking", Raw::from(text));
    match signature {
        Some(signature) => line.copy("signature", Raw::from(signature)),
        None => {
            line.put("signature", "\"\"");
            line.lose(LossKind::Invented, "thinking.signature");
        }
    }
}

fn tool_use(line: &mut Composer<'_>, tool: &ToolUse<'_>) {
    line.copy("id", Raw::from(tool.id));
    match tool.name.as_text() {
        Some(name) => line.copy("name", Raw::from(name)),
        None => line.string("name", &tool.name.decode()),
    }
    line.copy("input", tool.input.json().raw());
}

fn tool_result(line: &mut Composer<'_>, result: &ToolResult<'_>, is_api: bool) {
    line.copy("tool_use_id", Raw::from(result.tool_use_id));
    match result.content {
        Content::Absent => line.put("content", "null"),
        Content::Text(text) => line.copy("content", Raw::from(text)),
        Content::Blocks(blocks) if is_api || has_only_texts(&result.content) => {
            line.copy("content", blocks.raw());
        }
        Content::Blocks(blocks) => {
            line.array("content");
            for (block, raw) in blocks {
                // A result in a result could nest without limit.
                if !matches!(block, Block::ToolResult(_)) {
                    wire_block(line, block, raw, (false, false));
                }
            }
            line.end("]");
        }
        Content::Other(raw) => line.copy("content", raw),
    }
    if result.duration_ms.is_some() {
        line.lose(LossKind::Dropped, "tool_result.duration_ms");
    }
    let file = result.file;
    for (is_there, field) in [
        (file.path.is_some(), "tool_result.path"),
        (file.content_hash.is_some(), "tool_result.content_hash"),
        (file.mtime_nanos.is_some(), "tool_result.mtime_nanos"),
    ] {
        if is_there {
            line.lose(LossKind::Dropped, field);
        }
    }
}

/// Returns whether all blocks of a content are texts of the API's type.
fn has_only_texts(content: &Content<'_>) -> bool {
    content.blocks().all(|(block, raw)| {
        let is_written = |start: &str| raw.as_str().contains(start);
        matches!(block, Block::Text(_))
            && ["\"type\":\"text\"", "\"type\": \"text\""].into_iter().any(is_written)
    })
}

fn boolean(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

/// Counts a lost block under its type.
pub(crate) fn lose_block(line: &mut Composer<'_>, loss: LossKind, kind: Option<Text<'_>>) {
    lose_named_block(line, loss, kind.map(|kind| kind.decode()).as_deref());
}

/// Counts a lost block under the name of its type.
pub(crate) fn lose_named_block(line: &mut Composer<'_>, loss: LossKind, kind: Option<&str>) {
    line.out.lose_named(loss, &format!("block.{}", kind.unwrap_or("block")));
}
