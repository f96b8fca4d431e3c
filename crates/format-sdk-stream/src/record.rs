//! What a line is, in either flavor: told by `type` on the wire, by its members in a dump.

use jsonl::Value;

/// The two ways in which a stream is written down.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Flavor {
    /// What the Agent SDK for Python makes of a line, as `json.dumps(asdict(message))` prints it.
    Dump,
    /// The lines of the client's `--output-format stream-json`.
    Wire,
}

/// What a line is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum RecordKind {
    /// A prompt as the orchestrator writes it before each run.
    Prompt,
    /// Something that the client tells: the start of a run, hooks, tasks, compactions.
    System,
    /// What the model said.
    Assistant,
    /// What the user or a tool said.
    User,
    /// How a run ended.
    Result,
    /// A piece of a message that is still being written.
    StreamEvent,
    /// A change of the rate limits.
    RateLimit,
    /// The conversation was replaced by an empty one.
    ConversationReset,
    /// Anything else.
    Unknown,
}

/// A line with what it is.
#[derive(Clone, Copy, Debug)]
pub struct Record<'l> {
    /// The flavor of the line, whatever the flavor of its file.
    pub flavor: Flavor,
    /// What the line is.
    pub kind: RecordKind,
    /// The line.
    pub value: Value<'l>,
}

impl<'l> Record<'l> {
    /// Tells what a line is. Files mix both flavors (FORMAT.md), so each line stands for itself.
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

    /// Returns the object that holds what a system line says: the line itself on the wire.
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

/// Tells by its members what a dumped line is; the first that fits.
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

/// Returns whether a line is a dumped one and of no other format.
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

/// The members that Claude Code's own logs have and its stream has not.
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
