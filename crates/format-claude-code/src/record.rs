//! The members of a line, found in one walk and borrowed from it.
//!
//! In: `{"type":"user","uuid":"1","cwd":"/p","message":{..}}`. Out: a [`Record`] with `kind`,
//! `uuid`, `cwd` and `message`.

use core_model::{Field, Shape};
use jsonl::{Raw, Text, Value};

/// The members of a line. A member with a value of an unexpected kind counts as absent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Record<'l> {
    /// The `type`, such as `user`, `assistant` or `system`.
    pub kind: Option<Text<'l>>,
    /// The kind of a `system` line.
    pub subtype: Option<Text<'l>>,
    /// The id of the line.
    pub uuid: Option<Text<'l>>,
    /// The id of the parent line.
    pub parent_uuid: Field<Text<'l>>,
    /// The id of the parent line of a compaction boundary.
    pub logical_parent_uuid: Option<Text<'l>>,
    /// The session id.
    pub session_id: Option<Text<'l>>,
    /// The time: an ISO 8601 string, or a number of seconds in `message` (FORMAT.md, "Described elsewhere").
    pub timestamp: Option<Raw<'l>>,
    /// The time of a snapshot: `snapshot.timestamp`, or `file-snapshot.timestamp` (FORMAT.md, "Described elsewhere").
    pub snapshot_time: Option<Raw<'l>>,
    /// The working directory.
    pub cwd: Option<Text<'l>>,
    /// The client's version.
    pub version: Option<Text<'l>>,
    /// The git branch.
    pub git_branch: Option<Text<'l>>,
    /// The permission mode of tools.
    pub permission_mode: Option<Text<'l>>,
    /// The id of the sub-agent.
    pub agent_id: Option<Text<'l>>,
    /// The API's id of the request.
    pub request_id: Option<Text<'l>>,
    /// Whether the line is a sub-agent's.
    pub is_sidechain: bool,
    /// Whether the client wrote the line on its own.
    pub is_meta: bool,
    /// Whether the line is the summary of a compaction.
    pub is_compact_summary: bool,
    /// Whether the line reports a failed request.
    pub is_api_error_message: bool,
    /// The text of a `system` line or a queue operation.
    pub content: Option<Value<'l>>,
    /// The severity of a `system` line.
    pub level: Option<Text<'l>>,
    /// The error of a failed request.
    pub error: Option<Value<'l>>,
    /// The details of a compaction.
    pub compact_metadata: Option<Value<'l>>,
    /// The title in a `summary` line.
    pub summary: Option<Text<'l>>,
    /// The title that a model gave.
    pub ai_title: Option<Text<'l>>,
    /// The title that the user gave.
    pub custom_title: Option<Text<'l>>,
    /// The client's own data about a tool result.
    pub tool_use_result: Option<Raw<'l>>,
    /// The `attachment`: context for the model, or a prompt.
    pub attachment: Option<Value<'l>>,
    /// The origin of a user's line, such as `{"kind":"human"}`.
    pub origin: Option<Value<'l>>,
    /// The data of a `progress` line.
    pub data: Option<Value<'l>>,
    /// The new working directory in a `relocated` line.
    pub relocated_cwd: Option<Text<'l>>,
    /// The session that a `continued-in` line names.
    pub continued_in: Option<Value<'l>>,
    /// The sessions that a `derived-from` line names.
    pub sessions: Option<Value<'l>>,
    /// Unsigned thinking: an array of strings.
    pub unsigned_thinking: Option<Value<'l>>,
    /// The tokens used, if they are a member of the line (FORMAT.md, "Described elsewhere").
    pub usage: Option<Value<'l>>,
    /// The message.
    pub message: Option<Value<'l>>,
    /// The names of the members that no event holds.
    pub unread: Shape,
}

impl<'l> Record<'l> {
    /// Finds the members of a line. Of duplicate members, the last wins.
    pub fn new(line: Value<'l>) -> Self {
        let mut record = Self::default();
        line.read_members(|key, value| record.set(key, value));
        record
    }

    /// Stores a member and returns whether its key is known.
    #[inline]
    pub(crate) fn set(&mut self, key: &[u8], value: Value<'l>) -> bool {
        match key {
            b"type" => self.kind = value.text(),
            b"subtype" => self.subtype = value.text(),
            b"uuid" => self.uuid = value.text(),
            b"parentUuid" => self.parent_uuid = field(value),
            b"logicalParentUuid" => {
                self.unread.add(key, &value);
                self.logical_parent_uuid = value.text();
            }
            b"sessionId" => self.session_id = value.text(),
            b"timestamp" => self.timestamp = time(value),
            b"snapshot" | b"file-snapshot" => {
                self.snapshot_time = value.get("timestamp").and_then(time);
            }
            b"cwd" => self.cwd = value.text(),
            b"version" => self.version = value.text(),
            b"gitBranch" => self.git_branch = value.text(),
            b"permissionMode" => self.permission_mode = value.text(),
            b"agentId" => self.agent_id = value.text(),
            b"requestId" => self.request_id = value.text(),
            b"isSidechain" => {
                self.unread.add(key, &value);
                self.is_sidechain = value.bool() == Some(true);
            }
            b"isMeta" => self.is_meta = self.is_true(key, value),
            b"isCompactSummary" => self.is_compact_summary = self.is_true(key, value),
            b"isApiErrorMessage" => self.is_api_error_message = self.is_true(key, value),
            b"content" => self.content = Some(value),
            b"level" => self.level = value.text(),
            b"error" => self.error = Some(value),
            b"compactMetadata" => self.compact_metadata = Some(value),
            b"summary" => self.summary = value.text(),
            b"aiTitle" => self.ai_title = value.text(),
            b"customTitle" => self.custom_title = value.text(),
            b"toolUseResult" => self.tool_use_result = Some(value.raw()),
            b"attachment" => self.attachment = Some(value),
            b"origin" => {
                self.unread.add(key, &value);
                self.origin = Some(value);
            }
            b"data" => {
                self.unread.add(key, &value);
                self.data = Some(value);
            }
            b"relocatedCwd" => self.relocated_cwd = value.text(),
            b"continuedInSessionId" => self.continued_in = Some(value),
            b"sessions" => self.sessions = Some(value),
            b"unsignedThinking" => self.unsigned_thinking = Some(value).filter(Value::is_array),
            b"usage" => self.usage = Some(value),
            b"message" => self.message = Some(value),
            _ => {
                self.unread.add(key, &value);
                return false;
            }
        }
        true
    }

    /// Returns whether a member is `true`. Any other value counts as a member that no event holds.
    fn is_true(&mut self, key: &[u8], value: Value<'_>) -> bool {
        let is_true = value.bool() == Some(true);
        if !is_true {
            self.unread.add(key, &value);
        }
        is_true
    }
}

/// The members of the API's message in a line.
#[derive(Clone, Copy, Debug, Default)]
pub struct ApiMessage<'l> {
    /// The id of the response.
    pub id: Option<Text<'l>>,
    /// The model.
    pub model: Option<Text<'l>>,
    /// The content: a string or blocks.
    pub content: Option<Value<'l>>,
    /// The reason why the model stopped.
    pub stop_reason: Option<Raw<'l>>,
    /// The string at which the model stopped.
    pub stop_sequence: Option<Raw<'l>>,
    /// The tokens used.
    pub usage: Option<Value<'l>>,
    /// The time in `message` (FORMAT.md, "Described elsewhere").
    pub timestamp: Option<Raw<'l>>,
    /// The title in a `summary` line.
    pub summary: Option<Text<'l>>,
    /// The names of the members that no event holds.
    pub unread: Shape,
}

impl<'l> ApiMessage<'l> {
    /// Finds the members of a message. A value that is not an object becomes the content.
    pub fn new(message: Value<'l>) -> Self {
        let mut found = Self::default();
        if !message.is_object() {
            found.content = Some(message);
        }
        message.read_members(|key, value| found.set(key, value));
        found
    }

    /// Stores a member and returns whether its key is known.
    #[inline]
    pub(crate) fn set(&mut self, key: &[u8], value: Value<'l>) -> bool {
        match key {
            b"id" => self.id = value.text(),
            b"model" => self.model = value.text(),
            b"content" => self.content = Some(value),
            b"stop_reason" => self.stop_reason = Some(value.raw()),
            b"stop_sequence" => self.stop_sequence = Some(value.raw()),
            b"usage" => self.usage = Some(value),
            b"timestamp" => self.timestamp = time(value),
            b"summary" => self.summary = value.text(),
            b"type" | b"role" => {}
            _ => {
                self.unread.add(key, &value);
                return false;
            }
        }
        true
    }
}

fn field<'l>(value: Value<'l>) -> Field<Text<'l>> {
    match value.text() {
        Some(text) => Field::Value(text),
        None if value.is_null() => Field::Null,
        None => Field::Absent,
    }
}

fn time<'l>(value: Value<'l>) -> Option<Raw<'l>> {
    let raw = value.raw();
    (value.text().is_some() || raw.as_f64().is_some()).then_some(raw)
}

#[cfg(test)]
mod tests {
    use jsonl::Scanner;

    use super::*;

    #[test]
    fn members_of_the_wrong_kind_are_absent() {
        let line = br#"{"type":["user"],"uuid":5,"parentUuid":{},"timestamp":true,"isMeta":1}"#;
        let mut scanner = Scanner::default();
        let record = Record::new(scanner.scan_slice(line, 0).expect("valid"));
        assert!(record.kind.is_none() && record.uuid.is_none() && record.timestamp.is_none());
        assert_eq!(record.parent_uuid, Field::Absent);
        assert!(!record.is_meta);
    }

    #[test]
    fn of_duplicate_members_the_last_wins() {
        let line = br#"{"type":"user","sessionId":"a","sessionId":"b","parentUuid":null}"#;
        let mut scanner = Scanner::default();
        let record = Record::new(scanner.scan_slice(line, 0).expect("valid"));
        assert!(record.session_id.is_some_and(|id| id.is("b")));
        assert_eq!(record.parent_uuid, Field::Null);
    }
}
