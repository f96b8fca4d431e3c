//! The types of Copilot's records as structs of Rust, through serde (feature `serde`).

use std::borrow::Cow;

use jsonl::{Number, RawBuf, Value, typed_record, typed_records};

typed_records! {
    /// A record of a session, by its `type`.
    ///
    /// ```
    /// use format_copilot::{Reader, TypedRecord};
    ///
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/copilot/one-call.jsonl");
    /// for record in Reader::open(path)? {
    ///     if let TypedRecord::SessionStart(start) = TypedRecord::decode(record?.value()) {
    ///         let data = start.data.expect("data");
    ///         assert_eq!(data.copilot_version.as_deref(), Some("1.0.102"));
    ///     }
    /// }
    /// # Ok::<(), format_copilot::core_model::ReadError>(())
    /// ```
    pub enum TypedRecord by kind {
        /// The first line.
        SessionStart(SessionStartRecord) = "session.start",
        /// The client loaded the session again.
        SessionResume(SessionResumeRecord) = "session.resume",
        /// A prompt.
        UserMessage(UserMessageRecord) = "user.message",
        /// The prompt of the client.
        SystemMessage(SystemMessageRecord) = "system.message",
        /// The start of a turn.
        TurnStart(TurnStartRecord) = "assistant.turn_start",
        /// The end of a turn.
        TurnEnd(TurnEndRecord) = "assistant.turn_end",
        /// A response.
        AssistantMessage(AssistantMessageRecord) = "assistant.message",
        /// A call that starts.
        ToolStart(ToolStartRecord) = "tool.execution_start",
        /// The result of a call.
        ToolComplete(ToolCompleteRecord) = "tool.execution_complete",
        /// The tokens of a response.
        Usage(UsageRecord) = "session.usage_record",
        /// Another model.
        ModelChange(ModelChangeRecord) = "session.model_change",
        /// A notice.
        Info(InfoRecord) = "session.info",
        /// A warning.
        Warning(WarningRecord) = "session.warning",
        /// An error.
        Error(ErrorRecord) = "session.error",
        /// A compaction of the context.
        Compaction(CompactionRecord) = "session.compaction_complete",
        /// A title of the session.
        Title(TitleRecord) = "session.title_changed",
        /// A picture that other lines refer to.
        BinaryAsset(BinaryAssetRecord) = "session.binary_asset",
        /// The end of a run.
        Shutdown(ShutdownRecord) = "session.shutdown",
        /// The start of a sub-agent.
        SubagentStarted(SubagentStartedRecord) = "subagent.started",
        /// The end of a sub-agent.
        SubagentCompleted(SubagentCompletedRecord) = "subagent.completed",
        /// The user stopped a response.
        Abort(AbortRecord) = "abort",
        /// The start of a hook.
        HookStart(HookStartRecord) = "hook.start",
        /// The end of a hook.
        HookEnd(HookEndRecord) = "hook.end",
    }
}

typed_record! {
    /// The first line.
    pub struct SessionStartRecord {
        kind: String = "type",
        data: TypedSessionStart = "data",
        id: String = "id",
        timestamp: String = "timestamp",
        parent_id: String = "parentId",
        agent_id: String = "agentId",
    }
}

typed_record! {
    /// The client loaded the session again.
    pub struct SessionResumeRecord {
        kind: String = "type",
        data: RawBuf = "data",
        id: String = "id",
        timestamp: String = "timestamp",
        parent_id: String = "parentId",
        agent_id: String = "agentId",
    }
}

typed_record! {
    /// A prompt.
    pub struct UserMessageRecord {
        kind: String = "type",
        data: TypedUserMessage = "data",
        id: String = "id",
        timestamp: String = "timestamp",
        parent_id: String = "parentId",
        agent_id: String = "agentId",
    }
}

typed_record! {
    /// The prompt of the client.
    pub struct SystemMessageRecord {
        kind: String = "type",
        data: RawBuf = "data",
        id: String = "id",
        timestamp: String = "timestamp",
        parent_id: String = "parentId",
        agent_id: String = "agentId",
    }
}

typed_record! {
    /// The start of a turn.
    pub struct TurnStartRecord {
        kind: String = "type",
        data: RawBuf = "data",
        id: String = "id",
        timestamp: String = "timestamp",
        parent_id: String = "parentId",
        agent_id: String = "agentId",
    }
}

typed_record! {
    /// The end of a turn.
    pub struct TurnEndRecord {
        kind: String = "type",
        data: RawBuf = "data",
        id: String = "id",
        timestamp: String = "timestamp",
        parent_id: String = "parentId",
        agent_id: String = "agentId",
    }
}

typed_record! {
    /// A response.
    pub struct AssistantMessageRecord {
        kind: String = "type",
        data: TypedAssistantMessage = "data",
        id: String = "id",
        timestamp: String = "timestamp",
        parent_id: String = "parentId",
        agent_id: String = "agentId",
    }
}

typed_record! {
    /// A call that starts.
    pub struct ToolStartRecord {
        kind: String = "type",
        data: RawBuf = "data",
        id: String = "id",
        timestamp: String = "timestamp",
        parent_id: String = "parentId",
        agent_id: String = "agentId",
    }
}

typed_record! {
    /// The result of a call.
    pub struct ToolCompleteRecord {
        kind: String = "type",
        data: TypedToolComplete = "data",
        id: String = "id",
        timestamp: String = "timestamp",
        parent_id: String = "parentId",
        agent_id: String = "agentId",
    }
}

typed_record! {
    /// The tokens of a response.
    pub struct UsageRecord {
        kind: String = "type",
        data: RawBuf = "data",
        id: String = "id",
        timestamp: String = "timestamp",
        parent_id: String = "parentId",
        agent_id: String = "agentId",
    }
}

typed_record! {
    /// Another model.
    pub struct ModelChangeRecord {
        kind: String = "type",
        data: RawBuf = "data",
        id: String = "id",
        timestamp: String = "timestamp",
        parent_id: String = "parentId",
        agent_id: String = "agentId",
    }
}

typed_record! {
    /// A notice.
    pub struct InfoRecord {
        kind: String = "type",
        data: RawBuf = "data",
        id: String = "id",
        timestamp: String = "timestamp",
        parent_id: String = "parentId",
        agent_id: String = "agentId",
    }
}

typed_record! {
    /// A warning.
    pub struct WarningRecord {
        kind: String = "type",
        data: RawBuf = "data",
        id: String = "id",
        timestamp: String = "timestamp",
        parent_id: String = "parentId",
        agent_id: String = "agentId",
    }
}

typed_record! {
    /// An error.
    pub struct ErrorRecord {
        kind: String = "type",
        data: RawBuf = "data",
        id: String = "id",
        timestamp: String = "timestamp",
        parent_id: String = "parentId",
        agent_id: String = "agentId",
    }
}

typed_record! {
    /// A compaction of the context.
    pub struct CompactionRecord {
        kind: String = "type",
        data: RawBuf = "data",
        id: String = "id",
        timestamp: String = "timestamp",
        parent_id: String = "parentId",
        agent_id: String = "agentId",
    }
}

typed_record! {
    /// A title of the session.
    pub struct TitleRecord {
        kind: String = "type",
        data: RawBuf = "data",
        id: String = "id",
        timestamp: String = "timestamp",
        parent_id: String = "parentId",
        agent_id: String = "agentId",
    }
}

typed_record! {
    /// A picture that other lines refer to.
    pub struct BinaryAssetRecord {
        kind: String = "type",
        data: RawBuf = "data",
        id: String = "id",
        timestamp: String = "timestamp",
        parent_id: String = "parentId",
        agent_id: String = "agentId",
    }
}

typed_record! {
    /// The end of a run.
    pub struct ShutdownRecord {
        kind: String = "type",
        data: RawBuf = "data",
        id: String = "id",
        timestamp: String = "timestamp",
        parent_id: String = "parentId",
        agent_id: String = "agentId",
    }
}

typed_record! {
    /// The start of a sub-agent.
    pub struct SubagentStartedRecord {
        kind: String = "type",
        data: RawBuf = "data",
        id: String = "id",
        timestamp: String = "timestamp",
        parent_id: String = "parentId",
        agent_id: String = "agentId",
    }
}

typed_record! {
    /// The end of a sub-agent.
    pub struct SubagentCompletedRecord {
        kind: String = "type",
        data: RawBuf = "data",
        id: String = "id",
        timestamp: String = "timestamp",
        parent_id: String = "parentId",
        agent_id: String = "agentId",
    }
}

typed_record! {
    /// The user stopped a response.
    pub struct AbortRecord {
        kind: String = "type",
        data: RawBuf = "data",
        id: String = "id",
        timestamp: String = "timestamp",
        parent_id: String = "parentId",
        agent_id: String = "agentId",
    }
}

typed_record! {
    /// The start of a hook.
    pub struct HookStartRecord {
        kind: String = "type",
        data: RawBuf = "data",
        id: String = "id",
        timestamp: String = "timestamp",
        parent_id: String = "parentId",
        agent_id: String = "agentId",
    }
}

typed_record! {
    /// The end of a hook.
    pub struct HookEndRecord {
        kind: String = "type",
        data: RawBuf = "data",
        id: String = "id",
        timestamp: String = "timestamp",
        parent_id: String = "parentId",
        agent_id: String = "agentId",
    }
}

typed_record! {
    /// The data of the first line.
    pub struct TypedSessionStart {
        session_id: String = "sessionId",
        version: Number = "version",
        producer: String = "producer",
        copilot_version: String = "copilotVersion",
        start_time: String = "startTime",
        selected_model: String = "selectedModel",
        context: RawBuf = "context",
    }
}

typed_record! {
    /// The data of a prompt.
    pub struct TypedUserMessage {
        content: String = "content",
        transformed_content: String = "transformedContent",
        attachments: RawBuf = "attachments",
        message_id: String = "messageId",
        source: String = "source",
    }
}

typed_record! {
    /// The data of a response.
    pub struct TypedAssistantMessage {
        message_id: String = "messageId",
        model: String = "model",
        content: String = "content",
        tool_requests: RawBuf = "toolRequests",
        reasoning_text: String = "reasoningText",
        reasoning_opaque: String = "reasoningOpaque",
        reasoning_blocks: RawBuf = "reasoningBlocks",
        api_call_id: String = "apiCallId",
        parent_tool_call_id: String = "parentToolCallId",
    }
}

typed_record! {
    /// The data of a result.
    pub struct TypedToolComplete {
        tool_call_id: String = "toolCallId",
        success: bool = "success",
        result: RawBuf = "result",
        error: RawBuf = "error",
    }
}

/// Returns the `type` of a record.
fn kind<'l>(value: Value<'l>) -> Option<Cow<'l, str>> {
    Some(value.get("type")?.text()?.decode())
}
