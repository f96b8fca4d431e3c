//! Counts members as lost that several formats have no place for, by their names in the source.
//!
//! In: a message with a `requestId`, for a target without requests. Out: `dropped requestId`.

use jsonl::Raw;

use crate::{Event, Field, LossKind, Message, Outcome, Output, Start, ToolResult};

impl Output {
    /// Counts a member as dropped if it is lost.
    #[inline]
    pub fn drop_if(&mut self, is_lost: bool, field: &'static str) {
        if is_lost {
            self.lose(LossKind::Dropped, field);
        }
    }

    /// Counts the id of a record and the id of the record before it.
    #[inline]
    pub fn drop_ids(&mut self, event: &Event<'_>) {
        self.drop_if(event.context.uuid.is_some(), event.vocabulary.uuid);
        self.drop_if(event.context.parent.value().is_some(), event.vocabulary.parent);
    }

    /// Counts the time of a record.
    #[inline]
    pub fn drop_time(&mut self, event: &Event<'_>) {
        self.drop_if(event.context.time.is_some(), event.vocabulary.time);
    }

    /// Counts the members of a message's context that a target of one speaker has no place for: the
    /// permission mode, the sub-agent, and the tool use that started it.
    #[inline]
    pub fn drop_speaker(&mut self, event: &Event<'_>) {
        let context = &event.context;
        self.drop_if(context.permission_mode.is_some(), "permissionMode");
        self.drop_if(context.agent_id.is_some(), "agentId");
        self.drop_if(context.parent_tool_use.is_some(), "parent_tool_use_id");
    }

    /// Counts the API's members of a response: its id, its model, and why it stopped.
    pub fn drop_response(&mut self, event: &Event<'_>, message: &Message<'_>) {
        self.drop_if(message.id.is_some(), event.vocabulary.message_id);
        self.drop_if(message.model.is_some(), "model");
        self.drop_if(is_said(message.stop_reason), "stop_reason");
    }

    /// Counts the tokens of a response.
    pub fn drop_usage(&mut self, message: &Message<'_>) {
        self.drop_if(message.usage.is_some_and(|usage| !usage.is_null()), "usage");
    }

    /// Counts all members of a message other than its content.
    pub fn drop_message(&mut self, event: &Event<'_>, message: &Message<'_>) {
        let names = event.vocabulary;
        self.drop_response(event, message);
        self.drop_if(is_said(message.stop_sequence), "stop_sequence");
        self.drop_usage(message);
        self.drop_if(message.request_id.is_some(), names.request_id);
        self.drop_if(message.tool_use_result.is_some(), names.tool_use_result);
        self.drop_if(message.is_meta, names.is_meta);
        self.drop_if(message.is_queued, "attachment");
        self.drop_if(message.is_summary, "isCompactSummary");
        self.drop_if(message.is_api_error, names.is_api_error);
    }

    /// Counts the members of a session's start other than its context.
    pub fn drop_start(&mut self, start: &Start<'_>) {
        self.drop_if(start.model.is_some(), "model");
        self.drop_if(start.tools.is_some(), "tools");
    }

    /// Counts the members of a message that a target shows as one of the user or of the model: that
    /// its request failed, that the client wrote it, that it is a summary.
    pub fn flatten_message(&mut self, event: &Event<'_>, message: &Message<'_>) {
        let names = event.vocabulary;
        self.drop_if(is_said(message.stop_sequence), "stop_sequence");
        self.drop_if(message.request_id.is_some(), names.request_id);
        self.drop_if(message.is_queued, "attachment");
        for (is_lost, field) in [
            (message.is_api_error, names.is_api_error),
            (message.is_meta, names.is_meta),
            (message.is_summary, "isCompactSummary"),
        ] {
            if is_lost {
                self.lose(LossKind::Flattened, field);
            }
        }
    }

    /// Counts the members of a tool result besides its content and its error flag: the duration, and
    /// the file that the tool read or wrote.
    pub fn drop_result(&mut self, result: &ToolResult<'_>) {
        let file = &result.file;
        self.drop_if(result.duration_ms.is_some(), "tool_result.duration_ms");
        self.drop_if(file.path.is_some(), "tool_result.path");
        self.drop_if(file.content_hash.is_some(), "tool_result.content_hash");
        self.drop_if(file.mtime_nanos.is_some(), "tool_result.mtime_nanos");
    }

    /// Counts the parts of a tool result whose call is not in the session, and which becomes a notice: its
    /// kind, the id of its call, the client's own data about it, and its error flag.
    pub fn flatten_orphan(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        result: &ToolResult<'_>,
    ) {
        self.lose(LossKind::Flattened, "tool_result");
        self.lose(LossKind::Flattened, "tool_result.tool_use_id");
        self.drop_if(message.tool_use_result.is_some(), event.vocabulary.tool_use_result);
        if let Field::Value(_) = result.is_error {
            self.lose(LossKind::Flattened, "tool_result.is_error");
        }
    }

    /// Counts the numbers of an outcome: its cost, its turns, and its durations.
    pub fn drop_outcome(&mut self, outcome: &Outcome<'_>) {
        for (value, field) in [
            (outcome.cost, "total_cost_usd"),
            (outcome.turns, "num_turns"),
            (outcome.duration_ms, "duration_ms"),
            (outcome.duration_api_ms, "duration_api_ms"),
        ] {
            self.drop_if(is_said(value), field);
        }
    }

    /// Counts the numbers and the tokens of an outcome, and its error flag, which its words show.
    pub fn flatten_outcome(&mut self, outcome: &Outcome<'_>) {
        self.drop_outcome(outcome);
        self.drop_if(is_said(outcome.usage.map(|usage| usage.raw())), "usage");
        if matches!(outcome.is_error, Field::Value(_)) {
            self.lose(LossKind::Flattened, "is_error");
        }
    }
}

/// Returns whether a member is there and not null.
fn is_said(value: Option<Raw<'_>>) -> bool {
    value.is_some_and(|value| !value.is_null())
}
