//! Converts a line of the wire to the SDK's dump of it: `json.dumps(asdict(parse_message(line)))`.
//!
//! ```text
//! in   {"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"4"}]},"parent_tool_use_id":null}
//! out  {"content": [{"text": "4"}], "model": "m", "parent_tool_use_id": null}
//! ```
//!
//! The example is of SDK 0.1.6; newer versions have more members.

use core_model::{Event, LossKind, Output, SdkVersion, is_void};
use jsonl::{Raw, Value};

use crate::{
    block_writer::lose_named_block,
    compose::Composer,
    dump_losses::lose_members,
    parser::{Verdict, is_truthy, verdict},
    record::{Record, RecordKind},
    wire::RATE_LIMIT_INFO,
};

/// Writes the dump of a line of the wire; nothing, if the SDK skips or refuses the line.
pub(crate) fn write(record: &Record<'_>, event: &Event<'_>, version: SdkVersion, out: &mut Output) {
    let value = record.value;
    if verdict(value, version) != Verdict::Takes {
        return out.lose_record(event);
    }
    let is_new = version != SdkVersion::V0_1_6;
    let mut line = Composer::open(out);
    match record.kind {
        RecordKind::User => user(&mut line, record, is_new),
        RecordKind::Assistant => assistant(&mut line, record, is_new),
        RecordKind::System => system(&mut line, value, is_new),
        RecordKind::Result => result(&mut line, value, is_new),
        RecordKind::StreamEvent => {
            line.raw_or_null("uuid", value.get("uuid"));
            line.raw_or_null("session_id", value.get("session_id"));
            line.copy_or_null("event", value.get("event"));
            line.raw_or_null("parent_tool_use_id", value.get("parent_tool_use_id"));
            if is_new {
                answers(&mut line, value);
            }
        }
        RecordKind::RateLimit => rate_limit(&mut line, value),
        RecordKind::ConversationReset => {
            for name in ["new_conversation_id", "uuid", "session_id"] {
                line.raw_or_null(name, value.get(name));
            }
        }
        RecordKind::Prompt | RecordKind::Unknown => {}
    }
    line.emit();
    lose_members(record, is_new, out);
}

fn user(line: &mut Composer<'_>, record: &Record<'_>, is_new: bool) {
    let value = record.value;
    match record.content() {
        Some(content) if content.is_array() => blocks(line, content, false, is_new),
        content => line.copy_or_null("content", content),
    }
    if is_new {
        line.raw_or_null("uuid", value.get("uuid"));
    }
    line.raw_or_null("parent_tool_use_id", value.get("parent_tool_use_id"));
    if is_new {
        line.copy_or_null("tool_use_result", value.get("tool_use_result"));
        line.raw_or_null("origin", origin(value));
    }
}

fn assistant(line: &mut Composer<'_>, record: &Record<'_>, is_new: bool) {
    let value = record.value;
    let message = record.message().unwrap_or(value);
    match record.content() {
        Some(content) => blocks(line, content, true, is_new),
        None => line.put("content", "[]"),
    }
    line.raw_or_null("model", message.get("model"));
    line.raw_or_null("parent_tool_use_id", value.get("parent_tool_use_id"));
    if is_new {
        line.raw_or_null("error", value.get("error"));
        line.raw_or_null("usage", message.get("usage"));
        line.raw_or_null("message_id", message.get("id"));
        line.raw_or_null("stop_reason", message.get("stop_reason"));
        line.raw_or_null("session_id", value.get("session_id"));
        line.raw_or_null("uuid", value.get("uuid"));
        answers(line, value);
    }
}

fn answers(line: &mut Composer<'_>, value: Value<'_>) {
    line.raw_or_null("user_message_uuid", value.get("user_message_uuid"));
    line.raw_or_null("user_message_uuids", value.get("user_message_uuids"));
}

fn origin(value: Value<'_>) -> Option<Value<'_>> {
    value.get("origin").filter(|origin| origin.get("kind").is_some_and(|it| it.text().is_some()))
}

fn blocks(line: &mut Composer<'_>, content: Value<'_>, is_assistant: bool, is_new: bool) {
    line.array("content");
    for value in content.items() {
        let kind = value.get("type").and_then(|kind| kind.text()).map(|kind| kind.decode());
        let names: &[&str] = match kind.as_deref() {
            Some("text") => &["text"],
            Some("thinking") if is_assistant => &["thinking", "signature"],
            Some("tool_use") => &["id", "name", "input"],
            Some("server_tool_use") if is_assistant && is_new => &["id", "name", "input"],
            Some("tool_result") => &["tool_use_id", "content", "is_error"],
            Some("advisor_tool_result") if is_assistant && is_new => &["tool_use_id", "content"],
            kind => {
                lose_named_block(line, LossKind::Dropped, kind);
                continue;
            }
        };
        line.item();
        for name in names {
            line.copy_or_null(name, value.get(name));
        }
        line.end("}");
        for (key, member) in value.members() {
            let is_written = key.is("type") || names.iter().any(|it| key.is(it));
            if !is_written && !is_void(&member) {
                let name = format!("{}.{}", kind.as_deref().unwrap_or("block"), key.decode());
                line.out.lose_named(LossKind::Dropped, &name);
            }
        }
    }
    line.end("]");
}

fn system(line: &mut Composer<'_>, value: Value<'_>, is_new: bool) {
    line.raw_or_null("subtype", value.get("subtype"));
    line.copy("data", value.raw());
    if !is_new {
        return;
    }
    let subtype = value.get("subtype").and_then(|it| it.text()).map(|it| it.decode());
    let names: &[&str] = match subtype.as_deref() {
        Some("hook_started" | "hook_response") => {
            let name = ["hook_event", "hook_name", "hook_event_name"]
                .iter()
                .find_map(|name| value.get(name).filter(|name| is_truthy(*name)));
            match name {
                Some(name) => line.raw("hook_event_name", name.raw()),
                None => line.put("hook_event_name", "\"\""),
            }
            &["session_id", "uuid"]
        }
        Some("task_started") => {
            &["task_id", "description", "uuid", "session_id", "tool_use_id", "task_type"]
        }
        Some("task_progress") => &[
            "task_id",
            "description",
            "usage",
            "uuid",
            "session_id",
            "tool_use_id",
            "last_tool_name",
        ],
        Some("task_notification") => &[
            "task_id",
            "status",
            "output_file",
            "summary",
            "uuid",
            "session_id",
            "tool_use_id",
            "usage",
        ],
        Some("task_updated") => return task_updated(line, value),
        Some("mirror_error") => {
            line.raw_or_null("key", value.get("key"));
            return or_empty(line, "error", value.get("error"));
        }
        _ => &[],
    };
    for name in names {
        line.raw_or_null(name, value.get(name));
    }
}

fn task_updated(line: &mut Composer<'_>, value: Value<'_>) {
    or_empty(line, "task_id", value.get("task_id"));
    let patch = value.get("patch").filter(|patch| patch.is_object());
    match patch {
        Some(patch) => line.raw("patch", patch.raw()),
        None => line.put("patch", "{}"),
    }
    line.raw_or_null("status", patch.and_then(|patch| patch.get("status")));
    line.raw_or_null("session_id", value.get("session_id"));
    line.raw_or_null("uuid", value.get("uuid"));
}

fn or_empty(line: &mut Composer<'_>, name: &str, value: Option<Value<'_>>) {
    match value {
        Some(value) => line.raw(name, value.raw()),
        None => line.put(name, "\"\""),
    }
}

fn result(line: &mut Composer<'_>, value: Value<'_>, is_new: bool) {
    for name in ["subtype", "duration_ms", "duration_api_ms", "is_error", "num_turns", "session_id"]
    {
        line.raw_or_null(name, value.get(name));
    }
    if is_new {
        line.raw_or_null("stop_reason", value.get("stop_reason"));
    }
    line.raw_or_null("total_cost_usd", value.get("total_cost_usd"));
    line.raw_or_null("usage", value.get("usage"));
    line.copy_or_null("result", value.get("result"));
    if !is_new {
        return;
    }
    line.copy_or_null("structured_output", value.get("structured_output"));
    line.copy_or_null("model_usage", value.get("modelUsage"));
    line.copy_or_null("permission_denials", value.get("permission_denials"));
    match value.get("deferred_tool_use").filter(|deferred| is_truthy(*deferred)) {
        Some(deferred) => {
            line.object("deferred_tool_use");
            for name in ["id", "name", "input"] {
                line.copy_or_null(name, deferred.get(name));
            }
            line.end("}");
        }
        None => line.put("deferred_tool_use", "null"),
    }
    for name in ["errors", "api_error_status", "uuid", "terminal_reason"] {
        line.raw_or_null(name, value.get(name));
    }
    line.raw_or_null("origin", origin(value));
    answers(line, value);
}

fn rate_limit(line: &mut Composer<'_>, value: Value<'_>) {
    let info = value.get("rate_limit_info");
    line.object("rate_limit_info");
    for (name, wire) in RATE_LIMIT_INFO {
        line.raw_or_null(name, info.and_then(|info| info.get(wire)));
    }
    line.raw("raw", info.map_or(Raw::NULL, |info| info.raw()));
    line.end("}");
    line.raw_or_null("uuid", value.get("uuid"));
    line.raw_or_null("session_id", value.get("session_id"));
}
