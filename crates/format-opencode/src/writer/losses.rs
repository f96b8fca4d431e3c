//! Counts data that a document has no place for.

use core_model::{Event, Facts, Message, Output, Start};

/// Counts the context of an event: speaker and place. Messages have its time and its session.
pub(super) fn count_context(event: &Event<'_>, facts: &Facts, out: &mut Output) {
    let (context, names) = (&event.context, event.vocabulary);
    let is_known = |fact: &Option<String>, value: &str| fact.as_deref() == Some(value);
    out.drop_if(context.cwd.is_some_and(|cwd| !is_known(&facts.cwd, cwd.as_str())), names.cwd);
    let is_other = context.session_id.is_some_and(|id| !is_known(&facts.session_id, id.as_str()));
    out.drop_if(is_other, names.session_id);
    out.drop_if(context.version.is_some(), names.version);
    out.drop_if(context.git_branch.is_some(), names.git_branch);
    out.drop_speaker(event);
    // Ids of records are ids of the client, which sort by time.
    out.drop_ids(event);
}

/// Counts the members of a message that no record has.
pub(super) fn count_message(event: &Event<'_>, message: &Message<'_>, out: &mut Output) {
    out.flatten_message(event, message);
    out.drop_if(message.id.is_some(), event.vocabulary.message_id);
}

/// Counts the members of a response that is not written.
pub(super) fn count_response(message: &Message<'_>, out: &mut Output) {
    out.drop_if(message.model.is_some(), "model");
    out.drop_if(message.stop_reason.is_some_and(|it| !it.is_null()), "stop_reason");
    out.drop_usage(message);
}

/// Counts the members of a session's start other than its context.
pub(super) fn count_start(event: &Event<'_>, start: &Start<'_>, out: &mut Output) {
    // The session has the first time.
    out.drop_time(event);
    out.drop_start(start);
}
