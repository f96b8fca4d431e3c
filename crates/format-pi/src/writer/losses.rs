//! Counts data that pi's lines have no place for.

use core_model::{
    Event, Facts, LossKind, Message, Output, Role, SafeName, Start, ToolCall, is_accepted_tool_id,
    replacement_tool_name,
};

/// Counts the context of an event: speaker and place. Entries have its id and its time.
pub(super) fn count_context(event: &Event<'_>, facts: &Facts, out: &mut Output) {
    let (context, names) = (&event.context, event.vocabulary);
    let is_known = |fact: &Option<String>, value: &str| fact.as_deref() == Some(value);
    out.drop_if(context.cwd.is_some_and(|cwd| !is_known(&facts.cwd, cwd.as_str())), names.cwd);
    match context.session_id {
        Some(id) if !is_known(&facts.session_id, id.as_str()) => {
            out.lose(LossKind::Dropped, names.session_id);
        }
        Some(id) if SafeName::new(&id.decode()).is_none() || facts.agent.is_some() => {
            out.lose(LossKind::Flattened, names.session_id);
        }
        _ => {}
    }
    out.drop_if(context.version.is_some(), names.version);
    out.drop_if(context.git_branch.is_some(), names.git_branch);
    out.drop_speaker(event);
}

/// Counts the members of a message that no line has.
pub(super) fn count_message(event: &Event<'_>, message: &Message<'_>, out: &mut Output) {
    out.flatten_message(event, message);
    if message.is_by_client() && message.role == Role::Assistant {
        count_response(event, message, out);
    }
}

/// Counts the members of a response that has no message of its own.
pub(super) fn count_response(event: &Event<'_>, message: &Message<'_>, out: &mut Output) {
    out.drop_response(event, message);
    out.drop_usage(message);
}

/// Counts the members of a session's start other than its context.
pub(super) fn count_start(event: &Event<'_>, start: &Start<'_>, out: &mut Output) {
    out.drop_ids(event);
    // The header has the first time of the session.
    out.drop_time(event);
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
