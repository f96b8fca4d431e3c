//! Decides which strings are never searched: ids, signatures, images.
//!
//! In: the member `uuid` of a record. Out: its value is not searched, unless it is in the input of
//! a tool.

use jsonl::{Text, Value};

use crate::class::BASE64;

/// Members of the formats that contain ids.
const IDS: &[&str] = &[
    "agentId",
    "agent_id",
    "id",
    "leafUuid",
    "logicalParentUuid",
    "messageId",
    "message_id",
    "parentToolUseID",
    "parentUuid",
    "parent_tool_use_id",
    "promptId",
    "requestId",
    "request_id",
    "sessionId",
    "session_id",
    "sourceToolAssistantUUID",
    "sourceToolUseID",
    "toolUseID",
    "tool_use_id",
    "uuid",
];

/// Members that hold values of tools. Ids in them may be secrets.
const FREE: &[&str] = &["input", "toolUseResult", "tool_use_result"];

/// Limit in bytes for an id.
const MAX_ID: usize = 128;

/// Returns whether the value of a member belongs to a tool.
pub(crate) fn is_free(key: Text<'_>) -> bool {
    FREE.iter().any(|name| key.is(name))
}

/// Returns whether a member of an object is an id, a signature, or an image.
pub(crate) fn is_kept(object: Value<'_>, key: Text<'_>, value: Text<'_>, is_free: bool) -> bool {
    if IDS.iter().any(|name| key.is(name)) {
        return !is_free && value.body().len() <= MAX_ID;
    }
    let is_bytes = if key.is("signature") || key.is("thinkingSignature") {
        object.get("thinking").is_some()
    } else if key.is("data") {
        let kind = object.get("type").and_then(|kind| kind.text());
        let is_redacted = kind.is_some_and(|kind| kind.is("redacted_thinking"));
        is_redacted || object.get("media_type").is_some() || object.get("mimeType").is_some()
    } else {
        key.is("base64_data") || key.is("base64")
    };
    is_bytes && value.body().bytes().all(|byte| BASE64.has(byte))
}
