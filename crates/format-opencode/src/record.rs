//! The records of a document, borrowed from it.
//!
//! In: `{"info":{"id":"msg_1","role":"user",..},"parts":[{"type":"text","text":"Hi",..}]}`. Out: a
//! [`Record`] with the role `user` and one part. The document without its records is a record too:
//! it has the session instead of a message.

use jsonl::{Text, Value};

/// A message with its parts, or the document around the messages. A member that is absent or of
/// another type than OpenCode's is `None`.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all that is read are messages")]
pub enum Record<'l> {
    /// The document without its messages.
    Session(SessionInfo<'l>),
    /// A message.
    Message(MessageInfo<'l>),
    /// Another value.
    Other,
}

/// The session.
#[derive(Clone, Copy, Debug)]
pub struct SessionInfo<'l> {
    /// The whole `info`.
    pub value: Value<'l>,
    /// The id: `ses_..`.
    pub id: Option<Text<'l>>,
    /// The session that started this one as a sub-agent.
    pub parent_id: Option<Text<'l>>,
    /// The folder in which the client was started.
    pub directory: Option<Text<'l>>,
    /// The title.
    pub title: Option<Text<'l>>,
    /// The version of the client.
    pub version: Option<Text<'l>>,
    /// The time of its start, in milliseconds since 1970.
    pub created: Option<Value<'l>>,
}

/// A message.
#[derive(Clone, Copy, Debug)]
pub struct MessageInfo<'l> {
    /// The whole `info`.
    pub value: Value<'l>,
    /// The id: `msg_..`.
    pub id: Option<Text<'l>>,
    /// The session.
    pub session_id: Option<Text<'l>>,
    /// `user` or `assistant`.
    pub role: Option<Text<'l>>,
    /// The model of a response.
    pub model_id: Option<Text<'l>>,
    /// Why the model stopped: `stop`, `tool-calls`, `length` and others.
    pub finish: Option<Text<'l>>,
    /// The tokens of a response.
    pub tokens: Option<Value<'l>>,
    /// The error of a failed response.
    pub error: Option<Value<'l>>,
    /// The time, in milliseconds since 1970.
    pub created: Option<Value<'l>>,
    /// The time at which the response was complete.
    pub completed: Option<Value<'l>>,
    /// The working directory.
    pub cwd: Option<Text<'l>>,
    /// Whether a response is the summary of a compaction.
    pub is_summary: bool,
    /// The parts: an array.
    pub parts: Option<Value<'l>>,
}

impl<'l> Record<'l> {
    /// Decodes a record.
    pub fn decode(record: Value<'l>) -> Self {
        let [info, parts, messages] = record.get_all(["info", "parts", "messages"]);
        let Some(info) = info.filter(Value::is_object) else { return Record::Other };
        if messages.is_some() {
            return Record::Session(SessionInfo::decode(info));
        }
        match parts.filter(Value::is_array) {
            Some(parts) => Record::Message(MessageInfo::decode(info, Some(parts))),
            None if info.get("role").is_some() => Record::Message(MessageInfo::decode(info, None)),
            None => Record::Session(SessionInfo::decode(info)),
        }
    }
}

impl<'l> SessionInfo<'l> {
    fn decode(value: Value<'l>) -> Self {
        let text = |name: &str| value.get(name)?.text();
        Self {
            value,
            id: text("id"),
            parent_id: text("parentID"),
            directory: text("directory"),
            title: text("title"),
            version: text("version"),
            created: value.get("time").and_then(|time| time.get("created")),
        }
    }

    /// Returns the id of the first message that the user undid: the client hides it and all later ones.
    pub fn undone(&self) -> Option<Text<'l>> {
        self.value.get("revert")?.get("messageID")?.text()
    }
}

impl<'l> MessageInfo<'l> {
    fn decode(value: Value<'l>, parts: Option<Value<'l>>) -> Self {
        let [id, session_id, role, model_id, finish, tokens, error, time, path, summary] = value
            .get_all([
                "id",
                "sessionID",
                "role",
                "modelID",
                "finish",
                "tokens",
                "error",
                "time",
                "path",
                "summary",
            ]);
        let text = |value: Option<Value<'l>>| value?.text();
        let [created, completed] =
            time.map_or([None; 2], |time| time.get_all(["created", "completed"]));
        let is_number = |time: &Value<'_>| time.raw().as_f64().is_some();
        Self {
            value,
            id: text(id),
            session_id: text(session_id),
            role: text(role),
            model_id: text(model_id),
            finish: text(finish),
            tokens: tokens.filter(Value::is_object),
            error: error.filter(Value::is_object),
            created: created.filter(is_number),
            completed: completed.filter(is_number),
            cwd: path.and_then(|path| path.get("cwd")?.text()),
            is_summary: summary.and_then(|it| it.bool()) == Some(true),
            parts,
        }
    }

    /// Returns whether the message is the user's.
    pub fn is_user(&self) -> bool {
        self.role.is_some_and(|role| role.is("user"))
    }

    /// Returns the parts.
    pub fn parts(&self) -> impl Iterator<Item = Value<'l>> + use<'l> {
        self.parts.into_iter().flat_map(|parts| parts.items())
    }
}

/// Returns the type of a part, such as `text`; empty if it has none.
pub(crate) fn part_type(part: Value<'_>) -> String {
    let kind = part.get("type").and_then(|kind| kind.text());
    kind.map(|kind| kind.decode().into_owned()).unwrap_or_default()
}

/// Returns whether a part is of a type.
pub(crate) fn is_type(part: Value<'_>, name: &str) -> bool {
    part.get("type").and_then(|kind| kind.text()).is_some_and(|kind| kind.is(name))
}
