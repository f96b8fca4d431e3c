//! The records of both flavors as structs, through serde (feature `serde`).
//!
//! In: `{"content": [{"text": "4"}], "model": "m", "parent_tool_use_id": null}`. Out:
//! `TypedRecord::DumpAssistant` with `model` `m`, which serializes to the same bytes in
//! [`jsonl::Style::Python`]. FORMAT.md lists the kinds with their structs.

use std::borrow::Cow;

use core_model::{TypedContent, TypedMessage, TypedUsage};
use jsonl::{Number, RawBuf, Value, typed_record, typed_records};

use crate::record::{self, Flavor, RecordKind};

typed_records! {
    /// A record of a stream, by its flavor and kind.
    ///
    /// ```
    /// use format_sdk_stream::{Reader, jsonl::Style, TypedRecord};
    ///
    /// let line = r#"{"type": "user_message", "content": "h\u00e9", "timestamp": "t"}"#;
    /// for record in Reader::from_reader(line.as_bytes()) {
    ///     let record = TypedRecord::decode(record?.value());
    ///     let TypedRecord::DumpPrompt(prompt) = &record else { unreachable!("a prompt") };
    ///     assert_eq!(prompt.content.as_deref(), Some("h\u{e9}"));
    ///     assert_eq!(record.encode(Style::Python)?, line);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub enum TypedRecord by kind {
        /// A message of the client: the start of a run, hooks, tasks, compactions.
        WireSystem(WireSystemRecord) = "wire:system",
        /// A message of the model.
        WireAssistant(WireAssistantRecord) = "wire:assistant",
        /// A message of the user, or the result of a tool.
        WireUser(WireUserRecord) = "wire:user",
        /// The end of a run.
        WireResult(WireResultRecord) = "wire:result",
        /// A piece of a message that is still being written.
        WireStreamEvent(WireStreamEventRecord) = "wire:stream_event",
        /// A change of the rate limits.
        WireRateLimit(WireRateLimitRecord) = "wire:rate_limit_event",
        /// The conversation was replaced by an empty one.
        WireReset(WireResetRecord) = "wire:conversation_reset",
        /// The time that a running tool has used.
        WireToolProgress(WireToolProgressRecord) = "wire:tool_progress",
        /// The state of a login.
        WireAuthStatus(WireAuthStatusRecord) = "wire:auth_status",
        /// A text that sums up tool uses.
        WireToolUseSummary(WireToolUseSummaryRecord) = "wire:tool_use_summary",
        /// A prompt that the client suggests.
        WirePromptSuggestion(WirePromptSuggestionRecord) = "wire:prompt_suggestion",
        /// A request of the client or the SDK, such as for a permission.
        WireControlRequest(WireControlRequestRecord) = "wire:control_request",
        /// The answer to a control request.
        WireControlResponse(WireControlResponseRecord) = "wire:control_response",
        /// A control request is no longer needed.
        WireControlCancel(WireControlCancelRecord) = "wire:control_cancel_request",
        /// A prompt as the orchestrator writes it before a run.
        DumpPrompt(DumpPromptRecord) = "dump:prompt",
        /// A message of the client; `data` is the record of the wire.
        DumpSystem(DumpSystemRecord) = "dump:system",
        /// A message of the model.
        DumpAssistant(DumpAssistantRecord) = "dump:assistant",
        /// A message of the user, or the result of a tool.
        DumpUser(DumpUserRecord) = "dump:user",
        /// The end of a run.
        DumpResult(DumpResultRecord) = "dump:result",
        /// A piece of a message that is still being written.
        DumpStreamEvent(DumpStreamEventRecord) = "dump:stream_event",
        /// A change of the rate limits.
        DumpRateLimit(DumpRateLimitRecord) = "dump:rate_limit_event",
        /// The conversation was replaced by an empty one.
        DumpReset(DumpResetRecord) = "dump:conversation_reset",
    }
}

/// Defines the two structs of a message: its record on the wire and its record in a dump. `both` has
/// the members that the two share; the `type` of the wire is added.
macro_rules! message_records {
    (
        $(#[$attribute:meta])*
        both { $($both:tt)* }
        $wire:ident { $($own_of_wire:tt)* }
        $dump:ident { $($own_of_dump:tt)* }
    ) => {
        typed_record! {
            $(#[$attribute])*
            pub struct $wire {
                kind: String = "type",
                $($both)*
                $($own_of_wire)*
            }
        }

        typed_record! {
            $(#[$attribute])*
            pub struct $dump {
                $($both)*
                $($own_of_dump)*
            }
        }
    };
}

typed_record! {
    /// A prompt as the orchestrator writes it before a run.
    pub struct DumpPromptRecord {
        kind: String = "type",
        content: String = "content",
        timestamp: String = "timestamp",
    }
}

message_records! {
    /// A message of the client: the start of a run, hooks, tasks, compactions.
    both {
        subtype: String = "subtype",
        session_id: String = "session_id",
        uuid: String = "uuid",
        task_id: String = "task_id",
        tool_use_id: String = "tool_use_id",
        description: String = "description",
    }
    WireSystemRecord {
        cwd: String = "cwd",
        model: String = "model",
        tools: RawBuf = "tools",
        mcp_servers: RawBuf = "mcp_servers",
        permission_mode: String = "permissionMode",
        hook_event: String = "hook_event",
    }
    DumpSystemRecord {
        hook_event_name: String = "hook_event_name",
        data: RawBuf = "data",
    }
}

message_records! {
    /// A message of the model.
    both {
        parent_tool_use_id: String = "parent_tool_use_id",
        session_id: String = "session_id",
        uuid: String = "uuid",
    }
    WireAssistantRecord {
        message: TypedMessage = "message",
        error: RawBuf = "error",
    }
    DumpAssistantRecord {
        content: TypedContent = "content",
        model: String = "model",
        error: String = "error",
        usage: TypedUsage = "usage",
        message_id: String = "message_id",
        stop_reason: String = "stop_reason",
    }
}

message_records! {
    /// A message of the user, or the result of a tool.
    both {
        parent_tool_use_id: String = "parent_tool_use_id",
        uuid: String = "uuid",
        tool_use_result: RawBuf = "tool_use_result",
    }
    WireUserRecord {
        message: TypedMessage = "message",
        session_id: String = "session_id",
        is_replay: bool = "isReplay",
        is_synthetic: bool = "isSynthetic",
        timestamp: String = "timestamp",
    }
    DumpUserRecord {
        content: TypedContent = "content",
        origin: RawBuf = "origin",
    }
}

message_records! {
    /// The end of a run.
    both {
        subtype: String = "subtype",
        is_error: bool = "is_error",
        duration_ms: Number = "duration_ms",
        duration_api_ms: Number = "duration_api_ms",
        num_turns: Number = "num_turns",
        result: RawBuf = "result",
        stop_reason: String = "stop_reason",
        session_id: String = "session_id",
        total_cost_usd: Number = "total_cost_usd",
        usage: TypedUsage = "usage",
        permission_denials: RawBuf = "permission_denials",
        errors: RawBuf = "errors",
        uuid: String = "uuid",
    }
    WireResultRecord {
        model_usage: RawBuf = "modelUsage",
    }
    DumpResultRecord {
        structured_output: RawBuf = "structured_output",
        model_usage: RawBuf = "model_usage",
    }
}

message_records! {
    /// A piece of a message that is still being written.
    both {
        event: RawBuf = "event",
        session_id: String = "session_id",
        parent_tool_use_id: String = "parent_tool_use_id",
        uuid: String = "uuid",
    }
    WireStreamEventRecord {}
    DumpStreamEventRecord {}
}

message_records! {
    /// A change of the rate limits.
    both {
        rate_limit_info: RawBuf = "rate_limit_info",
        uuid: String = "uuid",
        session_id: String = "session_id",
    }
    WireRateLimitRecord {}
    DumpRateLimitRecord {}
}

message_records! {
    /// The conversation was replaced by an empty one.
    both {
        new_conversation_id: String = "new_conversation_id",
        uuid: String = "uuid",
        session_id: String = "session_id",
    }
    WireResetRecord {}
    DumpResetRecord {}
}

/// Defines a message of the wire that the SDK for Python skips, so that no dump has it.
macro_rules! wire_record {
    ($(#[$attribute:meta])* pub struct $name:ident { $($own:tt)* }) => {
        typed_record! {
            $(#[$attribute])*
            pub struct $name {
                kind: String = "type",
                $($own)*
                uuid: String = "uuid",
                session_id: String = "session_id",
            }
        }
    };
}

wire_record! {
    /// The time that a running tool has used.
    pub struct WireToolProgressRecord {
        tool_use_id: String = "tool_use_id",
        tool_name: String = "tool_name",
        parent_tool_use_id: String = "parent_tool_use_id",
        elapsed_time_seconds: Number = "elapsed_time_seconds",
    }
}

wire_record! {
    /// The state of a login.
    pub struct WireAuthStatusRecord {
        is_authenticating: bool = "isAuthenticating",
        output: RawBuf = "output",
        error: String = "error",
    }
}

wire_record! {
    /// A text that sums up tool uses.
    pub struct WireToolUseSummaryRecord {
        summary: String = "summary",
        preceding_tool_use_ids: RawBuf = "preceding_tool_use_ids",
    }
}

wire_record! {
    /// A prompt that the client suggests.
    pub struct WirePromptSuggestionRecord {
        suggestion: String = "suggestion",
    }
}

wire_record! {
    /// A request of the client or the SDK, such as for a permission.
    pub struct WireControlRequestRecord {
        request_id: String = "request_id",
        request: RawBuf = "request",
    }
}

wire_record! {
    /// The answer to a control request.
    pub struct WireControlResponseRecord {
        response: RawBuf = "response",
    }
}

wire_record! {
    /// A control request is no longer needed.
    pub struct WireControlCancelRecord {
        request_id: String = "request_id",
    }
}

/// Returns the flavor and the kind of a record.
fn kind<'l>(value: Value<'l>) -> Option<Cow<'l, str>> {
    let record = record::Record::new(value);
    let is_dump = record.flavor == Flavor::Dump;
    let kind = match record.kind {
        RecordKind::Prompt => "dump:prompt",
        RecordKind::System if is_dump => "dump:system",
        RecordKind::System => "wire:system",
        RecordKind::Assistant if is_dump => "dump:assistant",
        RecordKind::Assistant => "wire:assistant",
        RecordKind::User if is_dump => "dump:user",
        RecordKind::User => "wire:user",
        RecordKind::Result if is_dump => "dump:result",
        RecordKind::Result => "wire:result",
        RecordKind::StreamEvent if is_dump => "dump:stream_event",
        RecordKind::StreamEvent => "wire:stream_event",
        RecordKind::RateLimit if is_dump => "dump:rate_limit_event",
        RecordKind::RateLimit => "wire:rate_limit_event",
        RecordKind::ConversationReset if is_dump => "dump:conversation_reset",
        RecordKind::ConversationReset => "wire:conversation_reset",
        RecordKind::Unknown => {
            let kind = value.get("type")?.text()?.decode();
            return Some(Cow::Owned(format!("wire:{kind}")));
        }
    };
    Some(Cow::Borrowed(kind))
}
