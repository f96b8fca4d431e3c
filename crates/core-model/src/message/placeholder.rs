//! The name of a block's kind, and the words in its place in a format that has no such block.
//!
//! In: `{"type":"server_tool_use","id":"t","name":"web_search","input":{"query":"rust"}}`. Out: the kind
//! `server_tool_use`, and the words `[server_tool_use web_search {"query":"rust"}]`.

use std::borrow::Cow;

use jsonl::Scanner;

use crate::Block;

/// Limit in bytes for the input of a tool in its placeholder. A longer input is left out.
const MAX_INPUT: usize = 1024;

impl<'l> Block<'l> {
    /// Returns the name of the kind, as reports have it after `block.`; `block` if there is none.
    pub fn kind(&self) -> Cow<'l, str> {
        Cow::Borrowed(match self {
            Block::Text(_) => "text",
            Block::Thinking { .. } | Block::RedactedThinking { .. } => "thinking",
            Block::ToolUse(tool) if tool.is_server => "server_tool_use",
            Block::ToolUse(_) => "tool_use",
            Block::ToolResult(_) => "tool_result",
            Block::Image { .. } => "image",
            Block::Other { kind: Some(kind), .. } if !kind.is_empty() => return kind.decode(),
            Block::Other { .. } => "block",
        })
    }

    /// Returns the words in place of a block that the target has no place for: its kind in brackets, with the name of a
    /// tool that a search for tools found, or the name and the input of a tool use. A longer input than 1 KiB is left
    /// out.
    ///
    /// ```text
    /// {"type":"document",..}                                             [document]
    /// {"type":"tool_reference","tool_name":"WebFetch"}                   [tool_reference WebFetch]
    /// {"type":"server_tool_use","name":"web_search","input":{"q":"a"}}   [server_tool_use web_search {"q":"a"}]
    /// {"type":"tool_use","name":"Bash","input":{"command":"ls"}}         [tool_use Bash {"command":"ls"}]
    /// ```
    pub fn placeholder(&self) -> String {
        let kind = self.kind();
        match self {
            Block::ToolUse(tool) => {
                let (name, input) = (tool.name.decode(), tool.input.json());
                let words = input.raw().as_str();
                if words.len() > MAX_INPUT || words.contains('\n') {
                    return format!("[{kind} {name}]");
                }
                format!("[{kind} {name} {words}]")
            }
            Block::Other { raw, .. } if kind == "tool_reference" => {
                let mut scanner = Scanner::default();
                let block = scanner.scan_raw(*raw).ok();
                match block.and_then(|block| block.get("tool_name")?.text()) {
                    Some(name) => format!("[{kind} {}]", name.decode()),
                    None => format!("[{kind}]"),
                }
            }
            _ => format!("[{kind}]"),
        }
    }
}
