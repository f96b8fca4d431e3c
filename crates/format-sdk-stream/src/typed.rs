//! The records of both flavors as structs, through serde (feature `serde`).

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

typed_record! {
    /// A message of the client: the start of a run, hooks, tasks, compactions.
    pub struct WireSystemRecord {
        kind: String = "type",
        subtype: String = "subtype",
        session_id: String = "session_id",
        uuid: String = "uuid",
        cwd: String = "cwd",
        model: String = "model",
        tools: RawBuf = "tools",
        mcp_servers: RawBuf = "mcp_servers",
        permission_mode: String = "permissionMode",
    }
}

typed_record! {
    /// A message of the model.
    pub struct WireAssistantRecord {
        kind: String = "type",
        message: TypedMessage = "message",
        parent_tool_use_id: String = "parent_tool_use_id",
        session_id: String = "session_id",
        uuid: String = "uuid",
        error: RawBuf = "error",
    }
}

typed_record! {
    /// A message of the user, or the result of a tool.
    pub struct WireUserRecord {
        kind: String = "type",
        message: TypedMessage = "message",
        parent_tool_use_id: String = "parent_tool_use_id",
        session_id: String = "session_id",
        uuid: String = "uuid",
        tool_use_result: RawBuf = "tool_use_result",
        is_replay: bool = "isReplay",
        is_synthetic: bool = "isSynthetic",
        timestamp: String = "timestamp",
    }
}

typed_record! {
    /// The end of a run.
    pub struct WireResultRecord {
        kind: String = "type",
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
        model_usage: RawBuf = "modelUsage",
        permission_denials: RawBuf = "permission_denials",
        uuid: String = "uuid",
    }
}

typed_record! {
    /// A piece of a message that is still being written.
    pub struct WireStreamEventRecord {
        kind: String = "type",
        event: RawBuf = "event",
        session_id: String = "session_id",
        parent_tool_use_id: String = "parent_tool_use_id",
        uuid: String = "uuid",
    }
}

typed_record! {
    /// A change of the rate limits.
    pub struct WireRateLimitRecord {
        kind: String = "type",
        rate_limit_info: RawBuf = "rate_limit_info",
        uuid: String = "uuid",
        session_id: String = "session_id",
    }
}

typed_record! {
    /// The conversation was replaced by an empty one.
    pub struct WireResetRecord {
        kind: String = "type",
        new_conversation_id: String = "new_conversation_id",
        uuid: String = "uuid",
        session_id: String = "session_id",
    }
}

typed_record! {
    /// A prompt as the orchestrator writes it before a run.
    pub struct DumpPromptRecord {
        kind: String = "type",
        content: String = "content",
        timestamp: String = "timestamp",
    }
}

typed_record! {
    /// A message of the client; `data` is the record of the wire.
    pub struct DumpSystemRecord {
        subtype: String = "subtype",
        data: RawBuf = "data",
    }
}

typed_record! {
    /// A message of the model.
    pub struct DumpAssistantRecord {
        content: TypedContent = "content",
        model: String = "model",
        parent_tool_use_id: String = "parent_tool_use_id",
        error: String = "error",
        usage: TypedUsage = "usage",
        message_id: String = "message_id",
        stop_reason: String = "stop_reason",
        session_id: String = "session_id",
        uuid: String = "uuid",
    }
}

typed_record! {
    /// A message of the user, or the result of a tool.
    pub struct DumpUserRecord {
        content: TypedContent = "content",
        uuid: String = "uuid",
        parent_tool_use_id: String = "parent_tool_use_id",
        tool_use_result: RawBuf = "tool_use_result",
        origin: RawBuf = "origin",
    }
}

typed_record! {
    /// The end of a run.
    pub struct DumpResultRecord {
        subtype: String = "subtype",
        duration_ms: Number = "duration_ms",
        duration_api_ms: Number = "duration_api_ms",
        is_error: bool = "is_error",
        num_turns: Number = "num_turns",
        session_id: String = "session_id",
        stop_reason: String = "stop_reason",
        total_cost_usd: Number = "total_cost_usd",
        usage: TypedUsage = "usage",
        result: RawBuf = "result",
        structured_output: RawBuf = "structured_output",
        model_usage: RawBuf = "model_usage",
        permission_denials: RawBuf = "permission_denials",
        errors: RawBuf = "errors",
        uuid: String = "uuid",
    }
}

typed_record! {
    /// A piece of a message that is still being written.
    pub struct DumpStreamEventRecord {
        uuid: String = "uuid",
        session_id: String = "session_id",
        event: RawBuf = "event",
        parent_tool_use_id: String = "parent_tool_use_id",
    }
}

typed_record! {
    /// A change of the rate limits.
    pub struct DumpRateLimitRecord {
        rate_limit_info: RawBuf = "rate_limit_info",
        uuid: String = "uuid",
        session_id: String = "session_id",
    }
}

typed_record! {
    /// The conversation was replaced by an empty one.
    pub struct DumpResetRecord {
        new_conversation_id: String = "new_conversation_id",
        uuid: String = "uuid",
        session_id: String = "session_id",
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
        RecordKind::Unknown => return None,
    };
    Some(Cow::Borrowed(kind))
}
