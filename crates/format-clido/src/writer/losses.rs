//! Counts data that clido's lines have no place for.

use core_model::{Event, Facts, Message, Output, Start};

/// Counts the context of an event: speaker, place and time.
pub(super) fn count_context(event: &Event<'_>, facts: &Facts, out: &mut Output) {
    let (context, names) = (&event.context, event.vocabulary);
    let is_known = |fact: &Option<String>, value: &str| fact.as_deref() == Some(value);
    out.drop_ids(event);
    out.drop_if(
        context.time.is_some_and(|time| !is_known(&facts.start, time.as_str())),
        names.time,
    );
    out.drop_if(context.cwd.is_some_and(|cwd| !is_known(&facts.cwd, cwd.as_str())), names.cwd);
    let session_id = context.session_id;
    out.drop_if(
        session_id.is_some_and(|id| !is_known(&facts.session_id, id.as_str())),
        names.session_id,
    );
    out.drop_if(context.version.is_some(), names.version);
    out.drop_if(context.git_branch.is_some(), names.git_branch);
    out.drop_speaker(event);
}

/// Counts the members of a message other than its content.
pub(super) fn count_message(event: &Event<'_>, message: &Message<'_>, out: &mut Output) {
    let names = event.vocabulary;
    let is_said = |value: Option<jsonl::Raw<'_>>| value.is_some_and(|value| !value.is_null());
    out.drop_response(event, message);
    out.drop_if(is_said(message.stop_sequence), "stop_sequence");
    out.drop_if(is_said(message.usage.map(|usage| usage.raw())), "usage");
    out.drop_if(message.request_id.is_some(), names.request_id);
    out.drop_if(message.tool_use_result.is_some(), names.tool_use_result);
    out.drop_if(message.is_meta, names.is_meta);
    out.drop_if(message.is_queued, "attachment");
    out.drop_if(message.is_summary, "isCompactSummary");
    out.drop_if(message.is_api_error, names.is_api_error);
}

/// Counts the members of a session's start other than its context.
pub(super) fn count_start(start: &Start<'_>, out: &mut Output) {
    out.drop_if(start.model.is_some(), "model");
    out.drop_if(start.tools.is_some(), "tools");
}
