//! The kinds of Claude Code's records as structs, through serde (feature `serde`).
//!
//! In: `{"type":"ai-title","aiTitle":"Add a test","sessionId":"s"}`. Out: `TypedRecord::AiTitle` with
//! `ai_title` `Add a test`, which serializes to the same bytes. FORMAT.md lists the kinds with their
//! structs. A record of another type is [`TypedRecord::Other`].

mod unchained;

use std::borrow::Cow;

use core_model::TypedMessage;
use jsonl::{Number, RawBuf, Value, typed_record, typed_records};

pub use self::unchained::{
    AgentColorRecord, AgentMetadataRecord, AgentNameRecord, AgentSettingRecord, AiTitleRecord,
    ApiRequestBlobRecord, ApiRequestRecord, ApiRequestResumedRecord, ApiRequestShapeRecord,
    ArtifactAutoreactLedgerRecord, ArtifactCommentMonitorRecord, AtisLatchRecord,
    AttributionSnapshotRecord, BridgeSessionRecord, CarriedRecord, ContentReplacementRecord,
    ContinuedInRecord, CostStateRecord, CustomTitleRecord, DataFlowIncompleteRecord,
    DataFlowRecordsRecord, DerivedFromRecord, DevModsRecord, EndedByModelRecord,
    FileHistoryDeltaRecord, FileHistorySnapshotRecord, ForkContextRefRecord, FrameLinkRecord,
    HistorySuppressionRecord, HostRowRecord, HybridOrganizationRecord, IsolationLatchRecord,
    LastPromptRecord, MemoryModeRecord, ModeRecord, ObserverRefRecord, PermissionModeRecord,
    PrLinkRecord, QueueOperationRecord, RelocatedRecord, ReplModeRecord, ResumeHeadVouchRecord,
    SessionOwnerRecord, SummaryRecord, TagRecord, ToolsUsedRecord, WorktreeStateRecord,
};

typed_records! {
    /// A record of a transcript, decoded by its `type`.
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
        /// Context that the client adds for the model, or a prompt that waited in the queue.
        Attachment(AttachmentRecord) = "attachment",
        /// A message of a running sub-agent or hook (2.1.11 to 2.1.83).
        Progress(ProgressRecord) = "progress",
        /// A tool result on a line of its own.
        ToolResult(ToolResultRecord) = "tool_result",
        /// A title that sums up a conversation.
        Summary(SummaryRecord) = "summary",
        /// A title that a model gave.
        AiTitle(AiTitleRecord) = "ai-title",
        /// A title that the user gave.
        CustomTitle(CustomTitleRecord) = "custom-title",
        /// A tag that the user gave.
        Tag(TagRecord) = "tag",
        /// The last prompt, for lists.
        LastPrompt(LastPromptRecord) = "last-prompt",
        /// The mode of the client, such as `normal`.
        Mode(ModeRecord) = "mode",
        /// The permission mode of tools from this record on.
        PermissionMode(PermissionModeRecord) = "permission-mode",
        /// The backups of edited files at a message.
        FileHistorySnapshot(FileHistorySnapshotRecord) = "file-history-snapshot",
        /// The backup of one edited file, added to an earlier snapshot.
        FileHistoryDelta(FileHistoryDeltaRecord) = "file-history-delta",
        /// A change of the queue of prompts.
        QueueOperation(QueueOperationRecord) = "queue-operation",
        /// A new working directory.
        Relocated(RelocatedRecord) = "relocated",
        /// The session that continues this one.
        ContinuedIn(ContinuedInRecord) = "continued-in",
        /// The sessions that this one was made from.
        DerivedFrom(DerivedFromRecord) = "derived-from",
        /// The cost of the session so far.
        CostState(CostStateRecord) = "cost-state",
        /// A pull request that the session made.
        PrLink(PrLinkRecord) = "pr-link",
        /// The names of the tools that the session used.
        ToolsUsed(ToolsUsedRecord) = "tools-used",
        /// The name of the agent.
        AgentName(AgentNameRecord) = "agent-name",
        /// The color of the agent in the terminal.
        AgentColor(AgentColorRecord) = "agent-color",
        /// The kind of agent that the session runs as.
        AgentSetting(AgentSettingRecord) = "agent-setting",
        /// The remote session that mirrors this one.
        BridgeSession(BridgeSessionRecord) = "bridge-session",
        /// A page that the session published.
        FrameLink(FrameLinkRecord) = "frame-link",
        /// A setting of the client, often empty.
        AtisLatch(AtisLatchRecord) = "atis-latch",
        /// The Git worktree that the session works in; `null` after it left.
        WorktreeState(WorktreeStateRecord) = "worktree-state",
        /// The side of an isolation setting that the session is on.
        IsolationLatch(IsolationLatchRecord) = "isolation-latch",
        /// The parts of messages that the client sends in shortened form.
        ContentReplacement(ContentReplacementRecord) = "content-replacement",
        /// The share of the model in the edited files.
        AttributionSnapshot(AttributionSnapshotRecord) = "attribution-snapshot",
        /// The place in another session that a forked sub-agent continues.
        ForkContextRef(ForkContextRefRecord) = "fork-context-ref",
        /// The artifacts whose comments the client watches.
        ArtifactCommentMonitor(ArtifactCommentMonitorRecord) = "artifact-comment-monitor",
        /// A request to the API: parameters, and messages by their hashes.
        ApiRequest(ApiRequestRecord) = "api-request",
        /// A message of requests to the API, with its hash.
        ApiRequestBlob(ApiRequestBlobRecord) = "api-request-blob",
        /// The part that requests to the API share, with its hash.
        ApiRequestShape(ApiRequestShapeRecord) = "api-request-shape",
        /// A record of type `agent_metadata`, of which only the type is known.
        AgentMetadata(AgentMetadataRecord) = "agent_metadata",
        /// A record of type `api-request-resumed`, of which only the type is known.
        ApiRequestResumed(ApiRequestResumedRecord) = "api-request-resumed",
        /// A record of type `artifact-autoreact-ledger`, of which only the type is known.
        ArtifactAutoreactLedger(ArtifactAutoreactLedgerRecord) = "artifact-autoreact-ledger",
        /// A line that the converter adds; clients ignore it.
        Carried(CarriedRecord) = "carried",
        /// A record of type `data-flow-incomplete`, of which only the type is known.
        DataFlowIncomplete(DataFlowIncompleteRecord) = "data-flow-incomplete",
        /// A record of type `data-flow-records`, of which only the type is known.
        DataFlowRecords(DataFlowRecordsRecord) = "data-flow-records",
        /// A record of type `dev-mods`, of which only the type is known.
        DevMods(DevModsRecord) = "dev-mods",
        /// A record of type `ended-by-model`, of which only the type is known.
        EndedByModel(EndedByModelRecord) = "ended-by-model",
        /// A record of type `history-suppression`, of which only the type is known.
        HistorySuppression(HistorySuppressionRecord) = "history-suppression",
        /// A record of type `host-row`, of which only the type is known.
        HostRow(HostRowRecord) = "host-row",
        /// A record of type `hybrid-organization`, of which only the type is known.
        HybridOrganization(HybridOrganizationRecord) = "hybrid-organization",
        /// A record of type `memory-mode`, of which only the type is known.
        MemoryMode(MemoryModeRecord) = "memory-mode",
        /// A record of type `observer-ref`, of which only the type is known.
        ObserverRef(ObserverRefRecord) = "observer-ref",
        /// A record of type `repl-mode`, of which only the type is known.
        ReplMode(ReplModeRecord) = "repl-mode",
        /// A record of type `resume-head-vouch`, of which only the type is known.
        ResumeHeadVouch(ResumeHeadVouchRecord) = "resume-head-vouch",
        /// A record of type `session-owner`, of which only the type is known.
        SessionOwner(SessionOwnerRecord) = "session-owner",
    }
}

/// Defines a chained record: the members that all of them share, and its own.
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
                session_kind: String = "sessionKind",
                team_name: String = "teamName",
                agent_id: String = "agentId",
                kind: String = "type",
                uuid: String = "uuid",
                timestamp: String = "timestamp",
                /// The session's id in the stream of the same run, from 2.1.220 on.
                stream_session_id: String = "session_id",
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
        source_tool_use_id: String = "sourceToolUseID",
        permission_mode: String = "permissionMode",
        permission_decision: RawBuf = "permissionDecision",
        prompt_id: String = "promptId",
        prompt_source: String = "promptSource",
        is_meta: bool = "isMeta",
        is_compact_summary: bool = "isCompactSummary",
        is_visible_in_transcript_only: bool = "isVisibleInTranscriptOnly",
        origin: RawBuf = "origin",
        todos: RawBuf = "todos",
        thinking_metadata: RawBuf = "thinkingMetadata",
        image_paste_ids: RawBuf = "imagePasteIds",
        plan_content: String = "planContent",
        mcp_meta: RawBuf = "mcpMeta",
        tool_denial_kind: String = "toolDenialKind",
        tool_ends_turn: bool = "toolEndsTurn",
        classifier_meta_lines: String = "classifierMetaLines",
        interrupted_message_id: String = "interruptedMessageId",
        sandboxed: bool = "sandboxed",
        turn_origin: String = "turnOrigin",
        turn_position: RawBuf = "turnPosition",
        turn_companion: bool = "turnCompanion",
    }
}

chained_record! {
    /// A block of a response of the model.
    pub struct AssistantRecord {
        message: TypedMessage = "message",
        request_id: String = "requestId",
        is_api_error_message: bool = "isApiErrorMessage",
        error: RawBuf = "error",
        error_details: String = "errorDetails",
        api_error_status: Number = "apiErrorStatus",
        api_error_is_transient: bool = "apiErrorIsTransient",
        is_aborted_mid_stream: bool = "isAbortedMidStream",
        effort: String = "effort",
        advisor_model: String = "advisorModel",
        requested_model: String = "requestedModel",
        attribution_skill: String = "attributionSkill",
        attribution_plugin: String = "attributionPlugin",
        attribution_mcp_server: String = "attributionMcpServer",
        attribution_mcp_tool: String = "attributionMcpTool",
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
        microcompact_metadata: RawBuf = "microcompactMetadata",
        error: RawBuf = "error",
        cause: RawBuf = "cause",
        retry_in_ms: Number = "retryInMs",
        retry_attempt: Number = "retryAttempt",
        max_retries: Number = "maxRetries",
        duration_ms: Number = "durationMs",
        message_count: Number = "messageCount",
        hook_count: Number = "hookCount",
        hook_infos: RawBuf = "hookInfos",
        hook_errors: RawBuf = "hookErrors",
        hook_additional_context: RawBuf = "hookAdditionalContext",
        prevented_continuation: bool = "preventedContinuation",
        stop_reason: String = "stopReason",
        has_output: bool = "hasOutput",
        url: String = "url",
    }
}

chained_record! {
    /// Context that the client adds for the model, or a prompt that waited in the queue.
    pub struct AttachmentRecord {
        attachment: RawBuf = "attachment",
        rendered: RawBuf = "rendered",
        rendered_role: String = "renderedRole",
    }
}

chained_record! {
    /// A message of a running sub-agent or hook (2.1.11 to 2.1.83).
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
