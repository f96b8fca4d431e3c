//! Determines the flavor and the kind of a line: by `type` on the wire, by its members in a dump.
//!
//! In: `{"subtype": "init", "data": {}}`. Out: [`Flavor::Dump`], [`RecordKind::System`].

use jsonl::Value;

/// The two spellings of a stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Flavor {
    /// The Agent SDK for Python's dump of a message: `json.dumps(asdict(message))`.
    Dump,
    /// The lines of the client's `--output-format stream-json`.
    Wire,
}

/// The kind of a line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum RecordKind {
    /// A prompt as the orchestrator writes it before each run.
    Prompt,
    /// A message of the client: the start of a run, hooks, tasks, compactions.
    System,
    /// A message of the model.
    Assistant,
    /// A message of the user, or the result of a tool.
    User,
    /// The end of a run.
    Result,
    /// A piece of a message that is still being written.
    StreamEvent,
    /// A change of the rate limits.
    RateLimit,
    /// The conversation was replaced by an empty one.
    ConversationReset,
    /// Any other line.
    Unknown,
}

/// A line with its flavor and kind.
#[derive(Clone, Copy, Debug)]
pub struct Record<'l> {
    /// The flavor of the line, whatever the flavor of its file.
    pub flavor: Flavor,
    /// The kind of the line.
    pub kind: RecordKind,
    /// The line.
    pub value: Value<'l>,
}

impl<'l> Record<'l> {
    /// Determines flavor and kind of a line. Files mix both flavors (FORMAT.md), so the lines
    /// before it do not matter.
    pub fn new(value: Value<'l>) -> Self {
        match value.get("type") {
            Some(kind) => {
                let (flavor, kind) = kind_by_type(value, kind);
                Self { flavor, kind, value }
            }
            None => Self { flavor: Flavor::Dump, kind: kind_by_members(value), value },
        }
    }

    /// Returns the object that holds content and model: the line itself in a dump.
    pub fn message(&self) -> Option<Value<'l>> {
        match self.flavor {
            Flavor::Dump => Some(self.value),
            Flavor::Wire => self.value.get("message"),
        }
    }

    /// Returns the content of a message.
    pub fn content(&self) -> Option<Value<'l>> {
        self.message()?.get("content")
    }

    /// Returns the object with the data of a system line: the line itself on the wire.
    pub fn system(&self) -> Option<Value<'l>> {
        match self.flavor {
            Flavor::Dump => self.value.get("data"),
            Flavor::Wire => Some(self.value),
        }
    }
}

fn kind_by_type(value: Value<'_>, kind: Value<'_>) -> (Flavor, RecordKind) {
    let kind = kind.text().map(|text| text.decode());
    let kind = match kind.as_deref() {
        Some("user_message") if value.get("content").is_some_and(|it| it.text().is_some()) => {
            return (Flavor::Dump, RecordKind::Prompt);
        }
        Some("system") => RecordKind::System,
        Some("assistant") => RecordKind::Assistant,
        Some("user") => RecordKind::User,
        Some("result") => RecordKind::Result,
        Some("stream_event") => RecordKind::StreamEvent,
        Some("rate_limit_event") => RecordKind::RateLimit,
        Some("conversation_reset") => RecordKind::ConversationReset,
        _ => RecordKind::Unknown,
    };
    (Flavor::Wire, kind)
}

/// Determines the kind of a dumped line by its members. The first match counts.
fn kind_by_members(value: Value<'_>) -> RecordKind {
    let names = [
        "rate_limit_info",
        "new_conversation_id",
        "event",
        "uuid",
        "subtype",
        "data",
        "duration_ms",
        "session_id",
        "content",
        "model",
    ];
    let [limit, reset, event, uuid, subtype, data, duration, session, content, model] =
        value.get_all(names).map(|member| member.is_some());
    if limit {
        RecordKind::RateLimit
    } else if reset {
        RecordKind::ConversationReset
    } else if event && uuid {
        RecordKind::StreamEvent
    } else if subtype {
        if data {
            RecordKind::System
        } else if duration || session {
            RecordKind::Result
        } else {
            RecordKind::Unknown
        }
    } else if content {
        if model { RecordKind::Assistant } else { RecordKind::User }
    } else {
        RecordKind::Unknown
    }
}

/// Returns whether a line is dumped and of no other format.
pub(crate) fn is_dump(value: Value<'_>) -> bool {
    let record = Record::new(value);
    let has = |name| value.get(name).is_some();
    record.flavor == Flavor::Dump
        && match record.kind {
            RecordKind::Unknown => false,
            RecordKind::Prompt => !has("role"),
            RecordKind::Assistant | RecordKind::User => has("parent_tool_use_id"),
            RecordKind::System => value.get("data").is_some_and(|data| data.is_object()),
            _ => true,
        }
}

/// Members of Claude Code's logs that its stream does not have.
const LOG_MEMBERS: [&str; 7] =
    ["sessionId", "parentUuid", "leafUuid", "isSidechain", "snapshot", "messageId", "userType"];

/// Returns whether a line is one of the wire and of no other format.
pub(crate) fn is_wire(value: Value<'_>) -> bool {
    let Some(kind) = value.get("type").and_then(|kind| kind.text()) else { return false };
    let kind = kind.decode();
    if LOG_MEMBERS.iter().any(|name| value.get(name).is_some()) {
        return false;
    }
    match kind.as_ref() {
        "control_request" | "control_response" | "control_cancel_request" => true,
        "system" | "assistant" | "user" | "result" | "stream_event" | "rate_limit_event"
        | "conversation_reset" | "tool_progress" | "auth_status" | "tool_use_summary"
        | "prompt_suggestion" => {
            value.get("session_id").is_some() || value.get("parent_tool_use_id").is_some()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> (Flavor, RecordKind) {
        let mut scanner = jsonl::Scanner::default();
        let record = Record::new(scanner.scan_slice(line.as_bytes(), 0).expect("JSON"));
        (record.flavor, record.kind)
    }

    fn detected(line: &str) -> (bool, bool) {
        let mut scanner = jsonl::Scanner::default();
        let value = scanner.scan_slice(line.as_bytes(), 0).expect("JSON");
        (is_dump(value), is_wire(value))
    }

    #[test]
    fn dumped_lines_are_told_by_their_members() {
        let cases = [
            (r#"{"type": "user_message", "content": "x"}"#, RecordKind::Prompt),
            (r#"{"subtype": "init", "data": {}}"#, RecordKind::System),
            (r#"{"subtype": "success", "duration_ms": 1}"#, RecordKind::Result),
            (r#"{"content": [], "model": null}"#, RecordKind::Assistant),
            (r#"{"content": "x", "parent_tool_use_id": null}"#, RecordKind::User),
            (r#"{"uuid": "u", "event": {}}"#, RecordKind::StreamEvent),
            (r#"{"rate_limit_info": {}, "uuid": "u"}"#, RecordKind::RateLimit),
            (r#"{"new_conversation_id": "c"}"#, RecordKind::ConversationReset),
            (r#"{"subtype": "x"}"#, RecordKind::Unknown),
            ("[]", RecordKind::Unknown),
        ];
        for (line, kind) in cases {
            assert_eq!(of(line), (Flavor::Dump, kind), "{line}");
        }
    }

    #[test]
    fn detection_leaves_the_lines_of_others() {
        let cases = [
            (r#"{"type":"user_message","content":"x","timestamp":"t"}"#, (true, false)),
            (r#"{"type":"user_message","role":"user","content":[]}"#, (false, false)),
            (r#"{"content": [], "parent_tool_use_id": null}"#, (true, false)),
            (r#"{"content":"x","role":"user"}"#, (false, false)),
            (r#"{"type":"assistant","message":{},"session_id":"s"}"#, (false, true)),
            (
                r#"{"type":"assistant","message":{},"session_id":"s","sessionId":"t"}"#,
                (false, false),
            ),
            (r#"{"type":"user","message":{}}"#, (false, false)),
            (r#"{"type":"result","exit_status":"completed"}"#, (false, false)),
            (r#"{"type":"control_request","request_id":"r","request":{}}"#, (false, true)),
            ("null", (false, false)),
            ("\"type\"", (false, false)),
        ];
        for (line, expected) in cases {
            assert_eq!(detected(line), expected, "{line}");
        }
    }
}
