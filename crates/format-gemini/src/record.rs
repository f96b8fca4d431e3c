//! The members of a line of a session, borrowed from the line.
//!
//! In: `{"uuid":"u1","parentUuid":null,"type":"user","message":{"role":"user","parts":[..]},..}`. Out: a
//! [`Record`] with the parts of the message.

use core_model::Field;
use jsonl::{Text, Value};

use crate::part::member;

/// A line. A member that is absent or of another type than Qwen Code's is `None`.
#[derive(Clone, Copy, Debug)]
pub struct Record<'l> {
    /// `user`, `assistant`, `tool_result` or `system`.
    pub kind: Option<Text<'l>>,
    /// What a line of the client is about: `chat_compression`, `custom_title`, `notification`.
    pub subtype: Option<Text<'l>>,
    /// The id of the line. Lines with the same id are one message.
    pub uuid: Option<Text<'l>>,
    /// The id of the line before.
    pub parent_uuid: Field<Text<'l>>,
    /// The session.
    pub session_id: Option<Text<'l>>,
    /// The time, ISO 8601.
    pub timestamp: Option<Text<'l>>,
    /// The working directory.
    pub cwd: Option<Text<'l>>,
    /// The version of the client.
    pub version: Option<Text<'l>>,
    /// The git branch.
    pub git_branch: Option<Text<'l>>,
    /// The author of a line: `real_user`, `assistant_output`, `tool_result` or `system`.
    pub provenance: Option<Text<'l>>,
    /// The sub-agent.
    pub agent_id: Option<Text<'l>>,
    /// Whether the line belongs to a sub-agent's conversation.
    pub is_sidechain: bool,
    /// The message, an object.
    pub message: Option<Value<'l>>,
    /// The model of a response.
    pub model: Option<Text<'l>>,
    /// The tokens of a response, an object.
    pub usage: Option<Value<'l>>,
    /// The data of the client about a tool's result, an object.
    pub tool_call_result: Option<Value<'l>>,
    /// The content of a line of the client.
    pub payload: Option<Value<'l>>,
}

impl<'l> Record<'l> {
    /// Decodes a line.
    pub fn decode(line: Value<'l>) -> Self {
        let mut record = Self {
            kind: None,
            subtype: None,
            uuid: None,
            parent_uuid: Field::Absent,
            session_id: None,
            timestamp: None,
            cwd: None,
            version: None,
            git_branch: None,
            provenance: None,
            agent_id: None,
            is_sidechain: false,
            message: None,
            model: None,
            usage: None,
            tool_call_result: None,
            payload: None,
        };
        line.read_members(|key, value| {
            match key {
                b"type" => record.kind = value.text(),
                b"subtype" => record.subtype = value.text(),
                b"uuid" => record.uuid = value.text(),
                b"parentUuid" => {
                    record.parent_uuid = value.text().map_or(Field::Null, Field::Value);
                }
                b"sessionId" => record.session_id = value.text(),
                b"timestamp" => record.timestamp = value.text(),
                b"cwd" => record.cwd = value.text(),
                b"version" => record.version = value.text(),
                b"gitBranch" => record.git_branch = value.text(),
                b"provenance" => record.provenance = value.text(),
                b"agentId" => record.agent_id = value.text(),
                b"isSidechain" => record.is_sidechain = value.bool() == Some(true),
                b"message" => record.message = Some(value).filter(Value::is_object),
                b"model" => record.model = value.text(),
                b"usageMetadata" => record.usage = Some(value).filter(Value::is_object),
                b"toolCallResult" => {
                    record.tool_call_result = Some(value).filter(Value::is_object);
                }
                b"systemPayload" => record.payload = Some(value).filter(Value::is_object),
                _ => return false,
            }
            true
        });
        record
    }

    /// Returns the parts of the message.
    pub fn parts(&self) -> Option<Value<'l>> {
        self.message?.get("parts")
    }

    /// Returns the messages that replace all messages before a line; `None` for other lines.
    pub fn compressed_history(&self) -> Option<Value<'l>> {
        let is_compression = self.subtype?.is("chat_compression") && self.kind?.is("system");
        let history = self.payload?.get("compressedHistory").filter(|_| is_compression)?;
        Some(history).filter(Value::is_array)
    }

    /// Returns the title that a line gives the session.
    pub(crate) fn title(&self) -> Option<Text<'l>> {
        let is_title = self.subtype?.is("custom_title") && self.kind?.is("system");
        let title = member(self.payload?, "customTitle").filter(|_| is_title)?;
        Some(title).filter(|title| !title.is_blank())
    }
}
