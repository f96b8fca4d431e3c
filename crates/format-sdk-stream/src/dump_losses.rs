//! What a dump does not say of a line of the wire.

use core_model::{LossKind, Output};

use crate::record::{Record, RecordKind};

/// Returns the name under which a block is lost.
pub(crate) fn lost_block(kind: Option<&str>) -> &'static str {
    const NAMES: [&str; 8] = [
        "image",
        "document",
        "thinking",
        "redacted_thinking",
        "server_tool_use",
        "web_search_tool_result",
        "advisor_tool_result",
        "tool_reference",
    ];
    NAMES.into_iter().find(|name| kind == Some(name)).unwrap_or("block")
}

/// Counts the members of messages and results that no dump has; of 0.1.6, far more.
pub(crate) fn lose_members(record: &Record<'_>, is_new: bool, out: &mut Output) {
    const OLD: [&str; 14] = [
        "type",
        "message",
        "parent_tool_use_id",
        "subtype",
        "duration_ms",
        "duration_api_ms",
        "is_error",
        "num_turns",
        "total_cost_usd",
        "usage",
        "result",
        "content",
        "model",
        "role",
    ];
    const NEW: [&str; 15] = [
        "uuid",
        "id",
        "stop_reason",
        "tool_use_result",
        "error",
        "origin",
        "structured_output",
        "modelUsage",
        "permission_denials",
        "errors",
        "api_error_status",
        "terminal_reason",
        "user_message_uuid",
        "user_message_uuids",
        "deferred_tool_use",
    ];
    const NEVER: [&str; 6] =
        ["timestamp", "isReplay", "isSynthetic", "stop_sequence", "request_id", "session_id"];
    let is_message = matches!(record.kind, RecordKind::User | RecordKind::Assistant);
    if !is_message && record.kind != RecordKind::Result {
        return;
    }
    let keeps_session =
        record.kind == RecordKind::Result || is_new && record.kind == RecordKind::Assistant;
    let inner = record.message().filter(|_| is_message);
    let members = record.value.members().chain(inner.into_iter().flat_map(|it| it.members()));
    for (key, member) in members {
        let is = |name: &&&str| key.is(name);
        if member.is_null()
            || OLD.iter().any(|name| key.is(name))
            || is_new && NEW.iter().any(|name| key.is(name))
            || keeps_session && key.is("session_id")
        {
            continue;
        }
        let name = NEVER.iter().chain(&NEW).find(is).copied();
        out.lose(LossKind::Dropped, name.unwrap_or("member"));
    }
}
