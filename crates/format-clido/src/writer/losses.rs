//! Counts data that clido's lines have no place for.

use core_model::{Event, Facts, LossKind, Message, Output, Start};

/// Counts the context of an event: speaker, place and time.
pub(super) fn count_context(event: &Event<'_>, facts: &Facts, out: &mut Output) {
    let (context, names) = (&event.context, event.vocabulary);
    let is_known = |fact: &Option<String>, value: &str| fact.as_deref() == Some(value);
    drop_if(context.uuid.is_some(), names.uuid, out);
    drop_if(context.parent.value().is_some(), names.parent, out);
    drop_if(
        context.time.is_some_and(|time| !is_known(&facts.start, time.as_str())),
        names.time,
        out,
    );
    drop_if(context.cwd.is_some_and(|cwd| !is_known(&facts.cwd, cwd.as_str())), names.cwd, out);
    let session_id = context.session_id;
    drop_if(
        session_id.is_some_and(|id| !is_known(&facts.session_id, id.as_str())),
        names.session_id,
        out,
    );
    drop_if(context.version.is_some(), names.version, out);
    drop_if(context.git_branch.is_some(), names.git_branch, out);
    drop_if(context.permission_mode.is_some(), "permissionMode", out);
    drop_if(context.agent_id.is_some(), "agentId", out);
    drop_if(context.parent_tool_use.is_some(), "parent_tool_use_id", out);
}

/// Counts the members of a message other than its content.
pub(super) fn count_message(event: &Event<'_>, message: &Message<'_>, out: &mut Output) {
    let names = event.vocabulary;
    let is_said = |value: Option<jsonl::Raw<'_>>| value.is_some_and(|value| !value.is_null());
    drop_if(message.id.is_some(), names.message_id, out);
    drop_if(message.model.is_some(), "model", out);
    drop_if(is_said(message.stop_reason), "stop_reason", out);
    drop_if(is_said(message.stop_sequence), "stop_sequence", out);
    drop_if(is_said(message.usage.map(|usage| usage.raw())), "usage", out);
    drop_if(message.request_id.is_some(), names.request_id, out);
    drop_if(message.tool_use_result.is_some(), names.tool_use_result, out);
    drop_if(message.is_meta, names.is_meta, out);
    drop_if(message.is_queued, "attachment", out);
    drop_if(message.is_summary, "isCompactSummary", out);
    drop_if(message.is_api_error, names.is_api_error, out);
}

/// Counts the members of a session's start other than its context.
pub(super) fn count_start(start: &Start<'_>, out: &mut Output) {
    drop_if(start.model.is_some(), "model", out);
    drop_if(start.tools.is_some(), "tools", out);
}

fn drop_if(is_lost: bool, field: &'static str, out: &mut Output) {
    if is_lost {
        out.lose(LossKind::Dropped, field);
    }
}
