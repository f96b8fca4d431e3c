//! Counts data that Codex's lines have no place for.

use core_model::{Event, LossKind, Message, Output, Role, Start, is_uuid};
use jsonl::json_string;

use super::SessionWriter;

impl SessionWriter {
    /// Counts the context of an event: speaker and place. The first line has the context of the session.
    pub(super) fn count_context(&self, event: &Event<'_>, out: &mut Output) {
        let (context, names) = (&event.context, event.vocabulary);
        let is_known = |fact: &Option<String>, value: &str| fact.as_deref() == Some(value);
        let facts = &self.facts;
        out.drop_ids(event);
        out.drop_if(context.cwd.is_some_and(|cwd| !is_known(&facts.cwd, cwd.as_str())), names.cwd);
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
        out.drop_if(version.is_some(), names.version);
        let branch =
            context.git_branch.filter(|it| !is_known(&self.git_branch, &json_string(&it.decode())));
        out.drop_if(branch.is_some(), names.git_branch);
        out.drop_speaker(event);
    }
}

/// Counts the members of a message that no line has.
pub(super) fn count_message(event: &Event<'_>, message: &Message<'_>, out: &mut Output) {
    out.flatten_message(event, message);
    if message.role == Role::User {
        count_response(event, message, out);
    }
}

/// Counts the members of a response that no line has.
pub(super) fn count_response(event: &Event<'_>, message: &Message<'_>, out: &mut Output) {
    out.drop_response(event, message);
    let usage = message.usage.filter(|usage| !usage.is_null());
    out.drop_if(usage.is_some_and(|usage| message.is_by_client() || !usage.is_object()), "usage");
}

/// Counts the members of a session's start other than its context.
pub(super) fn count_start(event: &Event<'_>, start: &Start<'_>, out: &mut Output) {
    // The first line has the first time of the session.
    out.drop_time(event);
    out.drop_start(start);
}
