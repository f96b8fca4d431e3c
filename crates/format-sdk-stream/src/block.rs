//! Reads the blocks of a message: by `type` on the wire, by their members in a dump.
//!
//! In: `{"id": "t1", "name": "Bash", "input": {}}`. Out: [`Block::ToolUse`].

use core_model::{Block, Content, Field, Input, ToolResult, ToolUse};
use jsonl::Value;

/// Tools that the API itself runs. In a dump, only their names distinguish them (SDK 0.2.187).
const SERVER_TOOLS: [&str; 8] = [
    "advisor",
    "web_search",
    "web_fetch",
    "code_execution",
    "bash_code_execution",
    "text_editor_code_execution",
    "tool_search_tool_regex",
    "tool_search_tool_bm25",
];

/// Reads a block of either flavor. A block without a required member is [`Block::Other`].
pub fn read_block(value: Value<'_>) -> Block<'_> {
    if let Some(text) = value.text() {
        return Block::Text(text);
    }
    let kind = value.get("type").and_then(|kind| kind.text());
    let name = kind.map(|kind| kind.decode());
    let block = match name.as_deref() {
        Some("text") => text(value),
        Some("thinking") => thinking(value),
        Some("tool_use") => tool_use(value, false),
        Some("server_tool_use") => tool_use(value, true),
        Some("tool_result") => tool_result(value),
        Some("image") => image(value),
        Some(_) => None,
        None => untyped(value),
    };
    block.unwrap_or(Block::Other { kind, raw: value.raw() })
}

fn untyped(value: Value<'_>) -> Option<Block<'_>> {
    let [thought, tool_use_id, is_error, content, name] =
        value.get_all(["thinking", "tool_use_id", "is_error", "content", "name"]);
    if thought.is_some() {
        return thinking(value);
    }
    if tool_use_id.is_some() {
        let is_server = is_error.is_none() && content.is_some_and(|content| content.is_object());
        return if is_server { None } else { tool_result(value) };
    }
    let is_server = name
        .and_then(|name| name.text())
        .is_some_and(|name| SERVER_TOOLS.iter().any(|server| name.is(server)));
    tool_use(value, is_server).or_else(|| text(value))
}

fn text(value: Value<'_>) -> Option<Block<'_>> {
    value.get("text")?.text().map(Block::Text)
}

fn thinking(value: Value<'_>) -> Option<Block<'_>> {
    let text = value.get("thinking")?.text()?;
    let signature = value.get("signature").and_then(|signature| signature.text());
    Some(Block::Thinking { text, signature })
}

fn tool_use(value: Value<'_>, is_server: bool) -> Option<Block<'_>> {
    let [id, name, input] = value.get_all(["id", "name", "input"]);
    let (id, name, input) = (id?.text()?, name?.text()?, Input::Json(input?.raw()));
    Some(Block::ToolUse(ToolUse { id, name: name.into(), input, is_server }))
}

fn tool_result(value: Value<'_>) -> Option<Block<'_>> {
    let [id, content, is_error] = value.get_all(["tool_use_id", "content", "is_error"]);
    let (id, content) = (id?.text()?, Content::new(content, read_block));
    let is_error = match is_error {
        None => Field::Absent,
        Some(is_error) => is_error.bool().map_or(Field::Null, Field::Value),
    };
    Some(Block::ToolResult(ToolResult::new(id, content, is_error)))
}

fn image(value: Value<'_>) -> Option<Block<'_>> {
    let source = value.get("source")?;
    let media_type = source.get("media_type")?.text()?;
    let data = source.get("data")?.text()?;
    Some(Block::Image { media_type: media_type.into(), data: data.into() })
}
