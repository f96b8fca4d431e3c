//! The types of lines in a session, borrowed from their line.
//!
//! In: `{"type":"user.message","data":{"content":"Hi"},"id":"..","timestamp":"..","parentId":null}`.
//! Out: a [`Record`] whose entry is [`Entry::User`].

use core_model::Field;
use jsonl::{Text, Value};

/// A line. A member that is absent or of another type than Copilot's is `None`.
#[derive(Clone, Copy, Debug)]
pub struct Record<'l> {
    /// The type of the line.
    pub kind: Option<Text<'l>>,
    /// The members of its type.
    pub data: Option<Value<'l>>,
    /// The id of the line, a UUID.
    pub id: Option<Text<'l>>,
    /// The time, ISO 8601.
    pub timestamp: Option<Text<'l>>,
    /// The id of the line before.
    pub parent_id: Field<Text<'l>>,
    /// The sub-agent that the line belongs to.
    pub agent_id: Option<Text<'l>>,
    /// The data, by the type of the line.
    pub entry: Entry<'l>,
}

/// The data of a line, by the type of the line.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Entry<'l> {
    /// `session.start`
    Start(Value<'l>),
    /// `session.resume`: the client loaded the session again.
    Resume(Value<'l>),
    /// `session.model_change`
    ModelChange(Value<'l>),
    /// `user.message`
    User(Value<'l>),
    /// `assistant.message`
    Assistant(Value<'l>),
    /// `tool.execution_complete`
    ToolComplete(Value<'l>),
    /// `session.usage_record`
    Usage(Value<'l>),
    /// `session.binary_asset`
    Asset(Value<'l>),
    /// `session.compaction_complete`
    Compaction(Value<'l>),
    /// `session.title_changed`
    Title(Value<'l>),
    /// `session.info`, `session.warning`, `session.error` and `abort`.
    Notice(NoticeEntry<'l>),
    /// Another type, or none.
    Other,
}

/// A line that says something to the user.
#[derive(Clone, Copy, Debug)]
pub struct NoticeEntry<'l> {
    /// The data.
    pub value: Value<'l>,
    /// Its severity.
    pub severity: NoticeSeverity,
}

/// The severity of a notice, which its type says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NoticeSeverity {
    /// `session.info`
    Info,
    /// `session.warning`
    Warning,
    /// `session.error`
    Error,
    /// `abort`: the user stopped the response.
    Abort,
}

impl<'l> Record<'l> {
    /// Reads the members of a line.
    pub fn decode(line: Value<'l>) -> Self {
        let mut record = Self {
            kind: None,
            data: None,
            id: None,
            timestamp: None,
            parent_id: Field::Absent,
            agent_id: None,
            entry: Entry::Other,
        };
        line.read_members(|key, value| {
            match key {
                b"type" => record.kind = value.text(),
                b"data" => record.data = Some(value).filter(Value::is_object),
                b"id" => record.id = value.text(),
                b"timestamp" => record.timestamp = value.text(),
                b"parentId" => {
                    record.parent_id = value.text().map_or(Field::Null, Field::Value);
                }
                b"agentId" => record.agent_id = value.text(),
                _ => return false,
            }
            true
        });
        if let (Some(kind), Some(data)) = (record.kind, record.data) {
            record.entry = Entry::decode(&kind.decode(), data);
        }
        record
    }
}

impl<'l> Entry<'l> {
    fn decode(kind: &str, data: Value<'l>) -> Self {
        let notice = |severity| Entry::Notice(NoticeEntry { value: data, severity });
        match kind {
            "session.start" => Entry::Start(data),
            "session.resume" => Entry::Resume(data),
            "session.model_change" => Entry::ModelChange(data),
            "user.message" => Entry::User(data),
            "assistant.message" => Entry::Assistant(data),
            "tool.execution_complete" => Entry::ToolComplete(data),
            "session.usage_record" => Entry::Usage(data),
            "session.binary_asset" => Entry::Asset(data),
            "session.compaction_complete" => Entry::Compaction(data),
            "session.title_changed" => Entry::Title(data),
            "session.info" => notice(NoticeSeverity::Info),
            "session.warning" => notice(NoticeSeverity::Warning),
            "session.error" => notice(NoticeSeverity::Error),
            "abort" => notice(NoticeSeverity::Abort),
            _ => Entry::Other,
        }
    }
}

/// Returns a member that is a string.
pub(crate) fn text<'l>(value: Value<'l>, name: &str) -> Option<Text<'l>> {
    value.get(name)?.text()
}
