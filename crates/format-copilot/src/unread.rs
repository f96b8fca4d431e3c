//! Lists the members of a line that no event holds, so that a conversion can report them as lost.
//!
//! In: `{"type":"user.message","data":{"content":"Hi","delivery":"idle"},"id":"1",..}`. Out:
//! `data.delivery`.

use core_model::{Event, Shape, Vocabulary, is_void};
use jsonl::{Text, Value};

use crate::{
    reader::{has_blob, reasoning_blocks, summary},
    record::{Entry, Record, text},
};

/// The names that Copilot has for the members that events hold.
pub(crate) static VOCABULARY: Vocabulary = Vocabulary {
    session_id: "data.sessionId",
    cwd: "context.cwd",
    version: "data.copilotVersion",
    git_branch: "context.branch",
    uuid: "id",
    parent: "parentId",
    message_id: "data.apiCallId",
    tool_use_result: "result.detailedContent",
    is_meta: "data.source",
    has_api_blocks: false,
    ids_from_ends: true,
    shape,
    list,
    record,
    ..Vocabulary::PLAIN
};

/// Returns the names of all members of a line, of its data, and of the objects and arrays in that.
fn shape(event: &Event<'_>) -> Shape {
    let mut shape = Shape::default();
    shape.add_name(if event.nth == 0 { b"first" } else { b"other" });
    shape.add_name(if event.has_next { b"more" } else { b"last" });
    if let Some(kind) = event.kind {
        shape.add_name(kind.body().as_bytes());
    }
    event.value.read_members(|key, value| {
        add(&mut shape, key, &value);
        if key == b"data" {
            value.read_members(|key, value| {
                add(&mut shape, key, &value);
                if key == b"success" {
                    shape.add_name(value.raw().as_str().as_bytes());
                }
                add_inner(&mut shape, value);
                true
            });
        }
        true
    });
    shape
}

fn add_inner(shape: &mut Shape, value: Value<'_>) {
    if value.is_object() {
        value.read_members(|key, value| {
            add(shape, key, &value);
            value.items().for_each(|item| add_members(shape, item));
            true
        });
    }
    value.items().for_each(|item| add_members(shape, item));
}

fn add_members(shape: &mut Shape, item: Value<'_>) {
    if !item.is_object() {
        shape.add_name(b"no object");
    }
    item.read_members(|key, value| {
        add(shape, key, &value);
        if key == b"mimeType" {
            shape.add_name(value.raw().as_str().as_bytes());
        }
        true
    });
}

/// Adds a member, and whether it is a string, because events hold most members only if they are.
fn add(shape: &mut Shape, key: &[u8], value: &Value<'_>) {
    shape.add(key, value);
    match value.text() {
        None => shape.add_name(b"no text"),
        Some(text) if text.is_empty() => shape.add_name(b"empty"),
        Some(_) => {}
    }
}

fn list(event: &Event<'_>, found: &mut dyn FnMut(&str)) {
    let record = Record::decode(event.value);
    let is_first = event.nth == 0;
    if is_first {
        for (key, value) in event.value.members() {
            let key = key.decode();
            let is_text = value.text().is_some();
            // No record of another format has the place of these in the chain.
            let is_aside = matches!(
                record.entry,
                Entry::Start(_) | Entry::Resume(_) | Entry::ModelChange(_) | Entry::Title(_)
            );
            let is_held = match &*key {
                "type" => true,
                "data" => value.is_object(),
                "id" | "timestamp" | "parentId" if is_aside => false,
                "id" | "timestamp" | "agentId" | "parentId" => is_text,
                _ => false,
            };
            if !is_held && !is_void(&value) {
                found(&key);
            }
        }
    }
    // The members of a line with two events are listed once.
    let Some(data) = record.data.filter(|_| is_first) else { return };
    for (key, value) in data.members() {
        let key = key.decode();
        if !is_held(&record.entry, data, &key, &value) && !is_void(&value) {
            found(&format!("data.{key}"));
        }
    }
    list_inner(&record.entry, found);
}

/// Returns whether an event holds a member of the data. Members of objects in it are listed one by
/// one.
fn is_held(entry: &Entry<'_>, data: Value<'_>, key: &str, value: &Value<'_>) -> bool {
    let is_text = value.text().is_some();
    match entry {
        Entry::Start(_) | Entry::Resume(_) => match key {
            "sessionId" | "copilotVersion" => is_text,
            "context" => value.is_object(),
            _ => false,
        },
        Entry::User(_) => match key {
            "content" => is_text,
            "attachments" => has_blob(*value),
            _ => false,
        },
        Entry::Assistant(_) => match key {
            "content" | "model" | "apiCallId" => is_text,
            "responseId" => is_text && text(data, "apiCallId").is_none(),
            "messageId" => {
                let others = ["apiCallId", "responseId"];
                is_text && others.iter().all(|name| text(data, name).is_none())
            }
            "toolRequests" => value.is_array() && value.items().all(|call| call.is_object()),
            "reasoningBlocks" => reasoning_blocks(data).is_some(),
            "reasoningText" => is_text && reasoning_blocks(data).is_none(),
            _ => false,
        },
        Entry::ToolComplete(_) => match key {
            "toolCallId" => is_text,
            "success" => value.bool().is_some(),
            "result" | "error" => value.is_object(),
            _ => false,
        },
        Entry::Usage(_) => key == "usage" && value.is_object(),
        Entry::Asset(_) => matches!(key, "data" | "mimeType" | "type") && is_text,
        Entry::Compaction(_) => match key {
            "summaryContent" => summary(data).is_some(),
            "trigger" => is_text,
            "error" => true,
            _ => false,
        },
        Entry::Title(_) => key == "title" && is_text,
        Entry::Notice(_) => match key {
            "message" => true,
            "about" | "trigger" => is_text,
            _ => false,
        },
        Entry::ModelChange(_) | Entry::Other => false,
    }
}

/// Lists the members of objects and arrays in the data.
fn list_inner(entry: &Entry<'_>, found: &mut dyn FnMut(&str)) {
    let mut each = |holder: &str, value: Option<Value<'_>>, known: &[&str]| {
        for (key, value) in value.into_iter().flat_map(|value| value.members()) {
            let key = key.decode();
            if !known.contains(&&*key) && !is_void(&value) {
                found(&format!("{holder}.{key}"));
            }
        }
    };
    match entry {
        Entry::Start(data) | Entry::Resume(data) => {
            each("context", data.get("context"), &["cwd", "branch"]);
        }
        Entry::User(data) => {
            for attachment in data.get("attachments").into_iter().flat_map(|it| it.items()) {
                let kind = text(attachment, "mimeType");
                let is_image = kind.is_some_and(|kind| kind.body().starts_with("image"));
                let known: &[&str] =
                    if is_image { &["type", "data", "mimeType"] } else { &["type"] };
                each("attachments", Some(attachment), known);
            }
        }
        Entry::Assistant(data) => {
            let known = ["toolCallId", "name", "arguments", "type"];
            for call in data.get("toolRequests").into_iter().flat_map(|it| it.items()) {
                each("toolRequests", Some(call), &known);
            }
            each("reasoningBlocks", data.get("reasoningBlocks"), &["blocks"]);
        }
        Entry::ToolComplete(data) => {
            let result = data.get("result");
            let is_failed = data.get("success").and_then(|it| it.bool()) != Some(true);
            let words = |error: &Value<'_>| text(*error, "message").is_some();
            let error = data.get("error").filter(|_| is_failed);
            let mut known = vec!["detailedContent"];
            if !error.as_ref().is_some_and(words) {
                known.push("content");
            }
            each("result", result, &known);
            let known: &[&str] = if error.is_some() { &["message"] } else { &[] };
            each("error", data.get("error"), known);
        }
        Entry::Usage(data) => {
            let known = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"];
            each("usage", data.get("usage"), &known);
        }
        _ => {}
    }
}

/// Returns the word that names a kind of record, such as `hook.start`.
fn record<'l>(event: &Event<'l>) -> [Option<Text<'l>>; 2] {
    [event.kind, None]
}
