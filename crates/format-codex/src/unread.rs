//! Lists the members of a line that no event holds, so that a conversion can report them as lost.
//!
//! In: `{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user",
//! "content":[],"phase":"commentary"}}`. Out: `payload.phase`.

use core_model::{Body, Content, Event, Shape, Vocabulary, is_void};
use jsonl::{Text, Value};

use crate::{
    reader::{is_kept, is_mcp, summary},
    record::{Compacted, Entry, Item, ItemKind, Record},
};

/// The names that Codex has for the members that events hold.
pub(crate) static VOCABULARY: Vocabulary = Vocabulary {
    session_id: "payload.id",
    cwd: "payload.cwd",
    version: "payload.cli_version",
    git_branch: "git.branch",
    uuid: "payload.id",
    message_id: "payload.id",
    is_meta: "payload.role",
    is_api_error: "payload.message",
    has_api_blocks: false,
    ids_from_ends: true,
    has_block_records: true,
    shape,
    list,
    record,
    ..Vocabulary::PLAIN
};

/// Returns the names of all members of a line, of its payload and of the parts in it.
fn shape(event: &Event<'_>) -> Shape {
    let mut shape = Shape::default();
    shape.add_name(if event.nth == 0 { b"first" } else { b"other" });
    shape.add_name(if event.has_next { b"more" } else { b"last" });
    let is_compaction = event.kind.is_some_and(|kind| kind.is("compacted"));
    if is_compaction && let Entry::Compacted(compacted) = Record::decode(event.value).entry {
        shape.add_name(if is_summary(&compacted) { b"summary" } else { b"message" });
        shape.add_name(if is_summary_of_all(&compacted) { b"all" } else { b"some" });
    }
    if matches!(event.body, Body::Message(_)) {
        shape.add_name(b"message");
    }
    event.value.read_members(|key, value| {
        add(&mut shape, key, &value);
        if key == b"type" {
            shape.add_name(value.text().map_or("", |text| text.body()).as_bytes());
        }
        if value.is_object() && key == b"payload" {
            add_payload(&mut shape, event, value);
        } else if value.is_array() {
            add_parts(&mut shape, value);
        }
        true
    });
    shape
}

fn add_payload(shape: &mut Shape, event: &Event<'_>, payload: Value<'_>) {
    payload.read_members(|key, value| {
        add(shape, key, &value);
        if key == b"timestamp" && has_other_time(event, &value) {
            shape.add_name(b"other time");
        }
        if key == b"type" || key == b"role" {
            shape.add_name(value.text().map_or("", |text| text.body()).as_bytes());
        }
        if key == b"namespace" && value.text().is_some_and(is_mcp) {
            shape.add_name(b"mcp");
        }
        if key == b"git" || key == b"error" {
            value.read_members(|key, value| {
                add(shape, key, &value);
                true
            });
        } else if value.is_array() {
            add_parts(shape, value);
        }
        true
    });
}

fn add_parts(shape: &mut Shape, parts: Value<'_>) {
    let mut n_parts = 0_usize;
    for part in parts.items() {
        n_parts = n_parts.saturating_add(1);
        part.read_members(|key, value| {
            add(shape, key, &value);
            if key == b"type" {
                shape.add_name(value.text().map_or("", |text| text.body()).as_bytes());
            }
            true
        });
    }
    shape.add_name(if n_parts > 1 { b"several" } else { b"few" });
}

/// Adds a member, and whether it is a string, because events hold most members only if they are.
fn add(shape: &mut Shape, key: &[u8], value: &Value<'_>) {
    shape.add(key, value);
    if value.text().is_none() {
        shape.add_name(b"no text");
    }
}

fn list(event: &Event<'_>, found: &mut dyn FnMut(&str)) {
    let record = Record::decode(event.value);
    let has_payload = record.payload.is_some();
    if event.nth == 0 {
        for (key, value) in event.value.members() {
            let key = key.decode();
            let is_text = value.text().is_some();
            let is_held = match &*key {
                "type" => true,
                "payload" => value.is_object(),
                "timestamp" => is_text,
                // A line without an envelope has the members of an item.
                _ => !has_payload,
            };
            if !is_held && !is_void(&value) {
                found(&key);
            }
        }
    }
    let payload = record.payload.unwrap_or(event.value);
    let prefix = if has_payload { "payload." } else { "" };
    for (key, value) in payload.members() {
        let key = key.decode();
        if !is_held(event, &record, &key, &value) && !is_void(&value) {
            found(&format!("{prefix}{key}"));
        }
    }
    if let Entry::SessionMeta(meta) = &record.entry {
        let git = meta.value.get("git").into_iter().flat_map(|git| git.members());
        for (key, value) in git {
            if !key.is("branch") && !is_void(&value) {
                found(&format!("{prefix}git.{}", key.decode()));
            }
        }
    }
    if let Entry::Event(_, payload) = &record.entry
        && let Body::Notice(_) = event.body
        && let Some(error) = payload.get("error")
    {
        for (key, value) in error.members() {
            let is_held = key.is("message");
            if !is_held && !is_void(&value) {
                found(&format!("{prefix}error.{}", key.decode()));
            }
        }
    }
    if let Entry::Item(item) = &record.entry {
        list_parts(item, prefix, found);
    }
}

/// Returns whether the message of a compaction is its summary, or empty.
fn is_summary(compacted: &Compacted<'_>) -> bool {
    let is_blank = compacted.message.is_none_or(|message| message.is_blank());
    is_blank || matches!(summary(compacted), Some(Content::Text(_)))
}

/// Returns whether the summary holds the whole `replacement_history`: one message of the user, or several
/// with one text each and no other members.
fn is_summary_of_all(compacted: &Compacted<'_>) -> bool {
    let Some(history) = compacted.replacement_history else { return true };
    let is_plain = |item: Value<'_>| {
        let parts = || item.get("content").into_iter().flat_map(|parts| parts.items());
        let is_text = |part: Value<'_>| {
            part.members().all(|(key, _)| key.is("type") || key.is("text"))
                && part.get("text").is_some_and(|text| text.text().is_some())
        };
        let is_held =
            |(key, _): (Text<'_>, _)| matches!(&*key.decode(), "type" | "role" | "content");
        is_kept(item)
            && parts().take(2).count() == 1
            && parts().all(is_text)
            && item.members().all(is_held)
    };
    let mut items = history.items();
    match (items.next(), items.next()) {
        (None, _) => true,
        (Some(only), None) => is_kept(only),
        _ => history.items().all(is_plain),
    }
}

/// Returns whether the time of the session's start differs from the time of its line.
fn has_other_time(event: &Event<'_>, start: &Value<'_>) -> bool {
    event.context.time.is_some_and(|time| time.as_str() != start.raw().as_str())
}

/// Returns whether an event holds a member of the payload.
fn is_held(event: &Event<'_>, record: &Record<'_>, key: &str, value: &Value<'_>) -> bool {
    let is_text = value.text().is_some();
    match &record.entry {
        Entry::SessionMeta(_) => match key {
            "id" | "cwd" | "cli_version" => is_text,
            // The line has a time, too.
            "timestamp" => !has_other_time(event, value),
            "git" => value.is_object(),
            // A name of the client says nothing of the session.
            "type" => record.payload.is_none(),
            _ => false,
        },
        Entry::TurnContext(_) => matches!(key, "cwd" | "model") && is_text,
        Entry::Item(item) => is_held_of_item(item, key, value),
        Entry::Compacted(compacted) => match key {
            "message" => is_text && (event.nth == 0 && event.has_next || is_summary(compacted)),
            "trigger" | "subtype" => is_text,
            "pre_tokens" | "text" => true,
            // The notice comes first, and is not the place where the items are lost.
            "replacement_history" if event.nth == 0 => event.has_next,
            "replacement_history" => is_summary_of_all(compacted),
            _ => event.nth > 0,
        },
        Entry::Event(kind, _) => match kind.map(|kind| kind.decode()).as_deref() {
            Some("agent_reasoning") => matches!(key, "type" | "text" | "signature"),
            Some("turn_aborted") => matches!(key, "type" | "reason"),
            Some("error" | "stream_error" | "warning") => matches!(key, "type" | "message"),
            // The other members of an error are listed one by one.
            Some("task_complete" | "turn_complete") => matches!(key, "type" | "error"),
            Some("thread_name_updated") => matches!(key, "type" | "thread_name"),
            _ => key == "type",
        },
        Entry::Notice(_) => {
            matches!(key, "kind" | "subtype" | "about" | "text" | "trigger" | "pre_tokens")
        }
        Entry::Other => false,
    }
}

fn is_held_of_item(item: &Item<'_>, key: &str, value: &Value<'_>) -> bool {
    let is_text = value.text().is_some();
    if matches!(key, "type" | "id") {
        return is_text;
    }
    match item.kind {
        ItemKind::Message => matches!(key, "role" | "content"),
        ItemKind::AgentMessage => key == "content",
        ItemKind::Reasoning => match key {
            "summary" => true,
            "content" => item.value.get("summary").is_some_and(|it| is_void(&it)),
            _ => false,
        },
        ItemKind::FunctionCall | ItemKind::CustomToolCall if key == "namespace" => {
            value.text().is_some_and(is_mcp)
        }
        ItemKind::FunctionCall => matches!(key, "name" | "arguments" | "call_id"),
        ItemKind::CustomToolCall => matches!(key, "name" | "input" | "call_id"),
        ItemKind::LocalShellCall => matches!(key, "action" | "call_id"),
        ItemKind::WebSearchCall => key == "action",
        ItemKind::ToolSearchCall => matches!(key, "arguments" | "call_id"),
        ItemKind::ImageGenerationCall => key == "result",
        ItemKind::FunctionCallOutput | ItemKind::CustomToolCallOutput => {
            matches!(key, "call_id" | "output")
        }
        ItemKind::ToolSearchOutput => matches!(key, "call_id" | "tools"),
        _ => false,
    }
}

/// Lists the members of parts that blocks do not hold.
fn list_parts(item: &Item<'_>, prefix: &str, found: &mut dyn FnMut(&str)) {
    for name in ["content", "output", "summary"] {
        let parts = item.value.get(name).into_iter().flat_map(|parts| parts.items());
        for part in parts {
            let kind = part.get("type").and_then(|kind| kind.text()).map(|kind| kind.decode());
            let is_text = part.get("text").is_some_and(|text| text.text().is_some());
            let is_image = kind.as_deref() == Some("input_image");
            if !is_text && !is_image {
                // A block of another kind is shown or lost as a whole.
                continue;
            }
            for (key, value) in part.members() {
                let is_known = key.is("type") || key.is("text") || is_image && key.is("image_url");
                if !is_known && !is_void(&value) {
                    found(&format!("{prefix}{name}.{}", key.decode()));
                }
            }
        }
    }
}

/// Returns the words that name a kind of record, such as `event_msg` and `user_message`.
fn record<'l>(event: &Event<'l>) -> [Option<Text<'l>>; 2] {
    let kind = event.value.get("payload").and_then(|payload| payload.get("type")?.text());
    [event.kind, kind]
}
