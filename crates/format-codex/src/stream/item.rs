//! Reads the items of a stream as blocks.
//!
//! In: the line of a `mcp_tool_call`. Out: a [`ToolUse`] with its arguments, and a [`ToolResult`]
//! with the content of its result.

use core_model::{Block, Content, Field, Input, ToolResult, ToolUse};
use jsonl::{Text, Value};

use crate::read_block;

/// The item of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item<'l> {
    /// The line.
    pub(super) line: Value<'l>,
    value: Value<'l>,
    /// The id, which is unique in one run of the client.
    pub(super) id: Text<'l>,
    pub(super) kind: Kind,
    pub(super) kind_text: Text<'l>,
    /// Whether the line is the last one about the item.
    pub(super) is_completed: bool,
}

/// The type of an item.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    AgentMessage,
    Reasoning,
    CommandExecution,
    FileChange,
    McpToolCall,
    CollabToolCall,
    WebSearch,
    TodoList,
    Error,
    Other,
}

impl<'l> Item<'l> {
    /// Reads the item of a line; `None` if the line has none with an id and a type.
    pub(super) fn decode(line: Value<'l>) -> Option<Self> {
        let value = line.get("item")?;
        let kind_text = value.get("type")?.text()?;
        let kind = match &*kind_text.decode() {
            "agent_message" => Kind::AgentMessage,
            "reasoning" => Kind::Reasoning,
            "command_execution" => Kind::CommandExecution,
            "file_change" => Kind::FileChange,
            "mcp_tool_call" => Kind::McpToolCall,
            "collab_tool_call" => Kind::CollabToolCall,
            "web_search" => Kind::WebSearch,
            "todo_list" => Kind::TodoList,
            "error" => Kind::Error,
            _ => Kind::Other,
        };
        let is_completed = line.get("type")?.text()?.is("item.completed");
        // 0.169 writes `id` twice in a search: its own and, after it, the API's. The last one counts,
        // as for every JSON reader.
        let id = value.get("id")?.text()?;
        Some(Self { line, value, id, kind, kind_text, is_completed })
    }

    pub(super) fn text(&self, name: &str) -> Option<Text<'l>> {
        self.value.get(name)?.text()
    }

    /// Returns the call; `None` if the item is none, or lacks a member.
    pub(super) fn tool_use(&self) -> Option<ToolUse<'l>> {
        let member =
            |name: &'static str, of: &str| Some(Input::Member(name, self.value.get(of)?.raw()));
        let (name, input) = match self.kind {
            Kind::CommandExecution => (constant("\"exec_command\"")?, member("cmd", "command")?),
            Kind::FileChange => (constant("\"apply_patch\"")?, member("changes", "changes")?),
            Kind::TodoList => (constant("\"update_plan\"")?, member("items", "items")?),
            Kind::WebSearch => (constant("\"web_search_call\"")?, member("query", "query")?),
            Kind::CollabToolCall => (self.text("tool")?, member("prompt", "prompt")?),
            Kind::McpToolCall => {
                (self.text("tool")?, Input::Json(self.value.get("arguments")?.raw()))
            }
            _ => return None,
        };
        // The API runs a search, but its result is not in the stream, and no client sends a call of
        // the API without a result. So it is a call of the client, and has the name of Codex's item:
        // `web_search` is a tool of Anthropic's API.
        Some(ToolUse { id: self.id, name: name.into(), input, is_server: false })
    }

    /// Returns whether the item is a call with its result.
    pub(super) fn is_answered(&self) -> bool {
        let is_running = || self.text("status").is_some_and(|status| status.is("in_progress"));
        self.is_completed && !is_running() && self.tool_use().is_some()
    }

    fn tool_result(&self) -> ToolResult<'l> {
        let member = |name| self.value.get(name).filter(|value| !value.is_null());
        let content = match self.kind {
            Kind::CommandExecution => Content::new(member("aggregated_output"), read_block),
            Kind::McpToolCall => match (member("result"), member("error")) {
                (None, Some(error)) => Content::new(error.get("message"), read_block),
                (result, _) => {
                    Content::new(result.and_then(|result| result.get("content")), read_block)
                }
            },
            _ => Content::Absent,
        };
        let failed = match member("exit_code").map(|code| code.raw().as_str() != "0") {
            Some(failed) => Field::Value(failed),
            None => match self.text("status") {
                Some(status) => {
                    Field::Value(["failed", "declined"].iter().any(|word| status.is(word)))
                }
                None => Field::Absent,
            },
        };
        ToolResult::new(self.id, content, failed)
    }
}

/// Returns a constant JSON string.
fn constant(written: &'static str) -> Option<Text<'static>> {
    Text::new(written)
}

/// Reads the text of a line with an `agent_message`.
pub(super) fn read_text(line: Value<'_>) -> Block<'_> {
    block(line, |item| item.text("text").map(Block::Text))
}

/// Reads the thinking of a line with a `reasoning`.
pub(super) fn read_thinking(line: Value<'_>) -> Block<'_> {
    block(line, |item| Some(Block::Thinking { text: item.text("text")?, signature: None }))
}

/// Reads the call of a line.
pub(super) fn read_call(line: Value<'_>) -> Block<'_> {
    block(line, |item| item.tool_use().map(Block::ToolUse))
}

/// Reads the result of the call of a line.
pub(super) fn read_result(line: Value<'_>) -> Block<'_> {
    block(line, |item| Some(Block::ToolResult(item.tool_result())))
}

fn block<'l>(line: Value<'l>, read: impl FnOnce(&Item<'l>) -> Option<Block<'l>>) -> Block<'l> {
    let item = Item::decode(line);
    let kind = item.map(|item| item.kind_text);
    item.and_then(|item| read(&item)).unwrap_or(Block::Other { kind, raw: line.raw() })
}
