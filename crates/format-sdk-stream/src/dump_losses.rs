//! Counts the members that get lost between the two flavors.
//!
//! In: `{"type":"assistant","message":{..},"mood":"good",..}`. Out: the loss of `mood`.

use core_model::{LossKind, Output, is_void};
use jsonl::Value;

use crate::record::{Flavor, Record, RecordKind};

/// Counts the members of a line of the wire that its dump does not have.
pub(crate) fn lose_members(record: &Record<'_>, is_new: bool, out: &mut Output) {
    let value = record.value;
    let (all, new): (&[&str], &[&str]) = match record.kind {
        RecordKind::User => {
            (&["message", "parent_tool_use_id"], &["uuid", "tool_use_result", "origin"])
        }
        RecordKind::Assistant => (
            &["message", "parent_tool_use_id"],
            &["uuid", "session_id", "error", "user_message_uuid", "user_message_uuids"],
        ),
        RecordKind::Result => (RESULT, NEW_RESULT),
        RecordKind::StreamEvent => (
            &["uuid", "session_id", "event", "parent_tool_use_id"],
            &["user_message_uuid", "user_message_uuids"],
        ),
        RecordKind::RateLimit => (&["rate_limit_info", "uuid", "session_id"], &[]),
        RecordKind::ConversationReset => (&["new_conversation_id", "uuid", "session_id"], &[]),
        // The dump of a system line has the whole line under `data`.
        RecordKind::System | RecordKind::Prompt | RecordKind::Unknown => return,
    };
    let new = if is_new { new } else { &[] };
    lose_others("", value, &[&["type"], all, new], out);
    if let Some(deferred) = value.get("deferred_tool_use").filter(|_| is_new) {
        lose_others("deferred_tool_use.", deferred, &[&["id", "name", "input"]], out);
    }
    if let Some(origin) = value.get("origin").filter(|_| is_new)
        && origin.get("kind").is_none_or(|kind| kind.text().is_none())
        && !is_void(&origin)
    {
        out.lose(LossKind::Dropped, "origin");
    }
    let inner: (&[&str], &[&str]) = match record.kind {
        RecordKind::User => (&["role", "content"], &[]),
        RecordKind::Assistant => {
            (&["type", "role", "content", "model"], &["id", "stop_reason", "usage"])
        }
        _ => return,
    };
    if let Some(message) = record.message() {
        lose_others("message.", message, &[inner.0, if is_new { inner.1 } else { &[] }], out);
    }
}

/// Members of a result in both flavors.
const RESULT: &[&str] = &[
    "subtype",
    "duration_ms",
    "duration_api_ms",
    "is_error",
    "num_turns",
    "session_id",
    "total_cost_usd",
    "usage",
    "result",
];

const NEW_RESULT: &[&str] = &[
    "stop_reason",
    "structured_output",
    "modelUsage",
    "permission_denials",
    "deferred_tool_use",
    "errors",
    "api_error_status",
    "uuid",
    "terminal_reason",
    "origin",
    "user_message_uuid",
    "user_message_uuids",
];

/// Counts the members of a dumped line that the line of the wire does not have.
pub(crate) fn lose_dumped_members(record: &Record<'_>, out: &mut Output) {
    debug_assert_eq!(record.flavor, Flavor::Dump, "of the wire there is nothing to lose");
    let known: &[&str] = match record.kind {
        RecordKind::Prompt => &["type", "content", "timestamp"],
        RecordKind::User => &["content", "tool_use_result"],
        RecordKind::Assistant => &["content", "model", "usage", "message_id", "stop_reason"],
        RecordKind::StreamEvent => &["event"],
        RecordKind::RateLimit => &["rate_limit_info"],
        RecordKind::ConversationReset => &["new_conversation_id"],
        RecordKind::Result => {
            lose_odd(record.value, out);
            return lose_others("", record.value, &[RESULT, NEW_RESULT, &["model_usage"]], out);
        }
        RecordKind::System | RecordKind::Unknown => return,
    };
    lose_odd(record.value, out);
    lose_others("", record.value, &[known, AROUND], out);
}

/// Counts ids that are not strings. The line of the wire gets new ids.
fn lose_odd(value: Value<'_>, out: &mut Output) {
    for name in ["session_id", "uuid"] {
        let member = value.get(name);
        if member.is_some_and(|member| member.text().is_none() && !is_void(&member)) {
            out.lose(LossKind::Dropped, name);
        }
    }
}

/// Members that any dumped message or event may have.
const AROUND: &[&str] = &[
    "parent_tool_use_id",
    "session_id",
    "uuid",
    "error",
    "origin",
    "user_message_uuid",
    "user_message_uuids",
];

fn lose_others(prefix: &str, value: Value<'_>, known: &[&[&str]], out: &mut Output) {
    for (key, member) in value.members() {
        let is_known = known.iter().copied().flatten().any(|name| key.is(name));
        if !is_known && !is_void(&member) {
            out.lose_named(LossKind::Dropped, &format!("{prefix}{}", key.decode()));
        }
    }
}
