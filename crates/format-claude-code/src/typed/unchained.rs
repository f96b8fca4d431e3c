//! The records without an id of their own, such as titles and modes.

use jsonl::{Number, RawBuf, typed_record};

typed_record! {
    /// A title that sums up a conversation.
    pub struct SummaryRecord {
        kind: String = "type",
        summary: String = "summary",
        leaf_uuid: String = "leafUuid",
        session_id: String = "sessionId",
        message: RawBuf = "message",
        timestamp: String = "timestamp",
    }
}

typed_record! {
    /// A title that a model gave.
    pub struct AiTitleRecord {
        kind: String = "type",
        session_id: String = "sessionId",
        ai_title: String = "aiTitle",
    }
}

typed_record! {
    /// A title that the user gave.
    pub struct CustomTitleRecord {
        kind: String = "type",
        session_id: String = "sessionId",
        custom_title: String = "customTitle",
    }
}

typed_record! {
    /// A tag of the session.
    pub struct TagRecord {
        kind: String = "type",
        session_id: String = "sessionId",
        tag: String = "tag",
    }
}

typed_record! {
    /// The last prompt, for lists.
    pub struct LastPromptRecord {
        kind: String = "type",
        session_id: String = "sessionId",
        last_prompt: String = "lastPrompt",
        leaf_uuid: String = "leafUuid",
    }
}

typed_record! {
    /// The mode of the client.
    pub struct ModeRecord {
        kind: String = "type",
        session_id: String = "sessionId",
        mode: String = "mode",
    }
}

typed_record! {
    /// What tools may do from here on.
    pub struct PermissionModeRecord {
        kind: String = "type",
        session_id: String = "sessionId",
        permission_mode: String = "permissionMode",
    }
}

typed_record! {
    /// The state of edited files.
    pub struct FileHistorySnapshotRecord {
        kind: String = "type",
        message_id: String = "messageId",
        snapshot: RawBuf = "snapshot",
        is_snapshot_update: bool = "isSnapshotUpdate",
        session_id: String = "sessionId",
    }
}

typed_record! {
    /// A change of the queue of prompts.
    pub struct QueueOperationRecord {
        kind: String = "type",
        operation: String = "operation",
        timestamp: String = "timestamp",
        session_id: String = "sessionId",
        content: RawBuf = "content",
        reason: String = "reason",
    }
}

typed_record! {
    /// A new working directory.
    pub struct RelocatedRecord {
        kind: String = "type",
        session_id: String = "sessionId",
        relocated_cwd: String = "relocatedCwd",
        timestamp: String = "timestamp",
    }
}

typed_record! {
    /// The session that goes on with this one.
    pub struct ContinuedInRecord {
        kind: String = "type",
        session_id: String = "sessionId",
        continued_in_session_id: RawBuf = "continuedInSessionId",
        timestamp: String = "timestamp",
    }
}

typed_record! {
    /// The sessions that this one was made from.
    pub struct DerivedFromRecord {
        kind: String = "type",
        session_id: String = "sessionId",
        sessions: RawBuf = "sessions",
    }
}

typed_record! {
    /// The cost so far.
    pub struct CostStateRecord {
        kind: String = "type",
        session_id: String = "sessionId",
        total_cost_usd: Number = "totalCostUSD",
        total_duration: Number = "totalDuration",
        total_api_duration: Number = "totalAPIDuration",
        total_lines_added: Number = "totalLinesAdded",
        total_lines_removed: Number = "totalLinesRemoved",
        model_usage: RawBuf = "modelUsage",
        start_time: Number = "startTime",
    }
}

typed_record! {
    /// A pull request that the session made.
    pub struct PrLinkRecord {
        kind: String = "type",
        session_id: String = "sessionId",
        pr_number: Number = "prNumber",
        pr_url: String = "prUrl",
        pr_repository: String = "prRepository",
        timestamp: String = "timestamp",
    }
}

typed_record! {
    /// The tools of the session.
    pub struct ToolsUsedRecord {
        kind: String = "type",
        session_id: String = "sessionId",
        tools: RawBuf = "tools",
    }
}
