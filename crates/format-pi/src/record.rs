//! The types of lines in a session, borrowed from their line.
//!
//! In: `{"type":"session_info","id":"1a2b3c4d","parentId":null,"name":"Fix the build"}`. Out: a
//! [`Record`] whose entry is [`Entry::SessionInfo`] with the text `Fix the build`.

use core_model::Field;
use jsonl::{Text, Value};

/// The version of the format that this crate writes.
pub const VERSION: u64 = 3;

/// A line. A member that is absent or of another type than pi's is `None`.
#[derive(Clone, Copy, Debug)]
pub struct Record<'l> {
    /// The type of the line.
    pub kind: Option<Text<'l>>,
    /// The id of an entry; for a header, the id of the session.
    pub id: Option<Text<'l>>,
    /// The id of the entry before.
    pub parent_id: Field<Text<'l>>,
    /// The time, ISO 8601.
    pub timestamp: Option<Text<'l>>,
    /// The members of its type.
    pub entry: Entry<'l>,
}

/// The members of a line, by its type.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all that is read are messages")]
#[non_exhaustive]
pub enum Entry<'l> {
    /// `session`
    Session(Header<'l>),
    /// `message`
    Message(PiMessage<'l>),
    /// `compaction`
    Compaction(Compaction<'l>),
    /// `branch_summary`: the summary of another branch.
    BranchSummary(Option<Text<'l>>),
    /// `custom`
    Custom(Custom<'l>),
    /// `custom_message`: its content.
    CustomMessage(Option<Value<'l>>),
    /// `session_info`: the name of the session.
    SessionInfo(Option<Text<'l>>),
    /// Another type, or none. Entries such as `model_change` and `label` have no content.
    Other,
}

/// The first line of a session.
#[derive(Clone, Copy, Debug)]
pub struct Header<'l> {
    /// The version of the format; version 1 has none.
    pub version: Option<Value<'l>>,
    /// The folder that pi was started in.
    pub cwd: Option<Text<'l>>,
    /// The file that the session was forked from.
    pub parent_session: Option<Text<'l>>,
    /// The model of a session of version 1.
    pub model_id: Option<Text<'l>>,
}

/// A message.
#[derive(Clone, Copy, Debug)]
pub struct PiMessage<'l> {
    /// The whole message.
    pub value: Value<'l>,
    /// `user`, `assistant`, `toolResult`, `bashExecution`, `custom`, `hookMessage` or `system`.
    pub role: Option<Text<'l>>,
    /// The content: a string or blocks.
    pub content: Option<Value<'l>>,
    /// The model of a response.
    pub model: Option<Text<'l>>,
    /// Why the model stopped: `stop`, `length`, `toolUse`, `error` or `aborted`.
    pub stop_reason: Option<Text<'l>>,
    /// The error of a failed response.
    pub error_message: Option<Text<'l>>,
    /// The tokens of a response.
    pub usage: Option<Value<'l>>,
    /// The API's id of a response.
    pub response_id: Option<Text<'l>>,
    /// The id of the call that a result answers.
    pub tool_call_id: Option<Text<'l>>,
    /// The data of the tool about its result.
    pub details: Option<Value<'l>>,
    /// The command that the user ran.
    pub command: Option<Text<'l>>,
    /// The output of that command.
    pub output: Option<Text<'l>>,
    /// Whether the command and its output are not sent.
    pub is_excluded: bool,
}

/// A compaction of the context.
#[derive(Clone, Copy, Debug)]
pub struct Compaction<'l> {
    /// The summary of the removed messages.
    pub summary: Option<Text<'l>>,
    /// The first entry that is still sent.
    pub first_kept_entry_id: Option<Text<'l>>,
    /// The index of that line in version 1.
    pub first_kept_entry_index: Option<Value<'l>>,
    /// The tokens in the context before.
    pub tokens_before: Option<Value<'l>>,
}

/// An entry of an extension.
#[derive(Clone, Copy, Debug)]
pub struct Custom<'l> {
    /// The extension's name for the type.
    pub custom_type: Option<Text<'l>>,
    /// The data of the extension.
    pub data: Option<Value<'l>>,
}

impl<'l> Record<'l> {
    /// Decodes a line.
    pub fn decode(line: Value<'l>) -> Self {
        let [kind, id, parent_id, timestamp] =
            line.get_all(["type", "id", "parentId", "timestamp"]);
        let text = |member: Option<Value<'l>>| member?.text();
        let kind = text(kind);
        let parent_id = match parent_id {
            None => Field::Absent,
            Some(parent) => parent.text().map_or(Field::Null, Field::Value),
        };
        let entry = kind.map_or(Entry::Other, |kind| Entry::decode(&kind.decode(), line));
        Self { kind, id: text(id), parent_id, timestamp: text(timestamp), entry }
    }
}

impl<'l> Entry<'l> {
    fn decode(kind: &str, line: Value<'l>) -> Self {
        let text = |name: &str| line.get(name)?.text();
        match kind {
            "session" => Entry::Session(Header {
                version: line.get("version"),
                cwd: text("cwd"),
                parent_session: text("parentSession"),
                model_id: text("modelId"),
            }),
            "message" => line
                .get("message")
                .filter(Value::is_object)
                .map_or(Entry::Other, |it| Entry::Message(PiMessage::decode(it))),
            "compaction" => Entry::Compaction(Compaction {
                summary: text("summary"),
                first_kept_entry_id: text("firstKeptEntryId"),
                first_kept_entry_index: line.get("firstKeptEntryIndex"),
                tokens_before: line.get("tokensBefore"),
            }),
            "branch_summary" => Entry::BranchSummary(text("summary")),
            "custom" => {
                Entry::Custom(Custom { custom_type: text("customType"), data: line.get("data") })
            }
            "custom_message" => Entry::CustomMessage(line.get("content")),
            "session_info" => Entry::SessionInfo(text("name")),
            _ => Entry::Other,
        }
    }
}

impl<'l> PiMessage<'l> {
    fn decode(value: Value<'l>) -> Self {
        let mut found = Self {
            value,
            role: None,
            content: None,
            model: None,
            stop_reason: None,
            error_message: None,
            usage: None,
            response_id: None,
            tool_call_id: None,
            details: None,
            command: None,
            output: None,
            is_excluded: false,
        };
        value.read_members(|key, value| {
            match key {
                b"role" => found.role = value.text(),
                b"content" => found.content = Some(value),
                b"model" => found.model = value.text(),
                b"stopReason" => found.stop_reason = value.text(),
                b"errorMessage" => found.error_message = value.text(),
                b"usage" => found.usage = Some(value).filter(Value::is_object),
                b"responseId" => found.response_id = value.text(),
                b"toolCallId" => found.tool_call_id = value.text(),
                b"details" => found.details = Some(value).filter(|it| !it.is_null()),
                b"command" => found.command = value.text(),
                b"output" => found.output = value.text(),
                b"excludeFromContext" => found.is_excluded = value.bool() == Some(true),
                _ => return false,
            }
            true
        });
        found
    }
}
