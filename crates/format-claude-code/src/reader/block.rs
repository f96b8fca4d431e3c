//! Reads the blocks of messages and of tool results.
//!
//! In: `{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}`. Out:
//! [`Block::ToolUse`] with the input as written.

use core_model::{Block, Content, Field, Input, ToolResult, ToolUse};
use jsonl::{Text, Value};

/// Reads a block of a message or of a tool result.
pub(crate) fn block(value: Value<'_>) -> Block<'_> {
    if let Some(text) = value.text() {
        return Block::Text(text);
    }
    let mut members = BlockMembers::default();
    members.find(value);
    members.read().unwrap_or(Block::Other { kind: members.kind, raw: value.raw() })
}

/// Reads a tool result.
pub(super) fn result_block(value: Value<'_>) -> Block<'_> {
    let mut members = BlockMembers::default();
    members.find(value);
    members.result().unwrap_or(Block::Other { kind: members.kind, raw: value.raw() })
}

/// Reads an unsigned thought: a string.
pub(super) fn unsigned(value: Value<'_>) -> Block<'_> {
    match value.text() {
        Some(text) => Block::Thinking { text, signature: None },
        None => Block::Other { kind: None, raw: value.raw() },
    }
}

#[derive(Clone, Copy, Default)]
struct BlockMembers<'l> {
    kind: Option<Text<'l>>,
    text: Option<Text<'l>>,
    thinking: Option<Text<'l>>,
    signature: Option<Text<'l>>,
    id: Option<Text<'l>>,
    name: Option<Text<'l>>,
    input: Option<Value<'l>>,
    tool_use_id: Option<Text<'l>>,
    content: Option<Value<'l>>,
    is_error: Field<bool>,
    source: Option<Value<'l>>,
}

impl<'l> BlockMembers<'l> {
    /// Finds the members of a block. They are stored in place, because moving the struct costs as
    /// much as finding them.
    fn find(&mut self, block: Value<'l>) {
        let found = self;
        block.read_members(|key, value| {
            match key {
                b"type" => found.kind = value.text(),
                b"text" => found.text = value.text(),
                b"thinking" => found.thinking = value.text(),
                b"signature" => found.signature = value.text(),
                b"id" => found.id = value.text(),
                b"name" => found.name = value.text(),
                b"input" => found.input = Some(value),
                b"tool_use_id" => found.tool_use_id = value.text(),
                b"content" => found.content = Some(value),
                b"source" => found.source = Some(value),
                b"is_error" => {
                    found.is_error = match value.bool() {
                        Some(bool) => Field::Value(bool),
                        None if value.is_null() => Field::Null,
                        None => Field::Absent,
                    }
                }
                _ => return false,
            }
            true
        });
    }

    /// Returns the block; `None` if a required member is missing.
    fn read(&self) -> Option<Block<'l>> {
        match &*self.kind?.decode() {
            "text" => Some(Block::Text(self.text?)),
            "thinking" => Some(Block::Thinking { text: self.thinking?, signature: self.signature }),
            "tool_use" => self.tool_use(false),
            "server_tool_use" => self.tool_use(true),
            "tool_result" => self.result(),
            "image" => self.image(),
            _ => None,
        }
    }

    fn tool_use(&self, is_server: bool) -> Option<Block<'l>> {
        let input = Input::Json(self.input?.raw());
        Some(Block::ToolUse(ToolUse { id: self.id?, name: self.name?.into(), input, is_server }))
    }

    fn result(&self) -> Option<Block<'l>> {
        let content = Content::new(self.content, block);
        Some(Block::ToolResult(ToolResult::new(self.tool_use_id?, content, self.is_error)))
    }

    fn image(&self) -> Option<Block<'l>> {
        let source = self.source?;
        let is_base64 = source.get("type")?.text()?.is("base64");
        let media_type = source.get("media_type")?.text()?;
        let data = source.get("data")?.text()?;
        let (media_type, data) = (media_type.into(), data.into());
        is_base64.then_some(Block::Image { media_type, data })
    }
}
