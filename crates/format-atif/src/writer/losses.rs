//! Counts data that a document has no place for.

use core_model::{Event, LossKind, Message, Output, Role, Start};
use jsonl::json_string;

use super::DocumentWriter;

/// Counts the members of a message that no step has.
pub(super) fn count_message(event: &Event<'_>, message: &Message<'_>, out: &mut Output) {
    let is_said = message.stop_sequence.is_some_and(|sequence| !sequence.is_null());
    out.drop_if(is_said, "stop_sequence");
    if message.role == Role::User {
        out.drop_response(event, message);
        out.drop_if(message.request_id.is_some(), event.vocabulary.request_id);
        out.drop_usage(message);
        if message.is_api_error {
            out.lose(LossKind::Flattened, event.vocabulary.is_api_error);
        }
    } else if message.is_summary || message.is_queued {
        out.lose(LossKind::Flattened, "message.role");
    }
}

impl DocumentWriter {
    /// Counts the context of an event: speaker and place. The head has the context of the session.
    pub(super) fn count_context(&self, event: &Event<'_>, out: &mut Output) {
        let (context, names) = (&event.context, event.vocabulary);
        let is_known = |fact: &Option<String>, value: &str| fact.as_deref() == Some(value);
        let facts = &self.facts;
        if context.session_id.is_some_and(|id| !is_known(&facts.session_id, id.as_str())) {
            out.lose(LossKind::Dropped, names.session_id);
        }
        let version = context.version.filter(|it| !is_known(&facts.version, it.as_str()));
        out.drop_if(version.is_some(), names.version);
        let branch =
            context.git_branch.filter(|it| !is_known(&self.git_branch, &json_string(&it.decode())));
        out.drop_if(branch.is_some(), names.git_branch);
        out.drop_speaker(event);
    }

    /// Counts the members of a session's start other than its context.
    pub(super) fn count_start(&self, event: &Event<'_>, start: &Start<'_>, out: &mut Output) {
        out.drop_ids(event);
        out.drop_time(event);
        let is_other =
            |model: jsonl::Text<'_>| Some(json_string(&model.decode())) != self.model_name();
        out.drop_if(start.model.is_some_and(is_other), "model");
        out.drop_if(start.tools.is_some(), "tools");
        self.count_cwd(event, out);
    }

    /// Counts the folder of an event without a step.
    pub(super) fn count_cwd(&self, event: &Event<'_>, out: &mut Output) {
        let other = event.context.cwd.filter(|cwd| Some(cwd.as_str()) != self.facts.cwd.as_deref());
        out.drop_if(other.is_some(), event.vocabulary.cwd);
    }
}
