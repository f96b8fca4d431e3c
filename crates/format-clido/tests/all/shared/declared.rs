//! A line of a session as clido declares it to serde.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A line.
#[derive(Deserialize, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Declared {
    Meta {
        session_id: String,
        schema_version: u32,
        start_time: String,
        project_path: String,
    },
    UserMessage {
        role: String,
        content: Vec<Value>,
    },
    AssistantMessage {
        content: Vec<Value>,
    },
    ToolCall {
        tool_use_id: String,
        tool_name: String,
        input: Value,
    },
    ToolResult {
        tool_use_id: String,
        content: String,
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        content_hash: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        mtime_nanos: Option<u64>,
    },
    System {
        subtype: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    Result {
        exit_status: String,
        total_cost_usd: f64,
        num_turns: u32,
        duration_ms: u64,
    },
    Title {
        title: String,
    },
}
