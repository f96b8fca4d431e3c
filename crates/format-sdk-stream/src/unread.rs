//! Lists the members of a line that no event holds, so that a conversion can report them as lost.
//!
//! In: `{"content": [], "model": "m", "parent_tool_use_id": null, "mood": "good"}`. Out: `mood`.

use core_model::{Body, Event, Notice, Shape, Vocabulary, is_void};
use jsonl::{Text, Value};

use crate::record::{Flavor, Record, RecordKind};

const NAMES: Vocabulary = Vocabulary {
    version: "claude_code_version",
    is_meta: "isSynthetic",
    has_block_records: true,
    shape,
    list,
    record,
    ..Vocabulary::PLAIN
};

static WIRE: Vocabulary = NAMES;

static DUMP: Vocabulary = Vocabulary { message_id: "message_id", ..NAMES };

/// Returns the names that a flavor has for the members that events hold.
pub(crate) fn vocabulary(flavor: Flavor) -> &'static Vocabulary {
    match flavor {
        Flavor::Dump => &DUMP,
        Flavor::Wire => &WIRE,
    }
}

/// Returns the names of all members of a line, and of the object with its message or data.
fn shape(event: &Event<'_>) -> Shape {
    let mut shape = Shape::default();
    if let Body::Notice(Notice { subtype: Some(subtype), .. }) = event.body {
        shape.add_name(subtype.body().as_bytes());
    }
    event.value.read_members(|key, value| {
        shape.add(key, &value);
        if key == b"message" || key == b"data" || key == b"compact_metadata" {
            add_inner(&mut shape, value);
        } else if value.text().is_none() && is_id(key) || is_flag(key) {
            shape.add_name(value.raw().as_str().as_bytes());
        }
        true
    });
    shape
}

fn add_inner(shape: &mut Shape, value: Value<'_>) {
    value.read_members(|key, value| {
        shape.add(key, &value);
        if key == b"level" || value.text().is_none() && is_id(key) {
            shape.add_name(value.raw().as_str().as_bytes());
        }
        true
    });
}

/// Returns whether an event holds a member only if it is a string.
fn is_id(key: &[u8]) -> bool {
    matches!(key, b"session_id" | b"uuid" | b"parent_tool_use_id" | b"subtype")
}

/// Returns whether an event holds a member only if it has a certain value.
fn is_flag(key: &[u8]) -> bool {
    key == b"isSynthetic" || key == b"level"
}

/// Members of a line that events hold.
const AROUND: &[&str] =
    &["type", "subtype", "session_id", "uuid", "parent_tool_use_id", "message", "data"];

fn list(event: &Event<'_>, found: &mut dyn FnMut(&str)) {
    let record = Record::new(event.value);
    let is_dump = record.flavor == Flavor::Dump;
    let (mut own, inner): (&[&str], &[&str]) = match record.kind {
        RecordKind::Prompt => (&["content", "timestamp"], &[]),
        RecordKind::User if is_dump => (&["content", "tool_use_result", "timestamp"], &[]),
        RecordKind::User => (&["tool_use_result", "timestamp"], &["role", "content"]),
        RecordKind::Assistant if is_dump => (DUMPED, &[]),
        RecordKind::Assistant => (&["error", "request_id", "timestamp"], MESSAGE),
        RecordKind::System if is_init(event) => (INIT, INIT),
        RecordKind::System => (&["timestamp"], &[]),
        RecordKind::Result => (RESULT, &[]),
        RecordKind::RateLimit => (&["rate_limit_info", "timestamp"], &[]),
        RecordKind::ConversationReset => (&["new_conversation_id", "timestamp"], &[]),
        RecordKind::StreamEvent | RecordKind::Unknown => (&[], &[]),
    };
    if record.kind == RecordKind::System && is_dump {
        own = &[];
    }
    let words = words(event, &record);
    let mut check = |prefix: &str, key: Text<'_>, value: Value<'_>, known: &[&str]| {
        let key = key.decode();
        let is_words = words.is_some_and(|words| words.as_ptr() == value.raw().as_str().as_ptr());
        let is_odd = is_id(key.as_bytes()) && value.text().is_none();
        let is_known = !is_odd && (AROUND.contains(&&*key) || known.contains(&&*key));
        if is_known || is_words || is_void(&value) || is_held_by_value(event, &key, value) {
            return;
        }
        if key == "compact_metadata" {
            for (key, value) in value.members() {
                let is_held = key.is("trigger") || key.is("pre_tokens");
                if !is_held && !is_void(&value) {
                    found(&format!("compact_metadata.{}", key.decode()));
                }
            }
            return;
        }
        found(&format!("{prefix}{key}"));
    };
    for (key, value) in event.value.members() {
        check("", key, value, own);
    }
    let (name, prefix) = if is_dump { ("data", "") } else { ("message", "message.") };
    if let Some(holder) = event.value.get(name) {
        for (key, value) in holder.members() {
            check(prefix, key, value, inner);
        }
    }
}

/// Members of a message on the wire that events hold.
const MESSAGE: &[&str] =
    &["id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage"];

/// Members of a dumped message that events hold.
const DUMPED: &[&str] = &[
    "content",
    "model",
    "error",
    "request_id",
    "usage",
    "message_id",
    "stop_reason",
    "stop_sequence",
    "timestamp",
];

/// Members of an `init` line that events hold.
const INIT: &[&str] =
    &["cwd", "claude_code_version", "tools", "model", "permissionMode", "timestamp"];

/// Members of a result that events hold.
const RESULT: &[&str] = &[
    "is_error",
    "duration_ms",
    "duration_api_ms",
    "num_turns",
    "total_cost_usd",
    "usage",
    "result",
    "errors",
    "timestamp",
];

fn is_init(event: &Event<'_>) -> bool {
    matches!(event.body, Body::Start(_))
}

/// Returns the text that the event of a system line holds.
fn words<'l>(event: &Event<'l>, record: &Record<'l>) -> Option<&'l str> {
    match &event.body {
        Body::Notice(notice) if record.kind == RecordKind::System => Some(notice.text?.as_str()),
        _ => None,
    }
}

/// Returns whether an event holds a member because of its value.
fn is_held_by_value(event: &Event<'_>, key: &str, value: Value<'_>) -> bool {
    match key {
        "isSynthetic" => value.bool() == Some(true),
        "level" => {
            matches!(event.body, Body::Notice(_))
                && value.text().is_some_and(|it| it.is("error") || it.is("warning"))
        }
        _ => false,
    }
}

/// Returns names for the kind of a line, which a dump does not have: `system`, `init`.
fn record<'l>(event: &Event<'l>) -> [Option<Text<'l>>; 2] {
    let record = Record::new(event.value);
    let kind = match record.kind {
        RecordKind::Prompt => "\"user_message\"",
        RecordKind::System => "\"system\"",
        RecordKind::Assistant => "\"assistant\"",
        RecordKind::User => "\"user\"",
        RecordKind::Result => "\"result\"",
        RecordKind::StreamEvent => "\"stream_event\"",
        RecordKind::RateLimit => "\"rate_limit_event\"",
        RecordKind::ConversationReset => "\"conversation_reset\"",
        RecordKind::Unknown => "",
    };
    let subtype = event.value.get("subtype").and_then(|subtype| subtype.text());
    let subtype = subtype.filter(|_| record.kind == RecordKind::System);
    [Text::new(kind).or(event.kind), subtype]
}
