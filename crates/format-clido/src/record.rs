//! The eight types of lines in a clido session, borrowed from their line.
//!
//! In: `{"type":"title","title":"Fix the build"}`. Out: `Record::Title` with the text `Fix the
//! build`.

use jsonl::{Text, Value};

/// The newest schema version that clido 1.0.15 loads.
pub const SCHEMA_VERSION: u64 = 1;

/// A line, by its type. A member that is absent or of another type than clido's is `None`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Record<'l> {
    /// `meta`
    Meta(Meta<'l>),
    /// `user_message`
    UserMessage(UserMessage<'l>),
    /// `assistant_message`
    AssistantMessage(AssistantMessage<'l>),
    /// `tool_call`
    ToolCall(ToolCallLine<'l>),
    /// `tool_result`
    ToolResult(ToolResultLine<'l>),
    /// `system`
    System(SystemLine<'l>),
    /// `result`
    Result(TurnResult<'l>),
    /// `title`
    Title(TitleLine<'l>),
    /// Another type, or none.
    Unknown(Option<Text<'l>>),
}

impl<'l> Record<'l> {
    /// Decodes a line.
    pub fn decode(line: Value<'l>) -> Self {
        let Some(kind) = text(line, "type") else { return Record::Unknown(None) };
        match &*kind.decode() {
            "meta" => Record::Meta(Meta {
                session_id: text(line, "session_id"),
                schema_version: line.get("schema_version"),
                start_time: line.get("start_time"),
                project_path: text(line, "project_path"),
            }),
            "user_message" => Record::UserMessage(UserMessage { content: line.get("content") }),
            "assistant_message" => {
                Record::AssistantMessage(AssistantMessage { content: line.get("content") })
            }
            "tool_call" => {
                let [id, name, input] = line.get_all(["tool_use_id", "tool_name", "input"]);
                let text = |member: Option<Value<'l>>| member?.text();
                let (tool_use_id, tool_name) = (text(id), text(name));
                Record::ToolCall(ToolCallLine { tool_use_id, tool_name, input })
            }
            "tool_result" => Record::ToolResult(ToolResultLine::decode(line)),
            "system" => Record::System(SystemLine {
                subtype: text(line, "subtype"),
                message: line.get("message"),
            }),
            "result" => Record::Result(TurnResult {
                exit_status: text(line, "exit_status"),
                total_cost_usd: line.get("total_cost_usd"),
                num_turns: line.get("num_turns"),
                duration_ms: line.get("duration_ms"),
            }),
            "title" => Record::Title(TitleLine { title: text(line, "title") }),
            _ => Record::Unknown(Some(kind)),
        }
    }
}

fn text<'l>(line: Value<'l>, name: &str) -> Option<Text<'l>> {
    line.get(name)?.text()
}

/// The first line of a session.
#[derive(Clone, Copy, Debug)]
pub struct Meta<'l> {
    /// The id in the line. clido uses the name of the file instead.
    pub session_id: Option<Text<'l>>,
    /// The version of the schema, an integer.
    pub schema_version: Option<Value<'l>>,
    /// The start, RFC 3339.
    pub start_time: Option<Value<'l>>,
    /// The folder that clido was started in.
    pub project_path: Option<Text<'l>>,
}

/// A message of the user.
#[derive(Clone, Copy, Debug)]
pub struct UserMessage<'l> {
    /// The blocks: an array.
    pub content: Option<Value<'l>>,
}

/// A response of the model.
#[derive(Clone, Copy, Debug)]
pub struct AssistantMessage<'l> {
    /// The blocks: an array.
    pub content: Option<Value<'l>>,
}

/// A copy of a tool use in the response before.
#[derive(Clone, Copy, Debug)]
pub struct ToolCallLine<'l> {
    /// The id of the tool use.
    pub tool_use_id: Option<Text<'l>>,
    /// The name of the tool.
    pub tool_name: Option<Text<'l>>,
    /// The input of the tool.
    pub input: Option<Value<'l>>,
}

/// A tool result.
#[derive(Clone, Copy, Debug)]
pub struct ToolResultLine<'l> {
    /// The id of the tool use.
    pub tool_use_id: Option<Text<'l>>,
    /// The output of the tool: a string.
    pub content: Option<Value<'l>>,
    /// Whether the tool failed.
    pub is_error: Option<Value<'l>>,
    /// The duration of the tool in milliseconds.
    pub duration_ms: Option<Value<'l>>,
    /// The file that the tool wrote.
    pub path: Option<Text<'l>>,
    /// The SHA-256 of that file, in hexadecimal digits.
    pub content_hash: Option<Text<'l>>,
    /// The modification time of that file, in nanoseconds since 1970.
    pub mtime_nanos: Option<Value<'l>>,
}

impl<'l> ToolResultLine<'l> {
    /// Decodes a line or a block; both have the same members.
    pub(crate) fn decode(value: Value<'l>) -> Self {
        let names = [
            "tool_use_id",
            "content",
            "is_error",
            "duration_ms",
            "path",
            "content_hash",
            "mtime_nanos",
        ];
        let [id, content, is_error, duration_ms, path, content_hash, mtime_nanos] =
            value.get_all(names);
        let text = |member: Option<Value<'l>>| member?.text();
        Self {
            tool_use_id: text(id),
            content,
            is_error,
            duration_ms,
            path: text(path),
            content_hash: text(content_hash),
            mtime_nanos,
        }
    }
}

/// A message of the client.
#[derive(Clone, Copy, Debug)]
pub struct SystemLine<'l> {
    /// The kind of message.
    pub subtype: Option<Text<'l>>,
    /// The text: a string or `null`.
    pub message: Option<Value<'l>>,
}

/// The end of a run or, in the terminal interface, of a turn.
#[derive(Clone, Copy, Debug)]
pub struct TurnResult<'l> {
    /// The status, such as `completed`.
    pub exit_status: Option<Text<'l>>,
    /// The cost since clido was started, in US dollars.
    pub total_cost_usd: Option<Value<'l>>,
    /// The number of responses.
    pub num_turns: Option<Value<'l>>,
    /// The wall time in milliseconds.
    pub duration_ms: Option<Value<'l>>,
}

/// A title of the session.
#[derive(Clone, Copy, Debug)]
pub struct TitleLine<'l> {
    /// The text.
    pub title: Option<Text<'l>>,
}
