//! The types of pi's records as structs, through serde (feature `serde`).

use std::borrow::Cow;

use jsonl::{Number, RawBuf, Value, typed_record, typed_records};

typed_records! {
    /// A record of a session, by its `type`.
    ///
    /// ```
    /// use format_pi::{Reader, TypedRecord};
    ///
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/pi/one-call.jsonl");
    /// for record in Reader::open(path)? {
    ///     if let TypedRecord::Session(session) = TypedRecord::decode(record?.value()) {
    ///         assert_eq!(session.version.expect("a version").as_str(), "3");
    ///     }
    /// }
    /// # Ok::<(), format_pi::core_model::ReadError>(())
    /// ```
    pub enum TypedRecord by kind {
        /// The header.
        Session(SessionRecord) = "session",
        /// A message.
        Message(MessageRecord) = "message",
        /// Another model from here on.
        ModelChange(ModelChangeRecord) = "model_change",
        /// Another level of thinking from here on.
        ThinkingLevelChange(ThinkingLevelChangeRecord) = "thinking_level_change",
        /// A compaction of the context.
        Compaction(CompactionRecord) = "compaction",
        /// The summary of another branch.
        BranchSummary(BranchSummaryRecord) = "branch_summary",
        /// The data of an extension.
        Custom(CustomRecord) = "custom",
        /// A message of an extension.
        CustomMessage(CustomMessageRecord) = "custom_message",
        /// A bookmark.
        Label(LabelRecord) = "label",
        /// The name of the session.
        SessionInfo(SessionInfoRecord) = "session_info",
        /// The tokens of a request besides the responses.
        Usage(UsageRecord) = "usage",
        /// A change of an earlier entry's content.
        ContextEdit(ContextEditRecord) = "context_edit",
    }
}

typed_record! {
    /// The header.
    pub struct SessionRecord {
        kind: String = "type",
        version: Number = "version",
        id: String = "id",
        timestamp: String = "timestamp",
        cwd: String = "cwd",
        parent_session: String = "parentSession",
    }
}

typed_record! {
    /// A message.
    pub struct MessageRecord {
        kind: String = "type",
        id: String = "id",
        parent_id: String = "parentId",
        timestamp: String = "timestamp",
        message: TypedMessage = "message",
    }
}

typed_record! {
    /// The message of a record.
    pub struct TypedMessage {
        role: String = "role",
        content: RawBuf = "content",
        api: String = "api",
        provider: String = "provider",
        model: String = "model",
        usage: RawBuf = "usage",
        stop_reason: String = "stopReason",
        error_message: String = "errorMessage",
        response_id: String = "responseId",
        tool_call_id: String = "toolCallId",
        tool_name: String = "toolName",
        details: RawBuf = "details",
        is_error: bool = "isError",
        timestamp: Number = "timestamp",
    }
}

typed_record! {
    /// Another model from here on.
    pub struct ModelChangeRecord {
        kind: String = "type",
        id: String = "id",
        parent_id: String = "parentId",
        timestamp: String = "timestamp",
        provider: String = "provider",
        model_id: String = "modelId",
    }
}

typed_record! {
    /// Another level of thinking from here on.
    pub struct ThinkingLevelChangeRecord {
        kind: String = "type",
        id: String = "id",
        parent_id: String = "parentId",
        timestamp: String = "timestamp",
        thinking_level: String = "thinkingLevel",
    }
}

typed_record! {
    /// A compaction of the context.
    pub struct CompactionRecord {
        kind: String = "type",
        id: String = "id",
        parent_id: String = "parentId",
        timestamp: String = "timestamp",
        summary: String = "summary",
        first_kept_entry_id: String = "firstKeptEntryId",
        tokens_before: Number = "tokensBefore",
        details: RawBuf = "details",
        from_hook: bool = "fromHook",
    }
}

typed_record! {
    /// The summary of another branch.
    pub struct BranchSummaryRecord {
        kind: String = "type",
        id: String = "id",
        parent_id: String = "parentId",
        timestamp: String = "timestamp",
        from_id: String = "fromId",
        summary: String = "summary",
        details: RawBuf = "details",
        from_hook: bool = "fromHook",
    }
}

typed_record! {
    /// The data of an extension.
    pub struct CustomRecord {
        kind: String = "type",
        id: String = "id",
        parent_id: String = "parentId",
        timestamp: String = "timestamp",
        custom_type: String = "customType",
        data: RawBuf = "data",
    }
}

typed_record! {
    /// A message of an extension.
    pub struct CustomMessageRecord {
        kind: String = "type",
        id: String = "id",
        parent_id: String = "parentId",
        timestamp: String = "timestamp",
        custom_type: String = "customType",
        content: RawBuf = "content",
        display: bool = "display",
        details: RawBuf = "details",
    }
}

typed_record! {
    /// A bookmark.
    pub struct LabelRecord {
        kind: String = "type",
        id: String = "id",
        parent_id: String = "parentId",
        timestamp: String = "timestamp",
        target_id: String = "targetId",
        label: String = "label",
    }
}

typed_record! {
    /// The name of the session.
    pub struct SessionInfoRecord {
        kind: String = "type",
        id: String = "id",
        parent_id: String = "parentId",
        timestamp: String = "timestamp",
        name: String = "name",
    }
}

typed_record! {
    /// The tokens of a request besides the responses.
    pub struct UsageRecord {
        kind: String = "type",
        id: String = "id",
        parent_id: String = "parentId",
        timestamp: String = "timestamp",
        usage_kind: String = "kind",
        provider: String = "provider",
        model: String = "model",
        usage: RawBuf = "usage",
    }
}

typed_record! {
    /// A change of an earlier entry's content.
    pub struct ContextEditRecord {
        kind: String = "type",
        id: String = "id",
        parent_id: String = "parentId",
        timestamp: String = "timestamp",
        target_id: String = "targetId",
        replacement: RawBuf = "replacement",
    }
}

/// Returns the `type` of a record.
fn kind<'l>(value: Value<'l>) -> Option<Cow<'l, str>> {
    Some(value.get("type")?.text()?.decode())
}
