//! A line of a session that owns what it says: what clido's own programs work with.

mod decode;
mod encode;
mod sorted;

use jsonl::{RawBuf, Value};

pub use self::encode::NotLoadable;
pub(crate) use self::sorted::push_sorted;

/// A line of a session, in the shape that clido's documentation has.
///
/// Blocks and inputs are kept as written; [`ContentBlock::decode`](crate::ContentBlock::decode)
/// says what a block is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SessionLine {
    /// The first line of a session.
    Meta {
        /// The id; what clido goes by is the file's stem.
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
    /// A tool use of the response before, once more.
    ToolCall {
        /// The id of the tool use.
        tool_use_id: String,
        /// The name of the tool.
        tool_name: String,
        /// The input of the tool.
        input: RawBuf,
    },
    /// What a tool returned.
    ToolResult {
        /// The id of the tool use.
        tool_use_id: String,
        /// The name of the tool: the line has none, a reader knows it from the tool use before.
        tool_name: Option<String>,
        /// What the tool returned.
        content: String,
        /// Whether the tool failed.
        is_error: bool,
        /// How long the tool ran, in milliseconds.
        duration_ms: Option<u64>,
        /// The file that the tool wrote.
        path: Option<String>,
        /// The SHA-256 of that file, in hexadecimal digits.
        content_hash: Option<String>,
        /// The modification time of that file, in nanoseconds since 1970.
        mtime_nanos: Option<u64>,
    },
    /// Something that clido tells.
    System {
        /// What it is about.
        subtype: String,
        /// The words.
        message: Option<String>,
    },
    /// How a run or, in the terminal interface, a turn ended.
    Result {
        /// How it ended.
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
        /// The words.
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
    /// Decodes a line as far as it makes sense: where clido wants an array of blocks, a string is
    /// taken for one text block. [`validate_strict`](crate::validate_strict) is the one who says
    /// what clido itself loads.
    ///
    /// # Errors
    ///
    /// The name of the first member without which a line of this type says nothing: it is missing
    /// or of another type.
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

    /// Returns the line as clido prints it, without a newline: compact, the members in clido's
    /// order, those of blocks and inputs in alphabetical order.
    ///
    /// # Errors
    ///
    /// If clido would not load the line.
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

    /// Returns the blocks of a message; of any other line, none.
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
