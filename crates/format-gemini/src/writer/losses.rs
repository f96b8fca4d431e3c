//! Counts data that Qwen Code's lines have no place for.

use core_model::{
    Event, Facts, LossKind, Message, Output, Start, ToolCall, is_accepted_tool_id,
    replacement_tool_name,
};

use crate::store::is_uuid;

/// Counts the context of an event: speaker and session. Lines have its id, its time and its folder.
pub(super) fn count_context(event: &Event<'_>, facts: &Facts, out: &mut Output) {
    let (context, names) = (&event.context, event.vocabulary);
    match context.session_id {
        Some(id) if facts.session_id.as_deref() != Some(id.as_str()) => {
            out.lose(LossKind::Dropped, names.session_id);
        }
        Some(id) if !is_uuid(&id.decode()) => out.lose(LossKind::Flattened, names.session_id),
        _ => {}
    }
    out.drop_if(context.version.is_some(), names.version);
    out.drop_speaker(event);
}

/// Counts the members of a message that no line has.
pub(crate) fn count_message(event: &Event<'_>, message: &Message<'_>, out: &mut Output) {
    out.flatten_message(event, message);
    out.drop_if(message.id.is_some(), event.vocabulary.message_id);
    out.drop_if(message.stop_reason.is_some_and(|reason| !reason.is_null()), "stop_reason");
}

/// Counts the tokens and the model of a response that has no line of its own.
pub(crate) fn count_usage(message: &Message<'_>, out: &mut Output) {
    out.drop_if(message.model.is_some(), "model");
    out.drop_usage(message);
}

/// Counts the members of a session's start.
pub(super) fn count_start(event: &Event<'_>, start: &Start<'_>, facts: &Facts, out: &mut Output) {
    let is_moved = |cwd: jsonl::Text<'_>| facts.cwd.as_deref() != Some(cwd.as_str());
    out.drop_if(event.context.cwd.is_some_and(is_moved), event.vocabulary.cwd);
    out.drop_ids(event);
    out.drop_time(event);
    out.drop_if(event.context.git_branch.is_some(), event.vocabulary.git_branch);
    out.drop_start(start);
}

/// Counts the id and the name of an index entry, if its tool use has others.
pub(super) fn count_call(call: &ToolCall<'_>, out: &mut Output) {
    if !is_accepted_tool_id(&call.id.decode()) {
        out.lose(LossKind::Flattened, "tool_use_id");
    }
    if replacement_tool_name(&call.name.decode()).is_some() {
        out.lose(LossKind::Flattened, "tool_name");
    }
}
