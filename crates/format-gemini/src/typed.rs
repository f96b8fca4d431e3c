//! The types of Qwen Code's records as structs, through serde (feature `serde`).

use std::borrow::Cow;

use jsonl::{Number, RawBuf, Value, typed_record, typed_records};

typed_records! {
    /// A record of a session, by its `type`.
    ///
    /// ```
    /// use format_gemini::{Reader, TypedRecord};
    ///
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/qwen/one-call.jsonl");
    /// let mut n_results = 0;
    /// for record in Reader::open(path)? {
    ///     if let TypedRecord::ToolResult(_) = TypedRecord::decode(record?.value()) {
    ///         n_results += 1;
    ///     }
    /// }
    /// assert_eq!(n_results, 1);
    /// # Ok::<(), format_gemini::core_model::ReadError>(())
    /// ```
    pub enum TypedRecord by kind {
        /// A message of the user.
        User(UserRecord) = "user",
        /// A response.
        Assistant(AssistantRecord) = "assistant",
        /// The result of a call.
        ToolResult(ToolResultRecord) = "tool_result",
        /// A line of the client.
        System(SystemRecord) = "system",
    }
}

typed_record! {
    /// A message of the user.
    pub struct UserRecord {
        uuid: String = "uuid",
        parent_uuid: String = "parentUuid",
        session_id: String = "sessionId",
        timestamp: String = "timestamp",
        kind: String = "type",
        subtype: String = "subtype",
        provenance: String = "provenance",
        cwd: String = "cwd",
        version: String = "version",
        git_branch: String = "gitBranch",
        message: TypedMessage = "message",
        system_payload: RawBuf = "systemPayload",
    }
}

typed_record! {
    /// A response.
    pub struct AssistantRecord {
        uuid: String = "uuid",
        parent_uuid: String = "parentUuid",
        session_id: String = "sessionId",
        timestamp: String = "timestamp",
        kind: String = "type",
        provenance: String = "provenance",
        cwd: String = "cwd",
        version: String = "version",
        git_branch: String = "gitBranch",
        model: String = "model",
        message: TypedMessage = "message",
        usage_metadata: RawBuf = "usageMetadata",
        context_window_size: Number = "contextWindowSize",
    }
}

typed_record! {
    /// The result of a call.
    pub struct ToolResultRecord {
        uuid: String = "uuid",
        parent_uuid: String = "parentUuid",
        session_id: String = "sessionId",
        timestamp: String = "timestamp",
        kind: String = "type",
        provenance: String = "provenance",
        cwd: String = "cwd",
        version: String = "version",
        git_branch: String = "gitBranch",
        message: TypedMessage = "message",
        tool_call_result: RawBuf = "toolCallResult",
    }
}

typed_record! {
    /// A line of the client.
    pub struct SystemRecord {
        uuid: String = "uuid",
        parent_uuid: String = "parentUuid",
        session_id: String = "sessionId",
        timestamp: String = "timestamp",
        kind: String = "type",
        subtype: String = "subtype",
        provenance: String = "provenance",
        cwd: String = "cwd",
        version: String = "version",
        git_branch: String = "gitBranch",
        system_payload: RawBuf = "systemPayload",
    }
}

typed_record! {
    /// The message of a record.
    pub struct TypedMessage {
        role: String = "role",
        parts: RawBuf = "parts",
    }
}

/// Returns the `type` of a record.
fn kind<'l>(value: Value<'l>) -> Option<Cow<'l, str>> {
    Some(value.get("type")?.text()?.decode())
}
