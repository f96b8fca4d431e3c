//! Joins the lines of each response to one message.
//!
//! In: three lines with `"id":"msg_1"`: thinking, text, tool use. Out: one [`Said`] with three
//! blocks.

use std::collections::VecDeque;

use jsonl::{Raw, Text};

use super::{event_millis, thread};
use crate::{Block, Content, Event, Message, Place, Role};

/// A message, from all its lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// The speaker.
    pub role: Role,
    /// The API's id of the response.
    pub id: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The sub-agent of its conversation, as [`thread`] returns it.
    pub thread: Option<String>,
    /// Whether the client wrote it on its own.
    pub is_meta: bool,
    /// Whether it is the summary of a compaction.
    pub is_summary: bool,
    /// Whether it represents a failed request.
    pub is_api_error: bool,
    /// Whether it is a prompt, which opens an interaction.
    pub is_prompt: bool,
    /// The first line.
    pub first: Place,
    /// The last line.
    pub last: Place,
    /// The number of lines.
    pub n_lines: u64,
    /// The time of the first line, in milliseconds since 1970.
    pub start: Option<i64>,
    /// The time of the last line, in milliseconds since 1970.
    pub end: Option<i64>,
    /// The blocks of all lines.
    pub blocks: Vec<SaidBlock>,
}

/// A piece of a message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SaidBlock {
    /// Text.
    Text(String),
    /// The model's thinking; often empty.
    Thinking(String),
    /// A tool use.
    ToolUse {
        /// The id.
        id: String,
        /// The name of the tool.
        name: String,
        /// The input as written.
        input: String,
    },
    /// A tool result.
    ToolResult {
        /// The id of the tool use.
        tool_use_id: String,
        /// Whether the tool failed.
        is_error: Option<bool>,
        /// The output of the tool. Content other than text and images is `Other`.
        content: Vec<SaidBlock>,
    },
    /// An image in base64.
    Image {
        /// The media type, such as `image/png`.
        media_type: String,
        /// The image in base64.
        data: String,
    },
    /// Anything else.
    Other {
        /// The block's `type`, if it has one.
        kind: Option<String>,
        /// The block as written.
        raw: String,
    },
}

impl SaidBlock {
    /// Returns the blocks of a content. A string is one text block.
    ///
    /// ```
    /// use core_model::{Content, SaidBlock};
    ///
    /// let text = jsonl::Text::new("\"caf\\u00e9\"").expect("a string");
    /// assert_eq!(SaidBlock::all(&Content::Text(text)), [SaidBlock::Text("café".to_owned())]);
    /// ```
    pub fn all(content: &Content<'_>) -> Vec<Self> {
        said_blocks(content, false).collect()
    }
}

/// Limit for messages that wait for the end of a response. No response calls as many tools.
const MAX_WAITING: usize = 1024;

/// View that joins the lines of each response. Its memory is that of a response and its results.
///
/// A response ends before the next message that is not a result of one of its tool uses. Its lines
/// may be between the results; they are still one message, before the results.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    /// A response that may continue, and the messages since.
    waiting: VecDeque<Said>,
}

impl Messages {
    /// Adds an event, and returns the complete messages in the order of their first lines.
    pub fn push(&mut self, place: Place, event: &Event<'_>) -> Vec<Said> {
        let Some(message) = event.message() else { return Vec::new() };
        let id = message.id.map(|id| id.decode().into_owned());
        let thread = thread(event);
        let is_assistant = message.role == Role::Assistant;
        let has_room = self.waiting.len() < MAX_WAITING;
        let open = self.waiting.front_mut().filter(|open| open.thread == thread);
        match open {
            Some(open) if is_assistant && id.is_some() && open.id == id => {
                open.add(place, event, message);
                return Vec::new();
            }
            Some(_) if !is_assistant && is_results(message) && has_room => {
                self.waiting.push_back(Said::new(place, event, message, id, thread));
                return Vec::new();
            }
            _ => {}
        }
        let mut complete: Vec<Said> = self.waiting.drain(..).collect();
        let said = Said::new(place, event, message, id, thread);
        if is_assistant && said.id.is_some() {
            self.waiting.push_back(said);
        } else {
            complete.push(said);
        }
        complete
    }

    /// Returns the messages that the end of the session completes.
    pub fn finish(self) -> Vec<Said> {
        self.waiting.into()
    }
}

/// Returns whether a message contains only tool results.
fn is_results(message: &Message<'_>) -> bool {
    let mut blocks = message.blocks().peekable();
    blocks.peek().is_some() && blocks.all(|(block, _)| matches!(block, Block::ToolResult(_)))
}

impl Said {
    fn new(
        place: Place,
        event: &Event<'_>,
        message: &Message<'_>,
        id: Option<String>,
        thread: Option<String>,
    ) -> Self {
        let time = event_millis(event);
        let mut said = Self {
            role: message.role,
            id,
            model: None,
            thread,
            is_meta: message.is_meta,
            is_summary: message.is_summary,
            is_api_error: false,
            is_prompt: event.is_prompt(),
            first: place,
            last: place,
            n_lines: 0,
            start: time,
            end: time,
            blocks: Vec::new(),
        };
        said.add(place, event, message);
        said
    }

    fn add(&mut self, place: Place, event: &Event<'_>, message: &Message<'_>) {
        self.last = place;
        self.n_lines += 1;
        self.end = event_millis(event).or(self.end);
        self.is_api_error |= message.is_api_error;
        if self.model.is_none() {
            self.model = message.model.map(owned);
        }
        self.blocks.extend(said_blocks(&message.content, false));
    }
}

fn said_blocks<'l>(
    content: &Content<'l>,
    in_result: bool,
) -> impl Iterator<Item = SaidBlock> + use<'l> {
    let other = match content {
        Content::Other(raw) if !raw.is_null() => Some(other(None, *raw)),
        _ => None,
    };
    let blocks = content.blocks().map(move |(block, raw)| said_block(block, raw, in_result));
    other.into_iter().chain(blocks)
}

/// The API's type of a block with encrypted thinking.
const REDACTED: &str = "redacted_thinking";

fn said_block(block: Block<'_>, raw: Raw<'_>, in_result: bool) -> SaidBlock {
    match block {
        Block::Text(text) => SaidBlock::Text(owned(text)),
        Block::Image { media_type, data } => SaidBlock::Image {
            media_type: media_type.decode().into_owned(),
            data: data.decode().into_owned(),
        },
        // Results contain text and images. Other content could be nested without limit.
        _ if in_result => other(None, raw),
        Block::Thinking { text, .. } => SaidBlock::Thinking(owned(text)),
        Block::ToolUse(tool) => SaidBlock::ToolUse {
            id: owned(tool.id),
            name: tool.name.decode().into_owned(),
            input: tool.input.json().to_string(),
        },
        Block::ToolResult(result) => SaidBlock::ToolResult {
            tool_use_id: owned(result.tool_use_id),
            is_error: result.is_error.value(),
            content: said_blocks(&result.content, true).collect(),
        },
        Block::RedactedThinking { .. } => {
            SaidBlock::Other { kind: Some(REDACTED.to_owned()), raw: raw.as_str().to_owned() }
        }
        Block::Other { kind, raw } => other(kind, raw),
    }
}

fn other(kind: Option<Text<'_>>, raw: Raw<'_>) -> SaidBlock {
    SaidBlock::Other { kind: kind.map(owned), raw: raw.as_str().to_owned() }
}

fn owned(text: Text<'_>) -> String {
    text.decode().into_owned()
}
