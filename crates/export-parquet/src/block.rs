//! Reads the columns of a row from a content block.
//!
//! In: a tool use of `Bash`. Out: `block_type` `tool_use`, `tool_name` `Bash`, `tool_input` as
//! written.

use std::borrow::Cow;

use core_model::{Block, Body, Event, Field};
use jsonl::Raw;

/// Limit in bytes for a text, because a Parquet page holds at most 2 GiB.
const MAX_TEXT: usize = 64 * 1024 * 1024;

/// The columns of a row that depend on its block.
#[derive(Debug, Default)]
pub(crate) struct Words<'l> {
    pub(crate) block_type: Option<Cow<'l, str>>,
    pub(crate) tool_use_id: Option<Cow<'l, str>>,
    pub(crate) tool_name: Option<Cow<'l, str>>,
    pub(crate) tool_input: Option<Cow<'l, str>>,
    pub(crate) text: Option<Cow<'l, str>>,
    pub(crate) is_error: Option<bool>,
    pub(crate) duration_ms: Option<i64>,
    pub(crate) cost_usd: Option<f64>,
    /// Whether a text was cut at the limit.
    pub(crate) is_cut: bool,
}

impl<'l> Words<'l> {
    /// Reads a block.
    pub(crate) fn of_block(block: Block<'l>) -> Self {
        let kind = |kind: &'static str| Some(Cow::Borrowed(kind));
        match block {
            Block::Text(text) => {
                Words { block_type: kind("text"), text: Some(text.decode()), ..Words::default() }
            }
            Block::Thinking { text, .. } => {
                let text = Some(text.decode());
                Words { block_type: kind("thinking"), text, ..Words::default() }
            }
            Block::ToolUse(tool) => Words {
                block_type: kind(if tool.is_server { "server_tool_use" } else { "tool_use" }),
                tool_use_id: Some(tool.id.decode()),
                tool_name: Some(tool.name.decode()),
                tool_input: Some(tool.input.json().into()),
                ..Words::default()
            },
            Block::ToolResult(result) => Words {
                block_type: kind("tool_result"),
                tool_use_id: Some(result.tool_use_id.decode()),
                text: Some(result.content.joined()),
                is_error: result.is_error.value(),
                duration_ms: result.duration_ms.and_then(whole),
                ..Words::default()
            },
            Block::Image { .. } => Words { block_type: kind("image"), ..Words::default() },
            Block::Other { kind, .. } => {
                Words { block_type: kind.map(|kind| kind.decode()), ..Words::default() }
            }
            _ => Words::default(),
        }
        .cut()
    }

    /// Reads an event without blocks.
    pub(crate) fn of_event(event: &Event<'l>) -> Self {
        match &event.body {
            Body::Notice(notice) => {
                let text = notice.text.map(words);
                let text = match (notice.about, text) {
                    (Some(about), Some(text)) => Some(format!("{}\n{text}", about.decode()).into()),
                    (Some(about), None) => Some(about.decode()),
                    (None, text) => text,
                };
                Words { text, ..Words::default() }
            }
            Body::Title(title) => Words { text: Some(title.text.decode()), ..Words::default() },
            Body::ToolCall(call) => Words {
                tool_use_id: Some(call.id.decode()),
                tool_name: Some(call.name.decode()),
                ..Words::default()
            },
            Body::Outcome(outcome) => Words {
                text: outcome.result.filter(|result| !result.is_null()).map(words),
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
        .cut()
    }

    fn cut(mut self) -> Self {
        if let Some(text) = self.text.as_mut().filter(|text| text.len() > MAX_TEXT) {
            let length = text.floor_char_boundary(MAX_TEXT);
            text.to_mut().truncate(length);
            self.is_cut = true;
        }
        self.is_cut |= self.tool_input.take_if(|input| input.len() > MAX_TEXT).is_some();
        self
    }
}

/// Returns the decoded text of a string; any other value as written.
fn words(raw: Raw<'_>) -> Cow<'_, str> {
    raw.as_text().map_or(Cow::Borrowed(raw.as_str()), |text| text.decode())
}

fn whole(number: Raw<'_>) -> Option<i64> {
    number.as_f64().map(|number| number.round() as i64)
}
