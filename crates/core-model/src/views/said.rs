//! The messages of a session, the lines of a response joined.

use std::collections::VecDeque;

use jsonl::{Raw, Text};

use super::{event_millis, thread};
use crate::{Block, Content, Event, Message, Place, Role};

/// A message, of all its lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// Who speaks.
    pub role: Role,
    /// The API's id of the response.
    pub id: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The sub-agent in whose conversation it is said, as [`thread`] has it.
    pub thread: Option<String>,
    /// Whether the client wrote it on its own.
    pub is_meta: bool,
    /// Whether it sums up what a compaction removed.
    pub is_summary: bool,
    /// Whether it stands for a failed request.
    pub is_api_error: bool,
    /// Whether somebody asked it: it opens an interaction.
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
    /// Words.
    Text(String),
    /// The model's reasoning; often empty.
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
        /// Whether it says that the tool failed.
        is_error: Option<bool>,
        /// What the tool returned; what is no text and no picture in it is `Other`.
        content: Vec<SaidBlock>,
    },
    /// A picture in base64.
    Image {
        /// The media type, such as `image/png`.
        media_type: String,
        /// The picture in base64.
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
    /// Returns the blocks of a content; of a string, one text block.
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

/// The number of messages that wait for a response to end: no response calls that many tools.
const MAX_WAITING: usize = 1024;

/// Joins the lines of each response; its memory is that of a response and its results.
///
/// A response ends with the next message that is not a result of one of its tool uses: where its
/// lines stand between those, they still are one message, before the results.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    /// A response that may go on, and what was said since.
    waiting: VecDeque<Said>,
}

impl Messages {
    /// Takes note of an event, and returns the messages that are complete, in the order of their
    /// first lines.
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

/// Returns whether a message is tool results and nothing else.
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

fn said_block(block: Block<'_>, raw: Raw<'_>, in_result: bool) -> SaidBlock {
    match block {
        Block::Text(text) => SaidBlock::Text(owned(text)),
        Block::Image { media_type, data } => {
            SaidBlock::Image { media_type: owned(media_type), data: owned(data) }
        }
        // Results hold words and pictures; what else there is could nest without end.
        _ if in_result => other(None, raw),
        Block::Thinking { text, .. } => SaidBlock::Thinking(owned(text)),
        Block::ToolUse(tool) => SaidBlock::ToolUse {
            id: owned(tool.id),
            name: owned(tool.name),
            input: tool.input.as_str().to_owned(),
        },
        Block::ToolResult(result) => SaidBlock::ToolResult {
            tool_use_id: owned(result.tool_use_id),
            is_error: result.is_error.value(),
            content: said_blocks(&result.content, true).collect(),
        },
        Block::Other { kind, raw } => other(kind, raw),
    }
}

fn other(kind: Option<Text<'_>>, raw: Raw<'_>) -> SaidBlock {
    SaidBlock::Other { kind: kind.map(owned), raw: raw.as_str().to_owned() }
}

fn owned(text: Text<'_>) -> String {
    text.decode().into_owned()
}
