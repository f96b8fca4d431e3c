//! Counts data that clido's lines have no place for.

use core_model::{Event, Facts, Output};

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
