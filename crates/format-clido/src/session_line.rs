//! A line of a session that owns its data, for clido's own programs.
//!
//! In: `{"type":"title","title":"Fix the build"}`. Out: `SessionLine::Title`, which encodes to the
//! same bytes.

mod decode;
mod encode;
mod sorted;

use jsonl::{RawBuf, Value};

pub use self::encode::NotLoadable;
pub(crate) use self::sorted::push_sorted;

/// A line of a session, with the members that clido's documentation names.
///
/// Blocks and inputs are kept as written; [`ContentBlock::decode`](crate::ContentBlock::decode)
/// decodes a block.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SessionLine {
    /// The first line of a session.
    Meta {
        /// The id in the line. clido uses the name of the file instead.
        session_id: String,
        /// The version of the schema.
        schema_version: u32,
        /// The start, RFC 3339.
        start_time: String,
        /// The folder that clido was started in.
        project_path: String,
    },
    /// A message of the user.
    UserMessage {
        /// Always `user`.
        role: String,
        /// The blocks.
        content: Vec<RawBuf>,
    },
    /// A response of the model.
    AssistantMessage {
        /// The blocks.
        content: Vec<RawBuf>,
    },
    /// A copy of a tool use in the response before.
    ToolCall {
        /// The id of the tool use.
        tool_use_id: String,
        /// The name of the tool.
        tool_name: String,
        /// The input of the tool.
        input: RawBuf,
    },
    /// A tool result.
    ToolResult {
        /// The id of the tool use.
        tool_use_id: String,
        /// The name of the tool. The line does not have it; a reader fills it in from the tool use.
        tool_name: Option<String>,
        /// The output of the tool.
        content: String,
        /// Whether the tool failed.
        is_error: bool,
        /// The duration of the tool in milliseconds.
        duration_ms: Option<u64>,
        /// The file that the tool wrote.
        path: Option<String>,
        /// The SHA-256 of that file, in hexadecimal digits.
        content_hash: Option<String>,
        /// The modification time of that file, in nanoseconds since 1970.
        mtime_nanos: Option<u64>,
    },
    /// A message of the client.
    System {
        /// The kind of message.
        subtype: String,
        /// The text.
        message: Option<String>,
    },
    /// The end of a run or, in the terminal interface, of a turn.
    Result {
        /// The status, such as `completed`.
        exit_status: String,
        /// The cost since clido was started, in US dollars.
        total_cost_usd: f64,
        /// The number of responses.
        num_turns: u32,
        /// The wall time in milliseconds.
        duration_ms: u64,
    },
    /// A title of the session.
    Title {
        /// The text.
        title: String,
    },
    /// A line of another type, or of none, which clido does not load.
    Unknown {
        /// The type, if the line has one.
        kind: Option<String>,
        /// The line as written.
        line: RawBuf,
    },
}

impl SessionLine {
    /// Decodes a line leniently: a string instead of an array of blocks becomes one text block. Use
    /// [`validate_strict`](crate::validate_strict) to find out whether clido loads the line.
    ///
    /// # Errors
    ///
    /// Returns the name of the first required member that is missing or of another type.
    ///
    /// ```
    /// use format_clido::SessionLine;
    ///
    /// let mut scanner = jsonl::Scanner::default();
    /// let mut decode = |line: &'static str| {
    ///     SessionLine::decode(scanner.scan_slice(line.as_bytes(), 0).expect("JSON"))
    /// };
    /// let title = SessionLine::Title { title: "Pages".to_owned() };
    /// assert_eq!(decode(r#"{"type":"title","title":"Pages"}"#), Ok(title));
    /// assert_eq!(decode(r#"{"type":"title","title":7}"#), Err("title"));
    /// ```
    pub fn decode(line: Value<'_>) -> Result<Self, &'static str> {
        decode::decode(line)
    }

    /// Returns the line as clido writes it, without a newline: compact, members in clido's order,
    /// members of blocks and inputs in alphabetical order.
    ///
    /// # Errors
    ///
    /// Returns an error if clido would not load the line.
    ///
    /// ```
    /// use format_clido::{ContentBlock, SessionLine};
    ///
    /// let text = ContentBlock::Text { text: "Hi".to_owned() };
    /// let line = SessionLine::AssistantMessage { content: vec![text.encode()] };
    /// let expected = r#"{"type":"assistant_message","content":[{"text":"Hi","type":"text"}]}"#;
    /// assert_eq!(line.encode().as_deref(), Ok(expected));
    /// ```
    pub fn encode(&self) -> Result<String, NotLoadable> {
        encode::encode(self)
    }

    /// Returns the blocks of a message; an empty slice for any other line.
    pub fn content(&self) -> &[RawBuf] {
        match self {
            SessionLine::UserMessage { content, .. }
            | SessionLine::AssistantMessage { content } => content,
            _ => &[],
        }
    }

    pub(crate) fn content_mut(&mut self) -> Option<&mut Vec<RawBuf>> {
        match self {
            SessionLine::UserMessage { content, .. }
            | SessionLine::AssistantMessage { content } => Some(content),
            _ => None,
        }
    }
}
