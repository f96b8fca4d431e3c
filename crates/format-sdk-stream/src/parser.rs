//! Predicts which lines the SDK's parser accepts, skips and refuses, by version (FORMAT.md,
//! "Dump").
//!
//! In: `{"type":"assistant","message":{"content":[]}}`. Out: refused, because `message.model` is
//! missing.

use core_model::SdkVersion;
use jsonl::{Kind, Value};

/// The result of the SDK's parser for a line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    /// The parser returns a message.
    Takes,
    /// The parser skips the line silently.
    Skips,
    /// The parser raises an error, because this member is missing.
    Refuses(&'static str),
}

const RESULT: [&str; 6] =
    ["subtype", "duration_ms", "duration_api_ms", "is_error", "num_turns", "session_id"];

/// Predicts the result of the SDK's parser for a line.
pub(crate) fn verdict(value: Value<'_>, version: SdkVersion) -> Verdict {
    let Some(kind) = value.get("type").filter(|kind| is_truthy(*kind)) else {
        return Verdict::Refuses("type");
    };
    let kind = kind.text().map(|kind| kind.decode());
    let is_new = version != SdkVersion::V0_1_6;
    let refused = match kind.as_deref() {
        Some("user") => refused_by_user(value),
        Some("assistant") => refused_by_assistant(value, is_new),
        Some("system") if is_new => refused_by_system(value),
        Some("system") => lacks(value, &["subtype"]),
        Some("result") => {
            let deferred = value.get("deferred_tool_use").filter(|it| is_new && is_truthy(*it));
            lacks(value, &RESULT).or_else(|| lacks(deferred?, &["id", "name", "input"]))
        }
        Some("stream_event") => lacks(value, &["uuid", "session_id", "event"]),
        Some("rate_limit_event") if is_new => match value.get("rate_limit_info") {
            None => Some("rate_limit_info"),
            Some(info) => {
                lacks(info, &["status"]).or_else(|| lacks(value, &["uuid", "session_id"]))
            }
        },
        Some("conversation_reset") if is_new => {
            lacks(value, &["new_conversation_id", "uuid", "session_id"])
        }
        _ if is_new => return Verdict::Skips,
        _ => Some("type"),
    };
    refused.map_or(Verdict::Takes, Verdict::Refuses)
}

/// Returns whether Python treats a value as true.
pub(crate) fn is_truthy(value: Value<'_>) -> bool {
    match value.kind() {
        Kind::Null | Kind::False => false,
        Kind::True => true,
        Kind::Number => value.raw().as_f64() != Some(0.0),
        Kind::String => value.text().is_some_and(|text| !text.is_empty()),
        Kind::Array => value.items().next().is_some(),
        Kind::Object => value.members().next().is_some(),
    }
}

fn lacks(value: Value<'_>, names: &[&'static str]) -> Option<&'static str> {
    names.iter().copied().find(|name| value.get(name).is_none())
}

fn content(value: Value<'_>) -> Result<Value<'_>, &'static str> {
    value.get("message").ok_or("message")?.get("content").ok_or("message.content")
}

fn refused_by_user(value: Value<'_>) -> Option<&'static str> {
    match content(value) {
        Err(name) => Some(name),
        Ok(content) => content.items().find_map(|block| refused_by_block(block, false, true)),
    }
}

fn refused_by_assistant(value: Value<'_>, is_new: bool) -> Option<&'static str> {
    let content = match content(value) {
        Err(name) => return Some(name),
        Ok(content) => content,
    };
    // 0.1.6 iterates over any iterable value, and an empty one has no block that could fail.
    let is_empty = matches!(content.kind(), Kind::String | Kind::Object) && !is_truthy(content);
    if !content.is_array() && (is_new || !is_empty) {
        return Some("message.content");
    }
    content
        .items()
        .find_map(|block| refused_by_block(block, true, is_new))
        .or_else(|| value.get("message").and_then(|message| lacks(message, &["model"])))
}

/// Returns the missing member because of which the parser refuses a block. 0.1.6 does not check the
/// blocks of server tools.
fn refused_by_block(block: Value<'_>, is_assistant: bool, is_new: bool) -> Option<&'static str> {
    let Some(kind) = block.get("type") else { return Some("type") };
    let kind = kind.text().map(|kind| kind.decode());
    match kind.as_deref() {
        Some("text") => lacks(block, &["text"]),
        Some("thinking") if is_assistant => lacks(block, &["thinking", "signature"]),
        Some("tool_use") => lacks(block, &["id", "name", "input"]),
        Some("tool_result") => lacks(block, &["tool_use_id"]),
        Some("server_tool_use") if is_assistant && is_new => lacks(block, &["id", "name", "input"]),
        Some("advisor_tool_result") if is_assistant && is_new => {
            lacks(block, &["tool_use_id", "content"])
        }
        _ => None,
    }
}

fn refused_by_system(value: Value<'_>) -> Option<&'static str> {
    let subtype = value.get("subtype");
    let name = subtype.and_then(|subtype| subtype.text()).map(|subtype| subtype.decode());
    match name.as_deref() {
        Some("task_started") => lacks(value, &["task_id", "description", "uuid", "session_id"]),
        Some("task_progress") => {
            lacks(value, &["task_id", "description", "usage", "uuid", "session_id"])
        }
        Some("task_notification") => {
            lacks(value, &["task_id", "status", "output_file", "summary", "uuid", "session_id"])
        }
        _ => subtype.is_none().then_some("subtype"),
    }
}
