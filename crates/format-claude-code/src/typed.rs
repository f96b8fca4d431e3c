//! The kinds of Claude Code's records as structs, through serde (feature `serde`).
//!
//! Records of other types, of which the client has some twenty more, are [`TypedRecord::Other`].

mod unchained;

use std::borrow::Cow;

use core_model::TypedMessage;
use jsonl::{Number, RawBuf, Value, typed_record, typed_records};

pub use self::unchained::{
    AiTitleRecord, ContinuedInRecord, CostStateRecord, CustomTitleRecord, DerivedFromRecord,
    FileHistorySnapshotRecord, LastPromptRecord, ModeRecord, PermissionModeRecord, PrLinkRecord,
    QueueOperationRecord, RelocatedRecord, SummaryRecord, TagRecord, ToolsUsedRecord,
};

typed_records! {
    /// A record of a transcript, by its `type`.
    ///
    /// ```
    /// use format_claude_code::{Reader, TypedRecord};
    ///
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/claude-code/plain.jsonl");
    /// let mut tokens = 0;
    /// for record in Reader::open(path)? {
    ///     if let TypedRecord::Assistant(record) = TypedRecord::decode(record?.value()) {
    ///         let usage = record.message.and_then(|message| message.usage);
    ///         tokens += usage.and_then(|usage| usage.output_tokens?.as_u64()).unwrap_or(0);
    ///     }
    /// }
    /// # _ = tokens;
    /// # Ok::<(), format_claude_code::core_model::ReadError>(())
    /// ```
    pub enum TypedRecord by kind {
        /// A message of the user, or the result of a tool.
        User(UserRecord) = "user",
        /// A block of a response of the model.
        Assistant(AssistantRecord) = "assistant",
        /// A message of the client.
        System(SystemRecord) = "system",
        /// Something that the client tells the model, or a prompt that waited.
        Attachment(AttachmentRecord) = "attachment",
        /// A message of a sub-agent or hook that runs (2.1.11 to 2.1.83).
        Progress(ProgressRecord) = "progress",
        /// A tool result on a line of its own.
        ToolResult(ToolResultRecord) = "tool_result",
        /// A title that sums up a conversation.
        Summary(SummaryRecord) = "summary",
        /// A title that a model gave.
        AiTitle(AiTitleRecord) = "ai-title",
        /// A title that the user gave.
        CustomTitle(CustomTitleRecord) = "custom-title",
        /// A tag of the session.
        Tag(TagRecord) = "tag",
        /// The last prompt, for lists.
        LastPrompt(LastPromptRecord) = "last-prompt",
        /// The mode of the client.
        Mode(ModeRecord) = "mode",
        /// What tools may do from here on.
        PermissionMode(PermissionModeRecord) = "permission-mode",
        /// The state of edited files.
        FileHistorySnapshot(FileHistorySnapshotRecord) = "file-history-snapshot",
        /// A change of the queue of prompts.
        QueueOperation(QueueOperationRecord) = "queue-operation",
        /// A new working directory.
        Relocated(RelocatedRecord) = "relocated",
        /// The session that goes on with this one.
        ContinuedIn(ContinuedInRecord) = "continued-in",
        /// The sessions that this one was made from.
        DerivedFrom(DerivedFromRecord) = "derived-from",
        /// The cost so far.
        CostState(CostStateRecord) = "cost-state",
        /// A pull request that the session made.
        PrLink(PrLinkRecord) = "pr-link",
        /// The tools of the session.
        ToolsUsed(ToolsUsedRecord) = "tools-used",
    }
}

/// Defines a record of the chain: the members that all of them share, and its own.
macro_rules! chained_record {
    ($(#[$attribute:meta])* pub struct $name:ident { $($own:tt)* }) => {
        typed_record! {
            $(#[$attribute])*
            pub struct $name {
                parent_uuid: String = "parentUuid",
                logical_parent_uuid: String = "logicalParentUuid",
                is_sidechain: bool = "isSidechain",
                user_type: String = "userType",
                entrypoint: String = "entrypoint",
                cwd: String = "cwd",
                session_id: String = "sessionId",
                version: String = "version",
                git_branch: String = "gitBranch",
                slug: String = "slug",
                agent_id: String = "agentId",
                kind: String = "type",
                uuid: String = "uuid",
                timestamp: String = "timestamp",
                $($own)*
            }
        }
    };
}

chained_record! {
    /// A message of the user, or the result of a tool.
    pub struct UserRecord {
        message: TypedMessage = "message",
        tool_use_result: RawBuf = "toolUseResult",
        source_tool_assistant_uuid: String = "sourceToolAssistantUUID",
        permission_mode: String = "permissionMode",
        prompt_id: String = "promptId",
        is_meta: bool = "isMeta",
        is_compact_summary: bool = "isCompactSummary",
        is_visible_in_transcript_only: bool = "isVisibleInTranscriptOnly",
        origin: RawBuf = "origin",
        todos: RawBuf = "todos",
        thinking_metadata: RawBuf = "thinkingMetadata",
    }
}

chained_record! {
    /// A block of a response of the model.
    pub struct AssistantRecord {
        message: TypedMessage = "message",
        request_id: String = "requestId",
        is_api_error_message: bool = "isApiErrorMessage",
        error: RawBuf = "error",
        effort: String = "effort",
        unsigned_thinking: RawBuf = "unsignedThinking",
    }
}

chained_record! {
    /// A message of the client.
    pub struct SystemRecord {
        subtype: String = "subtype",
        content: RawBuf = "content",
        level: String = "level",
        is_meta: bool = "isMeta",
        tool_use_id: String = "toolUseID",
        compact_metadata: RawBuf = "compactMetadata",
        error: RawBuf = "error",
        duration_ms: Number = "durationMs",
        hook_count: Number = "hookCount",
    }
}

chained_record! {
    /// Something that the client tells the model, or a prompt that waited.
    pub struct AttachmentRecord {
        attachment: RawBuf = "attachment",
    }
}

chained_record! {
    /// A message of a sub-agent or hook that runs (2.1.11 to 2.1.83).
    pub struct ProgressRecord {
        data: RawBuf = "data",
        tool_use_id: String = "toolUseID",
        parent_tool_use_id: String = "parentToolUseID",
    }
}

chained_record! {
    /// A tool result on a line of its own.
    pub struct ToolResultRecord {
        tool_use_id: String = "tool_use_id",
        content: RawBuf = "content",
        is_error: bool = "is_error",
    }
}

/// Returns the `type` of a record.
fn kind<'l>(value: Value<'l>) -> Option<Cow<'l, str>> {
    Some(value.get("type")?.text()?.decode())
}
