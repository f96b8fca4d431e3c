//! Counts what clido's lines have no place for.

use core_model::{Event, Facts, Field, LossKind, Message, Output, Start};

/// Counts what an event says of who, where and when.
pub(super) fn count_context(event: &Event<'_>, facts: &Facts, out: &mut Output) {
    let context = &event.context;
    let is_known = |fact: &Option<String>, value: &str| fact.as_deref() == Some(value);
    let has_parent = !matches!(context.parent, Field::Absent);
    drop_if(context.uuid.is_some() || has_parent, "envelope", out);
    drop_if(
        context.time.is_some_and(|time| !is_known(&facts.start, time.as_str())),
        "timestamp",
        out,
    );
    drop_if(context.cwd.is_some_and(|cwd| !is_known(&facts.cwd, cwd.as_str())), "cwd", out);
    let session_id = context.session_id;
    drop_if(
        session_id.is_some_and(|id| !is_known(&facts.session_id, id.as_str())),
        "session_id",
        out,
    );
    drop_if(context.version.is_some(), "version", out);
    drop_if(context.git_branch.is_some(), "git_branch", out);
    drop_if(context.permission_mode.is_some(), "permission_mode", out);
    drop_if(event.is_sub_agent() || context.agent_id.is_some(), "agent", out);
}

/// Counts what a message says beside its content.
pub(super) fn count_message(message: &Message<'_>, out: &mut Output) {
    let is_said = |value: Option<jsonl::Raw<'_>>| value.is_some_and(|value| !value.is_null());
    drop_if(message.id.is_some(), "message.id", out);
    drop_if(message.model.is_some(), "model", out);
    drop_if(is_said(message.stop_reason), "stop_reason", out);
    drop_if(is_said(message.stop_sequence), "stop_sequence", out);
    drop_if(is_said(message.usage.map(|usage| usage.raw())), "usage", out);
    drop_if(message.request_id.is_some(), "request_id", out);
    drop_if(message.tool_use_result.is_some(), "tool_use_result", out);
    drop_if(message.is_meta, "is_meta", out);
    drop_if(message.is_queued, "is_queued", out);
    drop_if(message.is_summary, "is_summary", out);
    drop_if(message.is_api_error, "is_api_error", out);
}

/// Counts what the start of a session says beside who, where and when.
pub(super) fn count_start(start: &Start<'_>, out: &mut Output) {
    drop_if(start.model.is_some(), "model", out);
    drop_if(start.tools.is_some(), "tools", out);
}

fn drop_if(is_lost: bool, field: &'static str, out: &mut Output) {
    if is_lost {
        out.lose(LossKind::Dropped, field);
    }
}
