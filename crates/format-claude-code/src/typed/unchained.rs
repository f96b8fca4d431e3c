//! Structs for the records without a `uuid`, such as titles and modes.

use jsonl::{Number, RawBuf, typed_record};

/// Defines a record without a `uuid`: its type, the session id, and its own members.
macro_rules! session_record {
    ($(#[$attribute:meta])* pub struct $name:ident { $($own:tt)* }) => {
        typed_record! {
            $(#[$attribute])*
            pub struct $name {
                kind: String = "type",
                session_id: String = "sessionId",
                $($own)*
            }
        }
    };
}

session_record! {
    /// A title that sums up a conversation.
    pub struct SummaryRecord {
        summary: String = "summary",
        leaf_uuid: String = "leafUuid",
        message: RawBuf = "message",
        timestamp: String = "timestamp",
    }
}

session_record! {
    /// A title that a model gave.
    pub struct AiTitleRecord {
        ai_title: String = "aiTitle",
    }
}

session_record! {
    /// A title that the user gave.
    pub struct CustomTitleRecord {
        custom_title: String = "customTitle",
    }
}

session_record! {
    /// A tag that the user gave.
    pub struct TagRecord {
        tag: String = "tag",
    }
}

session_record! {
    /// The last prompt, for lists.
    pub struct LastPromptRecord {
        last_prompt: String = "lastPrompt",
        leaf_uuid: String = "leafUuid",
    }
}

session_record! {
    /// The mode of the client, such as `normal`.
    pub struct ModeRecord {
        mode: String = "mode",
    }
}

session_record! {
    /// The permission mode of tools from this record on.
    pub struct PermissionModeRecord {
        permission_mode: String = "permissionMode",
    }
}

session_record! {
    /// The backups of edited files at a message.
    pub struct FileHistorySnapshotRecord {
        message_id: String = "messageId",
        snapshot: RawBuf = "snapshot",
        is_snapshot_update: bool = "isSnapshotUpdate",
    }
}

session_record! {
    /// The backup of one edited file, added to an earlier snapshot.
    pub struct FileHistoryDeltaRecord {
        message_id: String = "messageId",
        snapshot_message_id: String = "snapshotMessageId",
        tracking_path: String = "trackingPath",
        backup: RawBuf = "backup",
        timestamp: String = "timestamp",
    }
}

session_record! {
    /// A change of the queue of prompts.
    pub struct QueueOperationRecord {
        operation: String = "operation",
        timestamp: String = "timestamp",
        content: RawBuf = "content",
        reason: String = "reason",
        command_uuid: String = "commandUuid",
        delivery_id: String = "deliveryId",
    }
}

session_record! {
    /// A new working directory.
    pub struct RelocatedRecord {
        relocated_cwd: String = "relocatedCwd",
        timestamp: String = "timestamp",
    }
}

session_record! {
    /// The session that continues this one.
    pub struct ContinuedInRecord {
        continued_in_session_id: RawBuf = "continuedInSessionId",
        timestamp: String = "timestamp",
    }
}

session_record! {
    /// The sessions that this one was made from.
    pub struct DerivedFromRecord {
        sessions: RawBuf = "sessions",
    }
}

session_record! {
    /// The cost of the session so far.
    pub struct CostStateRecord {
        total_cost_usd: Number = "totalCostUSD",
        total_duration: Number = "totalDuration",
        total_api_duration: Number = "totalAPIDuration",
        total_api_duration_without_retries: Number = "totalAPIDurationWithoutRetries",
        total_tool_duration: Number = "totalToolDuration",
        total_lines_added: Number = "totalLinesAdded",
        total_lines_removed: Number = "totalLinesRemoved",
        model_usage: RawBuf = "modelUsage",
        has_unknown_model_cost: bool = "hasUnknownModelCost",
        start_time: Number = "startTime",
    }
}

session_record! {
    /// A pull request that the session made.
    pub struct PrLinkRecord {
        pr_number: Number = "prNumber",
        pr_url: String = "prUrl",
        pr_repository: String = "prRepository",
        timestamp: String = "timestamp",
    }
}

session_record! {
    /// The names of the tools that the session used.
    pub struct ToolsUsedRecord {
        tools: RawBuf = "tools",
    }
}

session_record! {
    /// The name of the agent.
    pub struct AgentNameRecord {
        agent_name: String = "agentName",
    }
}

session_record! {
    /// The color of the agent in the terminal.
    pub struct AgentColorRecord {
        agent_color: String = "agentColor",
    }
}

session_record! {
    /// The kind of agent that the session runs as.
    pub struct AgentSettingRecord {
        agent_setting: String = "agentSetting",
    }
}

session_record! {
    /// The remote session that mirrors this one.
    pub struct BridgeSessionRecord {
        bridge_session_id: String = "bridgeSessionId",
        last_sequence_num: Number = "lastSequenceNum",
        owner_account_uuid: String = "ownerAccountUuid",
        owner_organization_uuid: String = "ownerOrganizationUuid",
    }
}

session_record! {
    /// A page that the session published.
    pub struct FrameLinkRecord {
        path: String = "path",
        frame_url: String = "frameUrl",
        title: String = "title",
        timestamp: String = "timestamp",
    }
}

session_record! {
    /// A setting of the client, often empty.
    pub struct AtisLatchRecord {
        atis: String = "atis",
    }
}

session_record! {
    /// The Git worktree that the session works in; `null` after it left.
    pub struct WorktreeStateRecord {
        worktree_session: RawBuf = "worktreeSession",
    }
}

session_record! {
    /// The side of an isolation setting that the session is on.
    pub struct IsolationLatchRecord {
        side: String = "side",
    }
}

session_record! {
    /// The parts of messages that the client sends in shortened form.
    pub struct ContentReplacementRecord {
        agent_id: String = "agentId",
        replacements: RawBuf = "replacements",
    }
}

session_record! {
    /// The share of the model in the edited files.
    pub struct AttributionSnapshotRecord {
        message_id: String = "messageId",
        surface: String = "surface",
        file_states: RawBuf = "fileStates",
        prompt_count: Number = "promptCount",
    }
}

session_record! {
    /// The place in another session that a forked sub-agent continues.
    pub struct ForkContextRefRecord {
        agent_id: String = "agentId",
        parent_session_id: String = "parentSessionId",
        parent_last_uuid: String = "parentLastUuid",
        context_length: Number = "contextLength",
    }
}

session_record! {
    /// The artifacts whose comments the client watches.
    pub struct ArtifactCommentMonitorRecord {
        artifacts: RawBuf = "artifacts",
    }
}

session_record! {
    /// A request to the API: parameters, and messages by their hashes.
    pub struct ApiRequestRecord {
        id: String = "id",
        timestamp: String = "timestamp",
        version: String = "version",
        query_source: String = "querySource",
        shape_hash: String = "shapeHash",
        params: RawBuf = "params",
        base: String = "base",
        keep: Number = "keep",
        tail: RawBuf = "tail",
        cache_control: RawBuf = "cacheControl",
        request_digest: String = "requestDigest",
    }
}

session_record! {
    /// A message of requests to the API, with its hash.
    pub struct ApiRequestBlobRecord {
        hash: String = "hash",
        message: RawBuf = "message",
    }
}

session_record! {
    /// The part that requests to the API share, with its hash.
    pub struct ApiRequestShapeRecord {
        shape_hash: String = "shapeHash",
        timestamp: String = "timestamp",
        version: String = "version",
        shape: RawBuf = "shape",
    }
}

session_record! {
    /// A record of type `agent_metadata`, of which only the type is known.
    pub struct AgentMetadataRecord {}
}

session_record! {
    /// A record of type `api-request-resumed`, of which only the type is known.
    pub struct ApiRequestResumedRecord {}
}

session_record! {
    /// A record of type `artifact-autoreact-ledger`, of which only the type is known.
    pub struct ArtifactAutoreactLedgerRecord {}
}

session_record! {
    /// A line that the converter adds; clients ignore it.
    pub struct CarriedRecord {}
}

session_record! {
    /// A record of type `data-flow-incomplete`, of which only the type is known.
    pub struct DataFlowIncompleteRecord {}
}

session_record! {
    /// A record of type `data-flow-records`, of which only the type is known.
    pub struct DataFlowRecordsRecord {}
}

session_record! {
    /// A record of type `dev-mods`, of which only the type is known.
    pub struct DevModsRecord {}
}

session_record! {
    /// A record of type `ended-by-model`, of which only the type is known.
    pub struct EndedByModelRecord {}
}

session_record! {
    /// A record of type `history-suppression`, of which only the type is known.
    pub struct HistorySuppressionRecord {}
}

session_record! {
    /// A record of type `host-row`, of which only the type is known.
    pub struct HostRowRecord {}
}

session_record! {
    /// A record of type `hybrid-organization`, of which only the type is known.
    pub struct HybridOrganizationRecord {}
}

session_record! {
    /// A record of type `memory-mode`, of which only the type is known.
    pub struct MemoryModeRecord {}
}

session_record! {
    /// A record of type `observer-ref`, of which only the type is known.
    pub struct ObserverRefRecord {}
}

session_record! {
    /// A record of type `repl-mode`, of which only the type is known.
    pub struct ReplModeRecord {}
}

session_record! {
    /// A record of type `resume-head-vouch`, of which only the type is known.
    pub struct ResumeHeadVouchRecord {}
}

session_record! {
    /// A record of type `session-owner`, of which only the type is known.
    pub struct SessionOwnerRecord {}
}
