//! Counts data that Codex's lines have no place for.

use core_model::{Event, Field, LossKind, Message, Outcome, Output, Role, Start, ToolResult};
use jsonl::Raw;

use super::{SessionWriter, lines::json};
use crate::store::is_uuid;

impl SessionWriter {
    /// Counts the context of an event: speaker and place. The first line has the context of the session.
    pub(super) fn count_context(&self, event: &Event<'_>, out: &mut Output) {
        let (context, names) = (&event.context, event.vocabulary);
        let is_known = |fact: &Option<String>, value: &str| fact.as_deref() == Some(value);
        let facts = &self.facts;
        drop_id(event, out);
        drop_if(context.cwd.is_some_and(|cwd| !is_known(&facts.cwd, cwd.as_str())), names.cwd, out);
        match context.session_id {
            Some(id) if !is_known(&facts.session_id, id.as_str()) => {
                out.lose(LossKind::Dropped, names.session_id);
            }
            Some(id) if !is_uuid(&id.decode()) || facts.agent.is_some() => {
                out.lose(LossKind::Flattened, names.session_id);
            }
            _ => {}
        }
        let version = context.version.filter(|it| !is_known(&facts.version, it.as_str()));
        drop_if(version.is_some(), names.version, out);
        let branch =
            context.git_branch.filter(|it| !is_known(&self.git_branch, &json(&it.decode())));
        drop_if(branch.is_some(), names.git_branch, out);
        drop_if(context.permission_mode.is_some(), "permissionMode", out);
        drop_if(context.agent_id.is_some(), "agentId", out);
        drop_if(context.parent_tool_use.is_some(), "parent_tool_use_id", out);
    }
}

/// Counts the members of a message that no line has.
pub(super) fn count_message(event: &Event<'_>, message: &Message<'_>, out: &mut Output) {
    let names = event.vocabulary;
    let is_said = |value: Option<Raw<'_>>| value.is_some_and(|value| !value.is_null());
    drop_if(is_said(message.stop_sequence), "stop_sequence", out);
    drop_if(message.request_id.is_some(), names.request_id, out);
    drop_if(message.is_queued, "attachment", out);
    if message.is_api_error {
        // An error says that the request failed, but not how.
        out.lose(LossKind::Flattened, names.is_api_error);
    }
    if message.is_meta {
        out.lose(LossKind::Flattened, names.is_meta);
    }
    if message.is_summary {
        out.lose(LossKind::Flattened, "isCompactSummary");
    }
    if message.role == Role::User {
        count_response(event, message, out);
    }
}

/// Counts the members of a response that no line has.
pub(super) fn count_response(event: &Event<'_>, message: &Message<'_>, out: &mut Output) {
    let is_said = |value: Option<Raw<'_>>| value.is_some_and(|value| !value.is_null());
    drop_if(message.id.is_some(), event.vocabulary.message_id, out);
    drop_if(message.model.is_some(), "model", out);
    drop_if(is_said(message.stop_reason), "stop_reason", out);
    let usage = message.usage.filter(|usage| !usage.is_null());
    drop_if(usage.is_some_and(|usage| message.is_by_client() || !usage.is_object()), "usage", out);
}

/// Counts the members of a session's start other than its context.
pub(super) fn count_start(event: &Event<'_>, start: &Start<'_>, out: &mut Output) {
    // The first line has the first time of the session.
    drop_time(event, out);
    drop_if(start.model.is_some(), "model", out);
    drop_if(start.tools.is_some(), "tools", out);
}

/// Counts the members of a tool result that no line has.
pub(super) fn count_result(result: &ToolResult<'_>, out: &mut Output) {
    let file = &result.file;
    drop_if(result.duration_ms.is_some(), "tool_result.duration_ms", out);
    drop_if(file.path.is_some(), "tool_result.path", out);
    drop_if(file.content_hash.is_some(), "tool_result.content_hash", out);
    drop_if(file.mtime_nanos.is_some(), "tool_result.mtime_nanos", out);
}

/// Counts the members of an outcome besides its status and its words.
pub(super) fn count_outcome(outcome: &Outcome<'_>, out: &mut Output) {
    let is_said = |value: Option<Raw<'_>>| value.is_some_and(|value| !value.is_null());
    for (value, field) in [
        (outcome.cost, "total_cost_usd"),
        (outcome.turns, "num_turns"),
        (outcome.duration_ms, "duration_ms"),
        (outcome.duration_api_ms, "duration_api_ms"),
        (outcome.usage.map(|usage| usage.raw()), "usage"),
    ] {
        drop_if(is_said(value), field, out);
    }
    if matches!(outcome.is_error, Field::Value(_)) {
        out.lose(LossKind::Flattened, "is_error");
    }
}

/// Counts the ids of an event. Codex sends ids of items to its API, so that others have no place.
fn drop_id(event: &Event<'_>, out: &mut Output) {
    drop_if(event.context.uuid.is_some(), event.vocabulary.uuid, out);
    drop_if(event.context.parent.value().is_some(), event.vocabulary.parent, out);
}

/// Counts the time of an event that has no line of its own.
pub(super) fn drop_time(event: &Event<'_>, out: &mut Output) {
    drop_if(event.context.time.is_some(), event.vocabulary.time, out);
}

fn drop_if(is_lost: bool, field: &'static str, out: &mut Output) {
    if is_lost {
        out.lose(LossKind::Dropped, field);
    }
}
