//! Messages and their blocks, in order and as written.

mod blocks;
mod joined;
mod placeholder;

use jsonl::{Raw, Text, Value};

pub use self::blocks::{BlockIter, Blocks};
use crate::{BlockCounts, Field, Input, NoticeKind, TextBody, ToolName, Usage};

/// The speaker.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Role {
    /// The user, or a tool in the user's role.
    User,
    /// The model.
    Assistant,
}

/// A message of the user, a tool, or the assistant.
#[derive(Clone, Copy, Debug)]
pub struct Message<'l> {
    /// The speaker.
    pub role: Role,
    /// The content.
    pub content: Content<'l>,
    /// The API's id of the response; lines with the same id are one response.
    pub id: Option<Text<'l>>,
    /// The model.
    pub model: Option<Text<'l>>,
    /// The stop reason of the model: a string or `null`.
    pub stop_reason: Option<Raw<'l>>,
    /// The string at which the model stopped, or `null`.
    pub stop_sequence: Option<Raw<'l>>,
    /// The tokens used.
    pub usage: Option<Usage<'l>>,
    /// The API's id of the request.
    pub request_id: Option<Text<'l>>,
    /// The client's data about a tool's result, outside the block: any value.
    pub tool_use_result: Option<Raw<'l>>,
    /// Whether the client wrote the message on its own: Claude Code's `isMeta`, and responses of no
    /// model (`<synthetic>`).
    pub is_meta: bool,
    /// Whether the message was typed while the agent worked. It is a prompt like any other, at the place where
    /// the agent read it.
    pub is_queued: bool,
    /// Whether the message is the summary of a compaction.
    pub is_summary: bool,
    /// Whether the message represents a failed request.
    pub is_api_error: bool,
    /// The only block of the content, read with the message. Most messages have one, and each pass
    /// over a session needs it.
    pub only_block: Option<(Block<'l>, Raw<'l>)>,
}

impl<'l> Message<'l> {
    /// Creates a message with a speaker and a content.
    pub fn new(role: Role, content: Content<'l>) -> Self {
        Self {
            role,
            content,
            id: None,
            model: None,
            stop_reason: None,
            stop_sequence: None,
            usage: None,
            request_id: None,
            tool_use_result: None,
            is_meta: false,
            is_queued: false,
            is_summary: false,
            is_api_error: false,
            only_block: content.only_block(),
        }
    }

    /// Returns the message with another content.
    pub fn with_content(self, content: Content<'l>) -> Self {
        Self { content, only_block: content.only_block(), ..self }
    }

    /// Returns the blocks with their JSON values. A string is one text block.
    #[inline]
    pub fn blocks(&self) -> impl Iterator<Item = (Block<'l>, Raw<'l>)> + use<'_, 'l> {
        let (mut only, mut blocks) = match (&self.only_block, self.content) {
            (None, Content::Blocks(blocks)) => (None, Some(blocks.into_iter())),
            (only, _) => (only.as_ref(), None),
        };
        std::iter::from_fn(move || match only.take() {
            None => blocks.as_mut()?.next(),
            only => only.copied(),
        })
    }

    /// Calls `each` with the blocks, in order. A block has 288 bytes, which [`blocks`](Self::blocks) copies.
    pub fn each_block(&self, mut each: impl FnMut(&Block<'l>)) {
        self.any_block(|block| {
            each(block);
            false
        });
    }

    /// Calls `each` with the tool results, in order.
    pub fn each_tool_result(&self, mut each: impl FnMut(&ToolResult<'l>)) {
        self.each_block(|block| {
            if let Block::ToolResult(result) = block {
                each(result);
            }
        });
    }

    /// Returns whether `is` returns true for a block. Stops at the first one.
    pub fn any_block(&self, mut is: impl FnMut(&Block<'l>) -> bool) -> bool {
        match (&self.only_block, self.content) {
            (Some((block, _)), _) => is(block),
            (None, Content::Blocks(blocks)) => blocks.into_iter().any(|(block, _)| is(&block)),
            (None, _) => false,
        }
    }

    /// Returns whether the message has a block, or a content of an unknown shape.
    pub fn has_content(&self) -> bool {
        let is_other = matches!(self.content, Content::Other(raw) if !raw.is_null());
        is_other || self.any_block(|_| true)
    }

    /// Returns the number of blocks by kind, in one pass.
    pub fn block_counts(&self) -> BlockCounts {
        let mut block_counts = BlockCounts::default();
        self.each_block(|block| block_counts.add(block));
        block_counts
    }

    /// Returns the text of the first block; `None` if it is not a text.
    pub fn first_text(&self) -> Option<Text<'l>> {
        let mut text = None;
        self.any_block(|block| {
            if let Block::Text(first) = block {
                text = Some(*first);
            }
            true
        });
        text
    }

    /// Returns the client's data about the tool result, if there is one result: the data do not say to which of several
    /// results they belong. Reads the blocks, so a writer asks once for a message, not for each of its results.
    pub fn details(&self) -> Option<Raw<'l>> {
        self.tool_use_result.filter(|_| self.tool_results().nth(1).is_none())
    }

    /// Returns the tool results in the message.
    pub fn tool_results(&self) -> impl Iterator<Item = ToolResult<'l>> + use<'_, 'l> {
        self.blocks().filter_map(|(block, _)| match block {
            Block::ToolResult(result) => Some(result),
            _ => None,
        })
    }
}

/// A format's function that reads a block.
type ReadBlock = for<'a> fn(Value<'a>) -> Block<'a>;

/// A format's function that returns whether an item of an array is a block of a message.
type KeepBlock = for<'a> fn(Value<'a>) -> bool;

/// The content of a message or of a tool result.
#[derive(Clone, Copy, Debug)]
pub enum Content<'l> {
    /// The member is absent.
    Absent,
    /// A string.
    Text(Text<'l>),
    /// An array of blocks.
    Blocks(Blocks<'l>),
    /// Any other value, `null` included.
    Other(Raw<'l>),
}

impl<'l> Content<'l> {
    /// Creates a content from a value and a format's function that reads a block.
    pub fn new(value: Option<Value<'l>>, read: ReadBlock) -> Self {
        match value {
            None => Content::Absent,
            Some(value) => match value.text() {
                Some(text) => Content::Text(text),
                None if value.is_array() => Content::one(value, read),
                None => Content::Other(value.raw()),
            },
        }
    }

    /// Creates a content of one block outside an array, such as a line that is a tool result.
    pub fn one(value: Value<'l>, read: ReadBlock) -> Self {
        Content::Blocks(Blocks { before: None, array: value, read, keep: None, after: None })
    }

    /// Creates a content whose first blocks are in another array of the line. The other blocks are
    /// in `array`, which may also be one block.
    pub fn after(before: (Value<'l>, ReadBlock), array: Value<'l>, read: ReadBlock) -> Self {
        Content::Blocks(Blocks { before: Some(before), array, read, keep: None, after: None })
    }

    /// Returns the content with further blocks behind its own, from another array of the line or
    /// from one value. A content without an array stays as it is.
    #[must_use]
    pub fn followed_by(self, array: Value<'l>, read: ReadBlock) -> Self {
        match self {
            Content::Blocks(blocks) => {
                Content::Blocks(Blocks { after: Some((array, read)), ..blocks })
            }
            other => other,
        }
    }

    /// Creates a content of some items of an array. The vocabulary of the format lists the members
    /// of all its items.
    pub fn some(array: Value<'l>, keep: KeepBlock, read: ReadBlock) -> Self {
        Content::Blocks(Blocks { before: None, array, read, keep: Some(keep), after: None })
    }

    /// Returns the array of the blocks, if all its items are blocks.
    pub(crate) fn array(&self) -> Option<Value<'l>> {
        match self {
            Content::Blocks(blocks) => {
                Some(blocks.array).filter(|array| array.is_array() && blocks.keep.is_none())
            }
            _ => None,
        }
    }

    /// Returns the only block, if there is exactly one.
    fn only_block(&self) -> Option<(Block<'l>, Raw<'l>)> {
        match self {
            Content::Text(text) => Some((Block::Text(*text), Raw::from(*text))),
            Content::Blocks(blocks) => blocks.only(),
            Content::Absent | Content::Other(_) => None,
        }
    }

    /// Returns the blocks with their JSON values. A string is one text block.
    pub fn blocks(&self) -> impl Iterator<Item = (Block<'l>, Raw<'l>)> + use<'l> {
        let (mut text, mut blocks) = match *self {
            Content::Text(text) => (Some(text), None),
            Content::Blocks(blocks) => (None, Some(blocks.into_iter())),
            Content::Absent | Content::Other(_) => (None, None),
        };
        std::iter::from_fn(move || match (&mut blocks, text.take()) {
            (Some(blocks), _) => blocks.next(),
            (None, text) => text.map(|text| (Block::Text(text), Raw::from(text))),
        })
    }
}

/// A piece of a message.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Block<'l> {
    /// Text.
    Text(Text<'l>),
    /// The model's thinking with the API's signature.
    Thinking {
        /// The thinking; often empty if there is a signature.
        text: Text<'l>,
        /// The signature.
        signature: Option<Text<'l>>,
    },
    /// Thinking that the API returned encrypted, from formats that do not write the API's block for
    /// it. Where they do, it is [`Block::Other`] of the type `redacted_thinking`.
    RedactedThinking {
        /// The encrypted thinking.
        data: Text<'l>,
    },
    /// A tool use.
    ToolUse(ToolUse<'l>),
    /// A tool result.
    ToolResult(ToolResult<'l>),
    /// An image in base64.
    Image {
        /// The media type, such as `"image/png"`.
        media_type: TextBody<'l>,
        /// The image in base64.
        data: TextBody<'l>,
    },
    /// Any other block: redacted thinking, documents, images by URL, future blocks.
    Other {
        /// The block's `type`, if it has one.
        kind: Option<Text<'l>>,
        /// The block as written.
        raw: Raw<'l>,
    },
}

/// A tool use.
#[derive(Clone, Copy, Debug)]
pub struct ToolUse<'l> {
    /// The id, which its result refers to.
    pub id: Text<'l>,
    /// The name of the tool.
    pub name: ToolName<'l>,
    /// The input.
    pub input: Input<'l>,
    /// Whether the API itself runs the tool (`server_tool_use`).
    pub is_server: bool,
}

/// A tool result.
#[derive(Clone, Copy, Debug)]
pub struct ToolResult<'l> {
    /// The id of the tool use.
    pub tool_use_id: Text<'l>,
    /// The output of the tool.
    pub content: Content<'l>,
    /// Whether the tool failed.
    pub is_error: Field<bool>,
    /// The run time of the tool, in milliseconds.
    pub duration_ms: Option<Raw<'l>>,
    /// clido's record of the file that the tool wrote: path, hash, modification time.
    pub file: FileRecord<'l>,
}

impl<'l> ToolResult<'l> {
    /// Creates a tool result with the members that all formats have.
    pub fn new(tool_use_id: Text<'l>, content: Content<'l>, is_error: Field<bool>) -> Self {
        let file = FileRecord::default();
        Self { tool_use_id, content, is_error, duration_ms: None, file }
    }

    /// Returns the kind of the notice that a writer makes of a result without a call.
    pub fn notice_kind(&self) -> NoticeKind {
        if self.is_error == Field::Value(true) { NoticeKind::Error } else { NoticeKind::Info }
    }
}

/// clido's record of a file. On resume, clido uses it to detect that the file changed.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileRecord<'l> {
    /// The path.
    pub path: Option<Text<'l>>,
    /// The SHA-256 of the file, in hexadecimal digits.
    pub content_hash: Option<Text<'l>>,
    /// The modification time in nanoseconds since 1970.
    pub mtime_nanos: Option<Raw<'l>>,
}
