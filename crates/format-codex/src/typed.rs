//! The types of Codex's records as structs, through serde (feature `serde`).

use std::borrow::Cow;

use jsonl::{Number, RawBuf, Value, typed_record, typed_records};

typed_records! {
    /// A record of a session, by its `type`.
    ///
    /// ```
    /// use format_codex::{Reader, TypedRecord};
    ///
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/codex/one-call.jsonl");
    /// for record in Reader::open(path)? {
    ///     if let TypedRecord::SessionMeta(meta) = TypedRecord::decode(record?.value()) {
    ///         let payload = meta.payload.expect("a payload");
    ///         assert_eq!(payload.cli_version.as_deref(), Some("0.63.0"));
    ///     }
    /// }
    /// # Ok::<(), format_codex::core_model::ReadError>(())
    /// ```
    pub enum TypedRecord by kind {
        /// The first line.
        SessionMeta(SessionMetaRecord) = "session_meta",
        /// An item of the history.
        ResponseItem(ResponseItemRecord) = "response_item",
        /// An event of the screen.
        EventMsg(EventMsgRecord) = "event_msg",
        /// The model and the policies of a turn.
        TurnContext(TurnContextRecord) = "turn_context",
        /// A compaction of the context.
        Compacted(CompactedRecord) = "compacted",
        /// The description of the environment in the prompt.
        WorldState(WorldStateRecord) = "world_state",
        /// The tokens of a response.
        TokenUsage(TokenUsageRecord) = "token_usage_record",
        /// A message between agents.
        InterAgent(InterAgentRecord) = "inter_agent_communication",
        /// The cause of a turn.
        InterAgentMetadata(InterAgentMetadataRecord) = "inter_agent_communication_metadata",
    }
}

typed_record! {
    /// The first line.
    pub struct SessionMetaRecord {
        timestamp: String = "timestamp",
        ordinal: Number = "ordinal",
        kind: String = "type",
        payload: TypedSessionMeta = "payload",
    }
}

typed_record! {
    /// The payload of the first line.
    pub struct TypedSessionMeta {
        id: String = "id",
        session_id: String = "session_id",
        timestamp: String = "timestamp",
        cwd: String = "cwd",
        originator: String = "originator",
        cli_version: String = "cli_version",
        source: RawBuf = "source",
        thread_source: String = "thread_source",
        model_provider: String = "model_provider",
        history_mode: String = "history_mode",
        forked_from_id: String = "forked_from_id",
        parent_thread_id: String = "parent_thread_id",
        git: RawBuf = "git",
    }
}

typed_record! {
    /// An item of the history.
    pub struct ResponseItemRecord {
        timestamp: String = "timestamp",
        ordinal: Number = "ordinal",
        kind: String = "type",
        payload: TypedItem = "payload",
        metadata: RawBuf = "metadata",
    }
}

typed_record! {
    /// The payload of an item.
    pub struct TypedItem {
        kind: String = "type",
        id: String = "id",
        role: String = "role",
        content: RawBuf = "content",
        phase: String = "phase",
        status: String = "status",
        summary: RawBuf = "summary",
        encrypted_content: String = "encrypted_content",
        name: String = "name",
        namespace: String = "namespace",
        arguments: RawBuf = "arguments",
        input: String = "input",
        call_id: String = "call_id",
        output: RawBuf = "output",
        action: RawBuf = "action",
    }
}

typed_record! {
    /// An event of the screen.
    pub struct EventMsgRecord {
        timestamp: String = "timestamp",
        ordinal: Number = "ordinal",
        kind: String = "type",
        payload: RawBuf = "payload",
    }
}

typed_record! {
    /// The model and the policies of a turn.
    pub struct TurnContextRecord {
        timestamp: String = "timestamp",
        ordinal: Number = "ordinal",
        kind: String = "type",
        payload: TypedTurnContext = "payload",
    }
}

typed_record! {
    /// The payload of a turn's context.
    pub struct TypedTurnContext {
        turn_id: String = "turn_id",
        cwd: String = "cwd",
        approval_policy: RawBuf = "approval_policy",
        sandbox_policy: RawBuf = "sandbox_policy",
        model: String = "model",
        summary: RawBuf = "summary",
    }
}

typed_record! {
    /// A compaction of the context.
    pub struct CompactedRecord {
        timestamp: String = "timestamp",
        ordinal: Number = "ordinal",
        kind: String = "type",
        payload: TypedCompacted = "payload",
    }
}

typed_record! {
    /// The payload of a compaction.
    pub struct TypedCompacted {
        message: String = "message",
        replacement_history: RawBuf = "replacement_history",
    }
}

typed_record! {
    /// The description of the environment in the prompt.
    pub struct WorldStateRecord {
        timestamp: String = "timestamp",
        ordinal: Number = "ordinal",
        kind: String = "type",
        payload: RawBuf = "payload",
    }
}

typed_record! {
    /// The tokens of a response.
    pub struct TokenUsageRecord {
        timestamp: String = "timestamp",
        ordinal: Number = "ordinal",
        kind: String = "type",
        payload: RawBuf = "payload",
    }
}

typed_record! {
    /// A message between agents.
    pub struct InterAgentRecord {
        timestamp: String = "timestamp",
        ordinal: Number = "ordinal",
        kind: String = "type",
        payload: RawBuf = "payload",
    }
}

typed_record! {
    /// The cause of a turn.
    pub struct InterAgentMetadataRecord {
        timestamp: String = "timestamp",
        ordinal: Number = "ordinal",
        kind: String = "type",
        payload: RawBuf = "payload",
    }
}

/// Returns the `type` of a record.
fn kind<'l>(value: Value<'l>) -> Option<Cow<'l, str>> {
    Some(value.get("type")?.text()?.decode())
}
