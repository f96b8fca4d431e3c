//! Lists the members of a line that no event holds, so that a conversion can report them as lost.
//!
//! In: `{"type":"item.completed","item":{"id":"item_0","type":"mcp_tool_call","server":"s",..}}`. Out:
//! `item.server`.

use core_model::{Body, Event, Shape, Vocabulary, is_void};
use jsonl::{Text, Value};

/// The names that a stream has for the members that events hold.
pub(super) static VOCABULARY: Vocabulary = Vocabulary {
    session_id: "thread_id",
    is_api_error: "error",
    status: "type",
    has_api_blocks: false,
    ids_from_ends: true,
    has_block_records: true,
    shape,
    list,
    record,
    ..Vocabulary::PLAIN
};

/// Returns the names of all members of a line and of its item.
fn shape(event: &Event<'_>) -> Shape {
    let mut shape = Shape::default();
    shape.add_name(if event.nth == 0 { b"first" } else { b"other" });
    shape.add_name(if matches!(event.body, Body::Other) { b"other" } else { b"event" });
    add(&mut shape, event.value);
    for name in ["item", "usage", "error"] {
        if let Some(inner) = event.value.get(name) {
            add(&mut shape, inner);
            if let Some(result) = inner.get("result") {
                add(&mut shape, result);
            }
        }
    }
    shape
}

fn add(shape: &mut Shape, value: Value<'_>) {
    value.read_members(|key, value| {
        shape.add(key, &value);
        if key == b"type" {
            shape.add_name(value.text().map_or("", |text| text.body()).as_bytes());
        }
        true
    });
}

/// The tokens that events hold.
const TOKENS: [&str; 4] =
    ["input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens"];

fn list(event: &Event<'_>, found: &mut dyn FnMut(&str)) {
    // A line with a call and its result has one list.
    if event.nth > 0 {
        return;
    }
    let kind = event.kind.map(|kind| kind.decode());
    let kind = kind.as_deref().unwrap_or_default();
    for (key, value) in event.value.members() {
        let key = key.decode();
        match (kind, &*key) {
            (_, "type") | ("thread.started", "thread_id") => {}
            (_, "item") => list_item(event, value, found),
            ("turn.completed", "usage") => {
                for (key, value) in value.members() {
                    if !TOKENS.iter().any(|name| key.is(name)) && !is_void(&value) {
                        found(&format!("usage.{}", key.decode()));
                    }
                }
            }
            ("turn.failed", "error") => {
                for (key, value) in value.members() {
                    let is_held = key.is("message") && value.text().is_some();
                    if !is_held && !is_void(&value) {
                        found(&format!("error.{}", key.decode()));
                    }
                }
            }
            ("error", "message") if value.text().is_some() => {}
            _ if is_void(&value) => {}
            (_, key) => found(key),
        }
    }
}

fn list_item(event: &Event<'_>, item: Value<'_>, found: &mut dyn FnMut(&str)) {
    let kind = item.get("type").and_then(|kind| kind.text()).map(|kind| kind.decode());
    let kind = kind.as_deref().unwrap_or_default();
    let is_notice = matches!(event.body, Body::Notice(_));
    let id = item.get("id").and_then(|id| id.text());
    for (key, value) in item.members() {
        let key = key.decode();
        let is_held = match (kind, &*key) {
            (_, "type") => true,
            // A text has no id in other formats. A search has two, of which the last one is read.
            ("agent_message" | "reasoning", "id") => false,
            (_, "id") => {
                !is_notice
                    && value
                        .text()
                        .is_some_and(|it| id.is_some_and(|id| it.as_str() == id.as_str()))
            }
            // Whether it failed is held.
            (_, "status") => value.text().is_some_and(|status| {
                ["completed", "failed", "declined"].iter().any(|word| status.is(word))
            }),
            ("agent_message" | "reasoning", "text") | ("error", "message") => true,
            ("command_execution", "command" | "aggregated_output") => true,
            // Whether it is 0 is held.
            ("command_execution", "exit_code") => matches!(value.raw().as_str(), "0" | "null"),
            ("file_change", "changes") => true,
            ("todo_list", "items") | ("web_search", "query") => true,
            ("collab_tool_call", "tool" | "prompt") => true,
            ("mcp_tool_call", "tool" | "arguments") => true,
            ("mcp_tool_call", "result") => {
                if value.get("structured_content").is_some_and(|value| !is_void(&value)) {
                    found("item.result.structured_content");
                }
                true
            }
            ("mcp_tool_call", "error") => value.get("message").is_some(),
            _ => false,
        };
        if !is_held && !is_void(&value) {
            found(&format!("item.{key}"));
        }
    }
}

/// Returns the words that name a kind of record, such as `item.completed` and `todo_list`.
fn record<'l>(event: &Event<'l>) -> [Option<Text<'l>>; 2] {
    let item = || event.value.get("item")?.get("type")?.text();
    [event.kind, item()]
}
