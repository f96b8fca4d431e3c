//! The lines of a log of Gemini CLI, borrowed from the line.
//!
//! In: `{"id":"a","timestamp":"..","type":"user","content":[{"text":"Hi"}]}`. Out: a
//! [`GeminiRecord::Message`] with the content.

use jsonl::{Text, Value};

use crate::part::member;

/// A line. Each changes the session: the client reads all of them in order.
#[derive(Clone, Copy, Debug)]
pub enum GeminiRecord<'l> {
    /// The start of the session, or of another run of the client: `sessionId` and `projectHash`.
    Header(GeminiHeader<'l>),
    /// A message. A later line with the same `id` replaces it.
    Message(GeminiMessage<'l>),
    /// New values for members of the session: the object in `$set`. The member `messages` replaces all
    /// messages.
    Set(Value<'l>),
    /// The message with this id and all after it are no part of the session any more: `$rewindTo`.
    Rewind(Text<'l>),
    /// Anything else, which the client ignores.
    Other,
}

/// The start of a session.
#[derive(Clone, Copy, Debug)]
pub struct GeminiHeader<'l> {
    /// The id of the session.
    pub session_id: Text<'l>,
    /// The SHA-256 of the project's folder.
    pub project_hash: Text<'l>,
    /// The time of the start, ISO 8601.
    pub start_time: Option<Text<'l>>,
    /// `main` or `subagent`.
    pub kind: Option<Text<'l>>,
    /// The folders that the agent works in, an array.
    pub directories: Option<Value<'l>>,
    /// The title that a model gave the session.
    pub summary: Option<Text<'l>>,
    /// The messages of a whole session in one line, an array.
    pub messages: Option<Value<'l>>,
}

/// A message. A member that is absent or of another type than the client's is `None`.
#[derive(Clone, Copy, Debug)]
pub struct GeminiMessage<'l> {
    /// The id of the message.
    pub id: Text<'l>,
    /// The time, ISO 8601.
    pub timestamp: Option<Text<'l>>,
    /// `user`, `gemini`, `info`, `warning` or `error`.
    pub kind: Option<Text<'l>>,
    /// The content: a string, a part, or an array of both.
    pub content: Option<Value<'l>>,
    /// The thoughts of a response, an array of `{subject, description}`.
    pub thoughts: Option<Value<'l>>,
    /// The calls of a response with their results, an array.
    pub tool_calls: Option<Value<'l>>,
    /// The tokens of a response, an object.
    pub tokens: Option<Value<'l>>,
    /// The model of a response.
    pub model: Option<Text<'l>>,
    /// Whether the message is the summary of a compaction, in lines of this crate.
    pub is_summary: bool,
    /// More about a notice of another format, an object, in lines of this crate.
    pub notice: Option<Value<'l>>,
}

impl<'l> GeminiRecord<'l> {
    /// Decodes a line. The client tests in this order.
    pub fn decode(line: Value<'l>) -> Self {
        if !line.is_object() {
            return Self::Other;
        }
        if let Some(id) = member(line, "$rewindTo") {
            return Self::Rewind(id);
        }
        if let Some(message) = GeminiMessage::decode(line) {
            return Self::Message(message);
        }
        if let Some(set) = line.get("$set").filter(Value::is_object) {
            return Self::Set(set);
        }
        GeminiHeader::decode(line).map_or(Self::Other, Self::Header)
    }

    /// Returns the array of messages in a line that has some: a checkpoint, or a session in one line.
    pub fn messages(&self) -> Option<Value<'l>> {
        match self {
            Self::Header(header) => header.messages,
            Self::Set(set) => set.get("messages").filter(Value::is_array),
            _ => None,
        }
    }
}

impl<'l> GeminiHeader<'l> {
    /// Decodes a header; `None` for another value.
    pub fn decode(line: Value<'l>) -> Option<Self> {
        let [session, hash, start, kind, directories, summary, messages] = line.get_all([
            "sessionId",
            "projectHash",
            "startTime",
            "kind",
            "directories",
            "summary",
            "messages",
        ]);
        Some(Self {
            session_id: session?.text()?,
            project_hash: hash?.text()?,
            start_time: start.and_then(|start| start.text()),
            kind: kind.and_then(|kind| kind.text()),
            directories: directories.filter(Value::is_array),
            summary: summary.and_then(|summary| summary.text()),
            messages: messages.filter(Value::is_array),
        })
    }

    /// Returns the title, unless it is blank.
    pub(crate) fn title(&self) -> Option<Text<'l>> {
        self.summary.filter(|title| !title.is_blank())
    }

    /// Returns the first folder.
    pub fn directory(&self) -> Option<Text<'l>> {
        self.directories?.items().next()?.text()
    }
}

impl<'l> GeminiMessage<'l> {
    /// Decodes a message; `None` for a value without a string `id`.
    pub fn decode(value: Value<'l>) -> Option<Self> {
        let mut id = None;
        let mut message = Self {
            id: Text::new("\"\"")?,
            timestamp: None,
            kind: None,
            content: None,
            thoughts: None,
            tool_calls: None,
            tokens: None,
            model: None,
            is_summary: false,
            notice: None,
        };
        let is_full = |value: &Value<'_>| value.is_array() && value.items().next().is_some();
        value.read_members(|key, value| {
            match key {
                b"id" => id = value.text(),
                b"timestamp" => message.timestamp = value.text(),
                b"type" => message.kind = value.text(),
                b"content" => message.content = Some(value).filter(|value| !value.is_null()),
                b"thoughts" => message.thoughts = Some(value).filter(is_full),
                b"toolCalls" => message.tool_calls = Some(value).filter(is_full),
                b"tokens" => message.tokens = Some(value).filter(Value::is_object),
                b"model" => message.model = value.text(),
                b"isSummary" => message.is_summary = value.bool() == Some(true),
                b"notice" => message.notice = Some(value).filter(Value::is_object),
                _ => return false,
            }
            true
        });
        Some(Self { id: id?, ..message })
    }

    /// Returns whether the message has a type.
    pub(crate) fn is(&self, kind: &str) -> bool {
        self.kind.is_some_and(|it| it.is(kind))
    }

    /// Returns the parts of the content.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Value<'l>> + use<'l> {
        self.content
            .into_iter()
            .flat_map(|content| if content.is_array() { content.items() } else { content.alone() })
    }

    /// Returns whether a part of the content is a call. Then the client does not send the calls in
    /// `toolCalls`.
    pub(crate) fn has_call_parts(&self) -> bool {
        self.parts().any(|part| part.get("functionCall").is_some())
    }

    /// Returns whether a part of the content is a thought. Then the client does not send the ones in
    /// `thoughts`.
    pub(crate) fn has_thought_parts(&self) -> bool {
        self.parts().any(|part| part.get("thought").and_then(|it| it.bool()) == Some(true))
    }

    /// Returns the number of events of the message: itself, and the results of its calls.
    pub(crate) fn n_events(&self) -> usize {
        if self.answered().next().is_some() { 2 } else { 1 }
    }

    /// Returns the calls that have a result.
    pub(crate) fn answered(&self) -> impl Iterator<Item = Value<'l>> + use<'l> {
        let calls = self.tool_calls.into_iter().flat_map(|calls| calls.items());
        calls.filter(|call| has_result(*call))
    }
}

/// Returns whether a call in `toolCalls` has a result.
pub(crate) fn has_result(call: Value<'_>) -> bool {
    let [id, result] = call.get_all(["id", "result"]);
    id.is_some_and(|id| id.text().is_some()) && result.is_some_and(|result| !result.is_null())
}
