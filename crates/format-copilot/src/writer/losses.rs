//! Counts data that Copilot's lines have no place for.

use core_model::{
    Event, LossKind, Message, Output, Role, Start, ToolCall, is_accepted_tool_id, is_uuid,
    replacement_tool_name,
};
use jsonl::json_string;

use super::SessionWriter;

impl SessionWriter {
    /// Counts the context of an event: speaker and place. The first line has the context of the session.
    pub(super) fn count_context(&self, event: &Event<'_>, out: &mut Output) {
        let (context, names) = (&event.context, event.vocabulary);
        let is_known = |fact: &Option<String>, value: &str| fact.as_deref() == Some(value);
        let facts = &self.facts;
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
        let branch = context.git_branch.filter(|it| !is_known(&self.git_branch, it.as_str()));
        out.drop_if(branch.is_some(), names.git_branch);
        out.drop_if(context.permission_mode.is_some(), "permissionMode");
        if !self.has_speaker(event) {
            out.drop_if(context.agent_id.is_some(), "agentId");
            out.drop_if(context.parent_tool_use.is_some(), "parent_tool_use_id");
        }
    }

    /// Counts the members of a start of a session or of a run, other than its context. The first line
    /// has the members of the first start.
    pub(super) fn count_start(&self, event: &Event<'_>, start: &Start<'_>, out: &mut Output) {
        let is_last = |model: &jsonl::Text<'_>| {
            self.model.as_ref().is_some_and(|it| *it == json_string(&model.decode()))
        };
        if !self.thread.is_last(event) {
            out.drop_ids(event);
            out.drop_time(event);
        }
        out.drop_if(start.model.is_some_and(|model| !is_last(&model)), "model");
        out.drop_if(start.tools.is_some(), "tools");
    }
}

/// Counts the members of a message that no line has.
pub(super) fn count_message(event: &Event<'_>, message: &Message<'_>, out: &mut Output) {
    out.flatten_message(event, message);
    if message.role == Role::User || message.is_by_client() {
        out.drop_response(event, message);
        out.drop_usage(message);
    }
}

/// Counts why the model stopped.
pub(super) fn count_response(message: &Message<'_>, out: &mut Output) {
    out.drop_if(message.stop_reason.is_some_and(|it| !it.is_null()), "stop_reason");
}

/// Counts the members of an index entry whose tool use has others.
pub(super) fn count_call(event: &Event<'_>, call: &ToolCall<'_>, out: &mut Output) {
    out.drop_ids(event);
    out.drop_time(event);
    if !is_accepted_tool_id(&call.id.decode()) {
        out.lose(LossKind::Flattened, "tool_use_id");
    }
    if replacement_tool_name(&call.name.decode()).is_some() {
        out.lose(LossKind::Flattened, "tool_name");
    }
}
