//! Lists the members of a line that no event holds, so that a conversion can report them as lost.
//!
//! In: `{"type":"user","provenance":"real_user","message":{"role":"user","parts":[..]},..}`. Out:
//! `provenance`.

use core_model::{Body, Event, Shape, Vocabulary, is_void};
use jsonl::Text;

use crate::{
    record::Record,
    unread_part::{add_members, add_parts, list_members, list_parts, list_usage},
};

/// The names that Qwen Code has for the members that events hold.
pub(crate) static VOCABULARY: Vocabulary = Vocabulary {
    session_id: "sessionId",
    tool_use_result: "toolCallResult",
    is_meta: "provenance",
    is_api_error: "subtype",
    has_api_blocks: false,
    ids_from_ends: true,
    shape,
    list,
    record,
    ..Vocabulary::PLAIN
};

/// Returns the names of all members of a line and of its parts.
fn shape(event: &Event<'_>) -> Shape {
    let mut shape = Shape::default();
    if event.nth > 0 {
        shape.add_name(b"more");
    }
    let kind = event.kind.map_or("", |kind| kind.body());
    shape.add_name(kind.as_bytes());
    event.value.read_members(|key, value| {
        shape.add(key, &value);
        if value.text().is_none() {
            shape.add_name(b"no text");
        }
        match key {
            b"message" => add_members(&mut shape, value, add_parts),
            b"usageMetadata" | b"toolCallResult" => add_members(&mut shape, value, |_, _| {}),
            b"systemPayload" => add_members(&mut shape, value, |shape, value| {
                add_members(shape, value, |_, _| {});
                value.items().for_each(|message| {
                    add_members(shape, message, add_parts);
                });
            }),
            _ => {}
        }
        true
    });
    shape
}

fn list(event: &Event<'_>, found: &mut dyn FnMut(&str)) {
    let record = Record::decode(event.value);
    if event.nth > 0 {
        return list_repeated(event, &record, found);
    }
    let kind = event.kind.map(|kind| kind.decode());
    let kind = kind.as_deref().unwrap_or_default();
    let is_message = matches!(event.body, Body::Message(_));
    let is_title = matches!(event.body, Body::Title(_));
    for (key, value) in event.value.members() {
        let key = key.decode();
        let is_text = value.text().is_some();
        let is_held = match (kind, &*key) {
            (_, "type") => true,
            // No line of another format has the place of a title in the tree.
            ("system", "uuid" | "parentUuid" | "timestamp") => is_text && !is_title,
            (_, "uuid" | "parentUuid" | "sessionId" | "timestamp" | "cwd" | "version") => is_text,
            (_, "gitBranch") => is_text,
            (_, "message") => is_message,
            ("assistant", "model") => is_text && is_message,
            ("assistant", "usageMetadata") => value.is_object() && is_message,
            ("tool_result", "toolCallResult") => is_message,
            ("system", "systemPayload" | "subtype") => true,
            _ => false,
        };
        if !is_held && !is_void(&value) {
            found(&key);
        }
    }
    if let Some(message) = record.message.filter(|_| is_message) {
        list_members(message, "message", &["role", "parts"], found);
        record.parts().into_iter().for_each(|parts| list_parts(parts, found));
    }
    if let Some(usage) = record.usage.filter(|_| kind == "assistant") {
        list_usage(usage, found);
    }
    let Some(payload) = record.payload.filter(|_| kind == "system") else { return };
    match &event.body {
        Body::Title(_) => list_members(payload, "systemPayload", &["customTitle"], found),
        Body::Notice(_) if record.compressed_history().is_some() => {
            list_members(payload, "systemPayload", &["info", "compressedHistory"], found);
            if let Some(info) = payload.get("info") {
                list_members(info, "info", &[], found);
            }
        }
        // The kind of a notice says less than its subtype.
        _ => list_members(payload, "systemPayload", &["subtype", "text"], found),
    }
}

/// Lists the members of a message that a compression repeats.
fn list_repeated(event: &Event<'_>, record: &Record<'_>, found: &mut dyn FnMut(&str)) {
    let place = (event.nth as usize).saturating_sub(1);
    let message = record.compressed_history().and_then(|history| history.items().nth(place));
    let Some(message) = message else { return };
    list_members(message, "compressedHistory", &["role", "parts"], found);
    message.get("parts").into_iter().for_each(|parts| list_parts(parts, found));
}

/// Returns the words that name a kind of record, such as `system` and `ui_telemetry`.
fn record<'l>(event: &Event<'l>) -> [Option<Text<'l>>; 2] {
    [event.kind, Record::decode(event.value).subtype]
}
