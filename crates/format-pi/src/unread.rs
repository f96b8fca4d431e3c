//! Lists the members of a line that no event holds, so that a conversion can report them as lost.
//!
//! In: `{"type":"message","id":"1","message":{"role":"user","content":"Hi","mood":"good"}}`. Out:
//! `message.mood`.

use core_model::{Body, Event, Shape, Vocabulary, is_void};
use jsonl::{Text, Value};

/// The names that pi has for the members that events hold.
pub(crate) static VOCABULARY: Vocabulary = Vocabulary {
    session_id: "id",
    uuid: "id",
    parent: "parentId",
    message_id: "message.responseId",
    tool_use_result: "message.details",
    is_api_error: "message.stopReason",
    has_api_blocks: false,
    ids_from_ends: true,
    shape,
    list,
    record,
    ..Vocabulary::PLAIN
};

/// Returns the names of all members of a line and of its message.
fn shape(event: &Event<'_>) -> Shape {
    let mut shape = Shape::default();
    if let Some(kind) = event.kind {
        shape.add_name(kind.body().as_bytes());
    }
    event.value.read_members(|key, value| {
        shape.add(key, &value);
        match key {
            b"message" => add_message(&mut shape, value),
            b"data" => value.read_members(|key, value| {
                shape.add(key, &value);
                true
            }),
            _ => add_type(&mut shape, &value),
        }
        true
    });
    shape
}

fn add_message(shape: &mut Shape, message: Value<'_>) {
    message.read_members(|key, value| {
        shape.add(key, &value);
        add_type(shape, &value);
        match key {
            b"role" | b"stopReason" => {
                let word = value.text().map_or("", |text| text.body());
                shape.add_name(word.as_bytes());
            }
            b"usage" => value.read_members(|key, value| {
                shape.add(key, &value);
                true
            }),
            b"content" if value.is_array() && value.items().next().is_none() => {
                shape.add_name(b"no content");
            }
            _ => {}
        }
        true
    });
}

/// Adds whether a value is a string, because events hold most members only if they are.
fn add_type(shape: &mut Shape, value: &Value<'_>) {
    if value.text().is_none() {
        shape.add_name(b"no text");
    }
}

/// The tokens of a response that events hold.
const TOKENS: [&str; 4] = ["input", "output", "cacheRead", "cacheWrite"];

fn list(event: &Event<'_>, found: &mut dyn FnMut(&str)) {
    let kind = event.kind.map(|kind| kind.decode());
    let kind = kind.as_deref().unwrap_or_default();
    for (key, value) in event.value.members() {
        let key = key.decode();
        let is_text = value.text().is_some();
        let is_held = match (kind, &*key) {
            (_, "type") | ("message", "message") | ("custom_message", "content") => true,
            // No line of another format has the place of a name in the tree.
            ("session_info", "id" | "parentId" | "timestamp") => false,
            // Targets take the time of the first message.
            ("session", "timestamp") => false,
            (_, "id" | "timestamp") | ("session", "cwd" | "modelId") => is_text,
            (_, "parentId") => kind != "session" && is_text,
            ("compaction" | "branch_summary", "summary") => is_text,
            ("session_info", "name") => is_text,
            ("custom", "data") => matches!(event.body, Body::Notice(_)),
            _ => false,
        };
        if !is_held && !is_void(&value) {
            found(&key);
        }
        match (kind, &*key) {
            ("message", "message") => list_message(event, value, found),
            ("custom", "data") if is_held => list_notice(value, found),
            _ => {}
        }
    }
}

/// Lists the members of a notice of another format. Its kind says less than its subtype.
fn list_notice(data: Value<'_>, found: &mut dyn FnMut(&str)) {
    let known = ["subtype", "text"];
    for (key, value) in data.members() {
        if !known.iter().any(|name| key.is(name)) && !is_void(&value) {
            found(&format!("data.{}", key.decode()));
        }
    }
}

fn list_message(event: &Event<'_>, message: Value<'_>, found: &mut dyn FnMut(&str)) {
    let role = message.get("role").and_then(|role| role.text()).map(|role| role.decode());
    let role = role.as_deref().unwrap_or_default();
    let is_notice = matches!(event.body, Body::Notice(_));
    for (key, value) in message.members() {
        let key = key.decode();
        let is_text = value.text().is_some();
        let is_held = match (role, &*key) {
            (_, "role") => true,
            ("user" | "toolResult" | "custom" | "hookMessage", "content") => true,
            ("assistant", "content") => true,
            ("assistant", "model" | "responseId") => is_text && !is_notice,
            ("assistant", "stopReason") => {
                is_notice
                    || is_text
                        && !["error", "aborted"]
                            .iter()
                            .any(|it| value.text().is_some_and(|text| text.is(it)))
            }
            ("assistant", "errorMessage") => is_text && is_notice,
            ("assistant", "usage") => value.is_object() && !is_notice,
            ("toolResult", "toolCallId") => is_text,
            ("toolResult", "isError") => value.bool().is_some(),
            ("toolResult", "details") => true,
            ("bashExecution", "command") => is_text && !is_notice,
            ("bashExecution", "output") => is_text,
            _ => false,
        };
        if !is_held && !is_void(&value) {
            found(&format!("message.{key}"));
        }
        if role == "assistant" && key == "usage" && is_held {
            for (key, value) in value.members() {
                let key = key.decode();
                if !TOKENS.contains(&&*key) && !is_void(&value) {
                    found(&format!("message.usage.{key}"));
                }
            }
        }
    }
}

/// Returns the words that name a kind of record, such as `message` and `system`.
fn record<'l>(event: &Event<'l>) -> [Option<Text<'l>>; 2] {
    let role = || event.value.get("message")?.get("role")?.text();
    let custom = || event.value.get("customType")?.text();
    [event.kind, role().or_else(custom)]
}
