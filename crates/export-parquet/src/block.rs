//! Reads the columns of a row from a content block.
//!
//! In: a tool use of `Bash`. Out: `block_type` `tool_use`, `tool_name` `Bash`, `tool_input` as
//! written.

use core_model::{Block, Body, Content, Event, Field, Input, ToolName};
use jsonl::{Raw, Text, TextBuf};

/// Limit in bytes for a text, because a Parquet page holds at most 2 GiB.
pub(crate) const MAX_TEXT: usize = 64 * 1024 * 1024;

/// The columns of a row that depend on its block. Nothing is unescaped yet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Words<'l> {
    pub(crate) block_type: Option<BlockType<'l>>,
    pub(crate) tool_use_id: Option<Text<'l>>,
    pub(crate) tool_name: Option<ToolName<'l>>,
    pub(crate) tool_input: Option<Input<'l>>,
    pub(crate) text: Said<'l>,
    pub(crate) is_error: Option<bool>,
    pub(crate) duration_ms: Option<i64>,
    pub(crate) cost_usd: Option<f64>,
}

/// The type of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BlockType<'l> {
    /// A type that all formats have.
    Common(&'static str),
    /// The format's own word.
    Own(Text<'l>),
}

/// The words of a block or an event.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Said<'l> {
    #[default]
    Nothing,
    Text(Text<'l>),
    /// Another value than a string, as written.
    Value(Raw<'l>),
    /// The texts of a content, joined by newlines.
    Content(Content<'l>),
    /// The subject of a notice, and its words, which follow on the next line.
    About(Text<'l>, Raw<'l>),
}

impl<'l> Said<'l> {
    /// Creates the words of a value: the text of a string, and any other value as written.
    fn of(raw: Raw<'l>) -> Self {
        raw.as_text().map_or(Said::Value(raw), Said::Text)
    }

    /// Returns the words, at most [`MAX_TEXT`], and whether they are cut. Words with escapes are in `buf` then.
    pub(crate) fn read<'b>(&self, buf: &'b mut TextBuf) -> (Option<&'b str>, bool)
    where
        'l: 'b,
    {
        let text = match self {
            Said::Nothing => return (None, false),
            Said::Text(text) => buf.decode(*text),
            Said::Value(raw) => raw.as_str(),
            Said::Content(content) => content.joined_into(buf),
            Said::About(about, words) => {
                buf.clear();
                buf.push_text(*about);
                buf.push_str("\n");
                match words.as_text() {
                    Some(text) => buf.push_text(text),
                    None => buf.push_str(words.as_str()),
                }
                buf.as_str()
            }
        };
        match text.get(..text.floor_char_boundary(MAX_TEXT)) {
            Some(cut) if cut.len() < text.len() => (Some(cut), true),
            _ => (Some(text), false),
        }
    }
}

impl<'l> Words<'l> {
    /// Reads a block.
    pub(crate) fn of_block(block: Block<'l>) -> Self {
        let kind = |kind: &'static str| Some(BlockType::Common(kind));
        match block {
            Block::Text(text) => {
                Words { block_type: kind("text"), text: Said::Text(text), ..Words::default() }
            }
            Block::Thinking { text, .. } => {
                Words { block_type: kind("thinking"), text: Said::Text(text), ..Words::default() }
            }
            Block::ToolUse(tool) => Words {
                block_type: kind(if tool.is_server { "server_tool_use" } else { "tool_use" }),
                tool_use_id: Some(tool.id),
                tool_name: Some(tool.name),
                tool_input: Some(tool.input),
                ..Words::default()
            },
            Block::ToolResult(result) => Words {
                block_type: kind("tool_result"),
                tool_use_id: Some(result.tool_use_id),
                text: Said::Content(result.content),
                is_error: result.is_error.value(),
                duration_ms: result.duration_ms.and_then(whole),
                ..Words::default()
            },
            Block::Image { .. } => Words { block_type: kind("image"), ..Words::default() },
            Block::Other { kind, .. } => {
                Words { block_type: kind.map(BlockType::Own), ..Words::default() }
            }
            _ => Words::default(),
        }
    }

    /// Reads an event without blocks.
    pub(crate) fn of_event(event: &Event<'l>) -> Self {
        match &event.body {
            Body::Notice(notice) => {
                let text = match (notice.about, notice.text) {
                    (Some(about), Some(text)) => Said::About(about, text),
                    (Some(about), None) => Said::Text(about),
                    (None, text) => text.map_or(Said::Nothing, Said::of),
                };
                Words { text, ..Words::default() }
            }
            Body::Title(title) => Words { text: Said::Text(title.text), ..Words::default() },
            Body::ToolCall(call) => Words {
                tool_use_id: Some(call.id),
                tool_name: Some(call.name.into()),
                ..Words::default()
            },
            Body::Outcome(outcome) => Words {
                text: outcome
                    .result
                    .filter(|result| !result.is_null())
                    .map_or(Said::Nothing, Said::of),
                is_error: match outcome.is_error {
                    Field::Value(is_error) => Some(is_error),
                    _ => Some(outcome.status != core_model::Status::Success),
                },
                duration_ms: outcome.duration_ms.and_then(whole),
                cost_usd: outcome.cost.and_then(|cost| cost.as_f64()),
                ..Words::default()
            },
            _ => Words::default(),
        }
    }
}

fn whole(number: Raw<'_>) -> Option<i64> {
    number.as_f64().map(|number| number.round() as i64)
}
