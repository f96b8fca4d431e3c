//! Counts data that a log of Gemini CLI has no place for.

use core_model::{Event, Facts, LossKind, Output, Start};
use jsonl::Raw;

pub(super) use crate::writer::losses::{count_message, count_usage};

use super::header::{known_time, written_id};

/// Counts the context of an event: speaker, session and folder. Only the header has the last two.
pub(super) fn count_context(event: &Event<'_>, facts: &Facts, out: &mut Output) {
    let (context, names) = (&event.context, event.vocabulary);
    match context.session_id {
        Some(id) if facts.session_id.as_deref() != Some(id.as_str()) => {
            out.lose(LossKind::Dropped, names.session_id);
        }
        Some(id) if facts.agent.is_some() || written_id(&id.decode()) != *id.decode() => {
            out.lose(LossKind::Flattened, names.session_id);
        }
        _ => {}
    }
    let is_moved = |cwd: jsonl::Text<'_>| facts.cwd.as_deref() != Some(cwd.as_str());
    out.drop_if(context.cwd.is_some_and(is_moved), names.cwd);
    out.drop_if(context.version.is_some(), names.version);
    out.drop_if(context.git_branch.is_some(), names.git_branch);
    out.drop_speaker(event);
}

/// Counts the members of a session's start.
pub(super) fn count_start(event: &Event<'_>, start: &Start<'_>, facts: &Facts, out: &mut Output) {
    out.drop_ids(event);
    let is_later =
        event.context.time.is_some_and(|time| facts.start.as_deref() != Some(time.as_str()));
    out.drop_if(is_later, event.vocabulary.time);
    // The header has a text with a time, whatever the start is.
    let is_kept = |time: Raw<'_>| time.as_text().is_some() && known_time(time).is_some();
    if !is_later && event.context.time.is_some_and(|time| !is_kept(time)) {
        out.lose(LossKind::Flattened, event.vocabulary.time);
    }
    out.drop_start(start);
}
