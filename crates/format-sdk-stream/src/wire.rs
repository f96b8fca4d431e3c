//! Converts a dumped line to a line of the wire: adds types, wraps content in `message`, and
//! generates missing members.
//!
//! ```text
//! in   {"content": [{"text": "4"}], "model": "m", "parent_tool_use_id": null}
//! out  {"type":"assistant","message":{..,"content":[{"type":"text","text":"4"}],..},..}
//! ```

use core_model::{Event, LossKind, Output, is_void};
use jsonl::{Raw, Value};

use crate::{
    compose::Composer,
    dump_losses::lose_dumped_members,
    record::{Record, RecordKind},
    session::Session,
};

/// Names of a rate limit's members in the dump and on the wire.
pub(crate) const RATE_LIMIT_INFO: [(&str, &str); 7] = [
    ("status", "status"),
    ("resets_at", "resetsAt"),
    ("rate_limit_type", "rateLimitType"),
    ("utilization", "utilization"),
    ("overage_status", "overageStatus"),
    ("overage_resets_at", "overageResetsAt"),
    ("overage_disabled_reason", "overageDisabledReason"),
];

/// Writes a dumped line as a line of the wire, or nothing. A prompt is held, because the session id
/// comes with the next line.
pub(crate) fn write(
    record: &Record<'_>,
    event: &Event<'_>,
    session: &mut Session,
    out: &mut Output,
) {
    let value = record.value;
    if record.kind != RecordKind::Assistant {
        session.end_response();
    }
    match record.kind {
        RecordKind::Prompt => prompt(event, session, out),
        RecordKind::User => user(value, event, session, out),
        RecordKind::Assistant => assistant(value, event, session, out),
        RecordKind::System => system(value, event, session, out),
        RecordKind::Result => result(value, event, session, out),
        RecordKind::StreamEvent => {
            let mut line = typed(out, "stream_event");
            line.copy_or_null("event", value.get("event"));
            envelope(line, value, event, session);
        }
        RecordKind::RateLimit => rate_limit(value, event, session, out),
        RecordKind::ConversationReset => {
            let mut line = typed(out, "conversation_reset");
            line.raw_or_null("new_conversation_id", value.get("new_conversation_id"));
            envelope(line, value, event, session);
        }
        RecordKind::Unknown => return out.lose_record(event),
    }
    lose_dumped_members(record, out);
}

fn typed<'o>(out: &'o mut Output, kind: &str) -> Composer<'o> {
    let mut line = Composer::open(out);
    line.string("type", kind);
    line
}

/// Appends parent, session id and uuid, and emits the line.
fn envelope(mut line: Composer<'_>, value: Value<'_>, event: &Event<'_>, session: &Session) {
    if let Some(parent) = value.get("parent_tool_use_id") {
        line.raw("parent_tool_use_id", parent.raw());
    }
    session.put_id(&mut line, event);
    uuid(&mut line, event);
    for name in ["error", "origin", "user_message_uuid", "user_message_uuids"] {
        line.raw_if_any(name, value.get(name));
    }
    line.emit();
}

/// Appends the line's uuid, or one that is generated from the line.
pub(crate) fn uuid(line: &mut Composer<'_>, event: &Event<'_>) {
    match event.context.uuid {
        Some(uuid) => line.raw("uuid", Raw::from(uuid)),
        None => {
            let uuid = line.out.uuid(event, "line", 0);
            line.string("uuid", &uuid);
            line.lose(LossKind::Invented, "uuid");
        }
    }
}

fn prompt(event: &Event<'_>, session: &mut Session, out: &mut Output) {
    let mut line = typed(out, "user");
    line.object("message");
    line.string("role", "user");
    line.copy_or_null("content", event.value.get("content"));
    line.end("}");
    line.put("parent_tool_use_id", "null");
    uuid(&mut line, event);
    line.raw_if_any("timestamp", event.value.get("timestamp"));
    line.put("isReplay", "true");
    let held = line.hold();
    session.hold(held);
}

fn user(value: Value<'_>, event: &Event<'_>, session: &Session, out: &mut Output) {
    let mut line = typed(out, "user");
    line.object("message");
    line.string("role", "user");
    content(&mut line, value.get("content"));
    line.end("}");
    if let Some(result) = value.get("tool_use_result").filter(|result| !result.is_null()) {
        line.copy("tool_use_result", result.raw());
    }
    envelope(line, value, event, session);
}

fn assistant(value: Value<'_>, event: &Event<'_>, session: &mut Session, out: &mut Output) {
    if !value.get("content").is_some_and(|content| content.is_array()) {
        // The SDK's parser refuses such a line.
        return out.lose_record(event);
    }
    let id = value.get("message_id").filter(|id| !id.is_null());
    let made_up = id.is_none().then(|| session.response_id(value, event, out));
    let mut line = typed(out, "assistant");
    line.object("message");
    line.raw_or_null("model", value.get("model"));
    match (id, &made_up) {
        (Some(id), _) => line.raw("id", id.raw()),
        (None, id) => {
            line.string("id", id.as_deref().unwrap_or_default());
            line.lose(LossKind::Invented, "message.id");
        }
    }
    line.string("type", "message");
    line.string("role", "assistant");
    content(&mut line, value.get("content"));
    line.raw_or_null("stop_reason", value.get("stop_reason"));
    line.put("stop_sequence", "null");
    line.raw_if_any("usage", value.get("usage"));
    line.end("}");
    envelope(line, value, event, session);
}

fn content(line: &mut Composer<'_>, content: Option<Value<'_>>) {
    let Some(content) = content.filter(|content| content.is_array()) else {
        return line.copy_or_null("content", content);
    };
    line.array("content");
    for block in content.items() {
        let kind = block_type(block);
        match kind {
            None if block.get("type").is_some() => line.copy_item(block.raw()),
            // The SDK's parser refuses a block without a type.
            None => line.lose(LossKind::Dropped, "block.block"),
            Some(kind) => {
                line.item();
                line.string("type", kind);
                for (name, member) in block.members() {
                    if name.is("is_error") && member.is_null() {
                        continue;
                    }
                    line.key_of(name);
                    line.copy_value(member.raw());
                }
                if kind == "thinking" && block.get("signature").is_none() {
                    line.string("signature", "");
                    line.lose(LossKind::Invented, "thinking.signature");
                }
                line.end("}");
            }
        }
    }
    line.end("]");
}

/// Returns the type of a dumped block; `None` if the block has a type already or none fits.
fn block_type(block: Value<'_>) -> Option<&'static str> {
    let has = |name| block.get(name).is_some();
    if !block.is_object() || has("type") {
        None
    } else if has("thinking") {
        Some("thinking")
    } else if has("tool_use_id") {
        let is_object = block.get("content").is_some_and(|content| content.is_object());
        Some(if has("is_error") || !is_object { "tool_result" } else { "advisor_tool_result" })
    } else if has("id") && has("name") && has("input") {
        Some(match crate::block::read_block(block) {
            core_model::Block::ToolUse(tool) if tool.is_server => "server_tool_use",
            _ => "tool_use",
        })
    } else if has("text") {
        Some("text")
    } else {
        None
    }
}

/// Writes a system line. A dump has the whole line under `data`; some dumps only describe it
/// (FORMAT.md, "Dump").
fn system(value: Value<'_>, event: &Event<'_>, session: &Session, out: &mut Output) {
    let data = value.get("data").filter(|data| data.is_object());
    if let Some(data) = data.filter(|data| data.get("type").is_some()) {
        let id = out.open();
        out.copy(id, data.raw());
        for (name, member) in value.members() {
            let name = name.decode();
            if name != "data" && data.get(&name).is_none() && !is_void(&member) {
                out.lose_named(LossKind::Dropped, &name);
            }
        }
        return out.emit(id);
    }
    let mut line = typed(out, "system");
    line.raw_or_null("subtype", value.get("subtype"));
    match data {
        Some(data) => {
            for (name, member) in data.members() {
                if !["subtype", "session_id", "uuid"].iter().any(|it| name.is(it)) {
                    line.key_of(name);
                    line.copy_value(member.raw());
                }
            }
        }
        None => line.copy_or_null("data", value.get("data")),
    }
    session.put_id(&mut line, event);
    uuid(&mut line, event);
    line.emit();
}

fn result(value: Value<'_>, event: &Event<'_>, session: &Session, out: &mut Output) {
    let mut line = typed(out, "result");
    line.raw_or_null("subtype", value.get("subtype"));
    let is_success =
        value.get("subtype").and_then(|it| it.text()).is_some_and(|it| it.is("success"));
    for (name, made_up) in [
        ("is_error", if is_success { "false" } else { "true" }),
        ("duration_ms", "0"),
        ("duration_api_ms", "0"),
        ("num_turns", "1"),
    ] {
        match value.get(name) {
            Some(member) => line.raw(name, member.raw()),
            None => {
                line.put(name, made_up);
                line.lose(LossKind::Invented, "result");
            }
        }
    }
    line.raw_if_any("api_error_status", value.get("api_error_status"));
    if let Some(result) = value.get("result").filter(|result| !result.is_null()) {
        line.copy("result", result.raw());
    }
    line.raw_if_any("stop_reason", value.get("stop_reason"));
    session.put_id(&mut line, event);
    line.raw_if_any("total_cost_usd", value.get("total_cost_usd"));
    line.raw_if_any("usage", value.get("usage"));
    for (name, wire) in [
        ("model_usage", "modelUsage"),
        ("permission_denials", "permission_denials"),
        ("structured_output", "structured_output"),
        ("deferred_tool_use", "deferred_tool_use"),
    ] {
        if let Some(member) = value.get(name).filter(|member| !member.is_null()) {
            line.copy(wire, member.raw());
        }
    }
    for name in ["errors", "terminal_reason", "origin", "user_message_uuid", "user_message_uuids"] {
        line.raw_if_any(name, value.get(name));
    }
    uuid(&mut line, event);
    line.emit();
}

fn rate_limit(value: Value<'_>, event: &Event<'_>, session: &Session, out: &mut Output) {
    let info = value.get("rate_limit_info");
    let raw = info.and_then(|info| info.get("raw")).filter(|raw| raw.is_object());
    let mut line = typed(out, "rate_limit_event");
    match raw {
        Some(raw) => line.copy("rate_limit_info", raw.raw()),
        None => {
            line.object("rate_limit_info");
            line.raw_or_null("status", info.and_then(|info| info.get("status")));
            for (name, wire) in RATE_LIMIT_INFO.iter().skip(1) {
                line.raw_if_any(wire, info.and_then(|info| info.get(name)));
            }
            line.end("}");
        }
    }
    envelope(line, value, event, session);
}
