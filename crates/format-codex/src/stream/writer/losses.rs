//! Counts data that a stream has no place for.

use core_model::{Block, Event, Facts, Field, LossKind, Notice, Outcome, Output, Role, ToolResult};
use jsonl::Raw;

/// Counts the context of an event. A stream has only the id of the session.
pub(super) fn count_context(event: &Event<'_>, facts: &Facts, out: &mut Output) {
    let (context, names) = (&event.context, event.vocabulary);
    let known = facts.session_id.as_deref();
    let is_known = context.session_id.is_none_or(|id| known == Some(id.as_str()));
    out.drop_if(!is_known, names.session_id);
    out.drop_ids(event);
    out.drop_time(event);
    out.drop_if(context.cwd.is_some(), names.cwd);
    out.drop_if(context.version.is_some(), names.version);
    out.drop_if(context.git_branch.is_some(), names.git_branch);
    out.drop_speaker(event);
}

/// Counts the members of an error other than its text.
pub(super) fn count_notice(notice: &Notice<'_>, out: &mut Output) {
    out.drop_if(notice.subtype.is_some_and(|subtype| !subtype.is("error")), "subtype");
    out.drop_if(notice.about.is_some(), "about");
    out.drop_if(notice.trigger.is_some(), "trigger");
    out.drop_if(is_said(notice.pre_tokens), "pre_tokens");
}

/// Counts the members of an outcome besides its status, its tokens and its words.
pub(super) fn count_outcome(outcome: &Outcome<'_>, out: &mut Output) {
    out.drop_outcome(outcome);
    out.drop_if(is_said(outcome.errors), "errors");
}

/// Counts the members of a tool result without a call.
pub(super) fn drop_result(result: &ToolResult<'_>, out: &mut Output) {
    out.drop_result(result);
    out.drop_if(matches!(result.is_error, Field::Value(_)), "tool_result.is_error");
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
