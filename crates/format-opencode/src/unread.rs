//! Lists the members of a record that no event holds, so that a conversion can report them as lost.
//!
//! In: `{"info":{"id":"msg_1","role":"user","agent":"build"},"parts":[]}`. Out: `info.agent`.

use core_model::{Body, Event, Shape, Vocabulary, is_void};
use jsonl::{Text, Value};

use crate::{
    Record,
    reader::{is_ignored, read_note},
    record::{is_type, part_type},
};

/// The names that OpenCode has for the members that events hold.
pub(crate) static VOCABULARY: Vocabulary = Vocabulary {
    session_id: "info.sessionID",
    time: "info.time.created",
    cwd: "info.path.cwd",
    version: "info.version",
    uuid: "info.id",
    parent: "info.parentID",
    message_id: "info.id",
    is_api_error: "info.error",
    is_meta: "text.synthetic",
    has_api_blocks: false,
    ids_from_ends: true,
    shape,
    list,
    record,
    ..Vocabulary::PLAIN
};

/// Returns a hash of the names of all members of a record. Only the first event of a record lists
/// them.
fn shape(event: &Event<'_>) -> Shape {
    let mut shape = Shape::default();
    if event.nth > 0 {
        return shape;
    }
    list(event, &mut |name| shape.add_name(name.as_bytes()));
    shape
}

fn list(event: &Event<'_>, found: &mut dyn FnMut(&str)) {
    match Record::decode(event.value) {
        Record::Session(session) => {
            let has_title = crate::reader::title(&session).is_some();
            for (key, value) in session.value.members() {
                let key = key.decode();
                let is_held = match &*key {
                    "id" | "directory" | "version" => value.text().is_some(),
                    "title" => has_title,
                    "time" => {
                        list_inner(value, "info.time", &["created"], found);
                        true
                    }
                    _ => false,
                };
                if !is_held && !is_void(&value) {
                    found(&format!("info.{key}"));
                }
            }
            list_inner(event.value, "", &["info", "messages"], found);
        }
        Record::Message(message) => {
            list_info(event, message.value, found);
            message.parts().for_each(|part| list_part(part, message.is_user(), found));
            list_inner(event.value, "", &["info", "parts"], found);
        }
        Record::Other => list_inner(event.value, "", &[], found),
    }
}

/// Lists the members of an object besides some.
fn list_inner(object: Value<'_>, path: &str, held: &[&str], found: &mut dyn FnMut(&str)) {
    for (key, value) in object.members() {
        let key = key.decode();
        if !held.contains(&&*key) && !is_void(&value) {
            let dot = if path.is_empty() { "" } else { "." };
            found(&format!("{path}{dot}{key}"));
        }
    }
}

fn list_info(event: &Event<'_>, info: Value<'_>, found: &mut dyn FnMut(&str)) {
    let is_response = event.message().is_some_and(|message| message.id.is_some());
    for (key, value) in info.members() {
        let key = key.decode();
        let is_text = value.text().is_some();
        let is_held = match &*key {
            "role" => true,
            "id" | "sessionID" => is_text,
            "modelID" | "finish" => is_text && is_response,
            "summary" => value.bool() == Some(true) && !matches!(event.body, Body::Other),
            "tokens" if is_response && value.is_object() => {
                list_inner(value, "info.tokens", &["input", "output", "cache"], found);
                true
            }
            "time" => {
                list_inner(value, "info.time", &["created"], found);
                true
            }
            "path" => {
                list_inner(value, "info.path", &["cwd"], found);
                true
            }
            "error" => {
                list_inner(value, "info.error", &["name", "data"], found);
                if let Some(data) = value.get("data") {
                    list_inner(data, "info.error.data", &["message"], found);
                }
                true
            }
            _ => false,
        };
        if !is_held && !is_void(&value) {
            found(&format!("info.{key}"));
        }
    }
}

fn list_part(part: Value<'_>, is_user: bool, found: &mut dyn FnMut(&str)) {
    let kind = part_type(part);
    let held: &[&str] = match kind.as_str() {
        "text" => &["type", "text"],
        "reasoning" => &["type", "text", "metadata"],
        "tool" => &["type", "callID", "tool", "state"],
        "file" => &["type", "url", "mime"],
        "compaction" if is_user => &["type", "auto"],
        "" => return found("part"),
        _ => return found(&kind),
    };
    // Each part has its message and its session.
    for (key, value) in part.members() {
        let key = key.decode();
        let is_told = key == "messageID" || key == "sessionID" || held.contains(&&*key);
        if !is_told && !is_void(&value) {
            found(&format!("{kind}.{key}"));
        }
    }
    if is_user && is_type(part, "text") && is_ignored(part) && read_note(part).is_none() {
        found("text.text");
    }
    if let Some(state) = part.get("state").filter(|_| kind == "tool") {
        let held: &[&str] = match crate::reader::is_result(part) {
            true => &["status", "input", "output", "error", "attachments"],
            // A call without a result is pending or running.
            false => &["input"],
        };
        list_inner(state, "tool.state", held, found);
    }
    if let Some(metadata) = part.get("metadata").filter(|_| kind == "reasoning") {
        list_inner(metadata, "reasoning.metadata", &["anthropic"], found);
        if let Some(inner) = metadata.get("anthropic") {
            let held = &["signature", "redactedData"];
            list_inner(inner, "reasoning.metadata.anthropic", held, found);
        }
    }
}

/// Returns the words that name a kind of record, such as `assistant`.
fn record<'l>(event: &Event<'l>) -> [Option<Text<'l>>; 2] {
    match Record::decode(event.value) {
        Record::Message(message) => [message.role, None],
        Record::Session(_) if matches!(event.body, Body::Title(_)) => {
            [Text::new("\"title\""), None]
        }
        Record::Session(_) => [Text::new("\"session\""), None],
        Record::Other => [None, None],
    }
}
