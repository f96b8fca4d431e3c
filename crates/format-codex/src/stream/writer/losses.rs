//! Counts data that a stream has no place for.

use core_model::{
    Block, Event, Facts, Field, LossKind, Message, Notice, Outcome, Output, Role, Start, ToolResult,
};
use jsonl::Raw;

/// Counts the context of an event. A stream has only the id of the session.
pub(super) fn count_context(event: &Event<'_>, facts: &Facts, out: &mut Output) {
    let (context, names) = (&event.context, event.vocabulary);
    let known = facts.session_id.as_deref();
    let is_known = context.session_id.is_none_or(|id| known == Some(id.as_str()));
    drop_if(!is_known, names.session_id, out);
    drop_if(context.uuid.is_some(), names.uuid, out);
    drop_if(context.parent.value().is_some(), names.parent, out);
    drop_if(context.time.is_some(), names.time, out);
    drop_if(context.cwd.is_some(), names.cwd, out);
    drop_if(context.version.is_some(), names.version, out);
    drop_if(context.git_branch.is_some(), names.git_branch, out);
    drop_if(context.permission_mode.is_some(), "permissionMode", out);
    drop_if(context.agent_id.is_some(), "agentId", out);
    drop_if(context.parent_tool_use.is_some(), "parent_tool_use_id", out);
}

/// Counts the members of a message other than its content.
pub(super) fn count_message(event: &Event<'_>, message: &Message<'_>, out: &mut Output) {
    let names = event.vocabulary;
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

/// Counts the members of an error other than its text.
pub(super) fn count_notice(notice: &Notice<'_>, out: &mut Output) {
    drop_if(notice.subtype.is_some_and(|subtype| !subtype.is("error")), "subtype", out);
    drop_if(notice.about.is_some(), "about", out);
    drop_if(notice.trigger.is_some(), "trigger", out);
    drop_if(is_said(notice.pre_tokens), "pre_tokens", out);
}

/// Counts the members of an outcome besides its status, its tokens and its words.
pub(super) fn count_outcome(outcome: &Outcome<'_>, out: &mut Output) {
    for (value, field) in [
        (outcome.cost, "total_cost_usd"),
        (outcome.turns, "num_turns"),
        (outcome.duration_ms, "duration_ms"),
        (outcome.duration_api_ms, "duration_api_ms"),
        (outcome.errors, "errors"),
    ] {
        drop_if(is_said(value), field, out);
    }
}

/// Counts the members of a tool result that no line has.
pub(super) fn count_result(result: &ToolResult<'_>, out: &mut Output) {
    let file = &result.file;
    drop_if(result.duration_ms.is_some(), "tool_result.duration_ms", out);
    drop_if(file.path.is_some(), "tool_result.path", out);
    drop_if(file.content_hash.is_some(), "tool_result.content_hash", out);
    drop_if(file.mtime_nanos.is_some(), "tool_result.mtime_nanos", out);
}

/// Counts the members of a tool result without a call.
pub(super) fn drop_result(result: &ToolResult<'_>, out: &mut Output) {
    count_result(result, out);
    drop_if(matches!(result.is_error, Field::Value(_)), "tool_result.is_error", out);
}

/// Counts a block of a message that is not written.
pub(super) fn drop_block(role: Role, block: &Block<'_>, out: &mut Output) {
    let field = match block {
        Block::Text(_) if role == Role::User => "prompt",
        Block::Text(_) => "text",
        Block::Thinking { .. } | Block::RedactedThinking { .. } => "thinking",
        Block::ToolUse(_) => "tool_use",
        Block::ToolResult(result) => {
            drop_result(result, out);
            "tool_result"
        }
        Block::Image { .. } => "image",
        Block::Other { kind: Some(kind), .. } => {
            return out.lose_named(LossKind::Dropped, &format!("block.{}", kind.decode()));
        }
        _ => "block",
    };
    out.lose(LossKind::Dropped, field);
}

fn is_said(value: Option<Raw<'_>>) -> bool {
    value.is_some_and(|value| !value.is_null())
}

pub(super) fn drop_if(is_lost: bool, field: &'static str, out: &mut Output) {
    if is_lost {
        out.lose(LossKind::Dropped, field);
    }
}
