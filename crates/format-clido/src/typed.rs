//! The eight kinds of clido's records as structs, through serde (feature `serde`).

use std::borrow::Cow;

use jsonl::{Item, Number, RawBuf, Value, typed_record, typed_records};

typed_records! {
    /// A record of a session, by its `type`.
    ///
    /// ```
    /// use format_clido::{Reader, TypedRecord};
    ///
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/clido/seed-000.jsonl");
    /// for record in Reader::open(path)? {
    ///     if let TypedRecord::Result(result) = TypedRecord::decode(record?.value()) {
    ///         assert_eq!(result.total_cost_usd.expect("a cost").as_str(), "0.0009");
    ///     }
    /// }
    /// # Ok::<(), format_clido::core_model::ReadError>(())
    /// ```
    pub enum TypedRecord by kind {
        /// The first record.
        Meta(MetaRecord) = "meta",
        /// A message of the user.
        UserMessage(UserMessageRecord) = "user_message",
        /// A response of the model.
        AssistantMessage(AssistantMessageRecord) = "assistant_message",
        /// A tool use of the response before, once more.
        ToolCall(ToolCallRecord) = "tool_call",
        /// The result of a tool.
        ToolResult(ToolResultRecord) = "tool_result",
        /// A message of the client.
        System(SystemRecord) = "system",
        /// The end of a run or turn.
        Result(ResultRecord) = "result",
        /// A title of the session.
        Title(TitleRecord) = "title",
    }
}

typed_record! {
    /// The first record of a session.
    pub struct MetaRecord {
        kind: String = "type",
        session_id: String = "session_id",
        schema_version: Number = "schema_version",
        start_time: String = "start_time",
        project_path: String = "project_path",
    }
}

typed_record! {
    /// A message of the user.
    pub struct UserMessageRecord {
        kind: String = "type",
        role: String = "role",
        content: Vec<Item<TypedBlock>> = "content",
    }
}

typed_record! {
    /// A response of the model.
    pub struct AssistantMessageRecord {
        kind: String = "type",
        content: Vec<Item<TypedBlock>> = "content",
    }
}

typed_record! {
    /// A tool use of the response before, once more.
    pub struct ToolCallRecord {
        kind: String = "type",
        tool_use_id: String = "tool_use_id",
        tool_name: String = "tool_name",
        input: RawBuf = "input",
    }
}

typed_record! {
    /// The result of a tool.
    pub struct ToolResultRecord {
        kind: String = "type",
        tool_use_id: String = "tool_use_id",
        content: String = "content",
        is_error: bool = "is_error",
        duration_ms: Number = "duration_ms",
        path: String = "path",
        content_hash: String = "content_hash",
        mtime_nanos: Number = "mtime_nanos",
    }
}

typed_record! {
    /// A message of the client.
    pub struct SystemRecord {
        kind: String = "type",
        subtype: String = "subtype",
        message: String = "message",
    }
}

typed_record! {
    /// The end of a run or turn.
    pub struct ResultRecord {
        kind: String = "type",
        exit_status: String = "exit_status",
        total_cost_usd: Number = "total_cost_usd",
        num_turns: Number = "num_turns",
        duration_ms: Number = "duration_ms",
    }
}

typed_record! {
    /// A title of the session.
    pub struct TitleRecord {
        kind: String = "type",
        title: String = "title",
    }
}

typed_record! {
    /// A block of a message, of any type: the members of the other types are `None`.
    pub struct TypedBlock {
        kind: String = "type",
        text: String = "text",
        id: String = "id",
        name: String = "name",
        input: RawBuf = "input",
        tool_use_id: String = "tool_use_id",
        content: String = "content",
        is_error: bool = "is_error",
        thinking: String = "thinking",
        media_type: String = "media_type",
        base64_data: String = "base64_data",
    }
}

/// Returns the `type` of a record.
fn kind<'l>(value: Value<'l>) -> Option<Cow<'l, str>> {
    Some(value.get("type")?.text()?.decode())
}
