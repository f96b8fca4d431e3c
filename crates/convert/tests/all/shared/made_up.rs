//! Finds content of a target that its source does not have.

use convert::Report;
use core_model::LossKind;

use super::leaves::{Leaf, joined};

/// Texts that a format requires at a position in every session.
const WORDS: &[(&str, &[&str])] = &[
    ("schema_version", &["1"]),
    // The version of a header of pi, and of Copilot's first line.
    ("version", &["1", "3"]),
    // The text of a notice without one.
    ("content", &["[notice]"]),
    ("customType", &["notice", "meta"]),
    // The constants of Codex.
    ("originator", &["convert"]),
    ("source", &["cli", "system"]),
    ("thread_source", &["user", "subagent"]),
    ("history_mode", &["legacy"]),
    ("status", &["completed", "success", "error", "running", "cancelled"]),
    (
        "kind",
        &["compaction", "error", "warning", "info", "meta", "queued", "notice", "main", "subagent"],
    ),
    // The heading that the client makes of a thought.
    ("subject", &[""]),
    // The constants of Copilot.
    ("producer", &["convert"]),
    ("provider", &["anthropic-messages"]),
    ("code", &["failure"]),
    ("agentName", &["agent"]),
    ("agentDisplayName", &["agent"]),
    ("infoType", &["notice", "tool_result", "compaction"]),
    ("warningType", &["notice", "tool_use"]),
    ("errorType", &["notice", "tool_result", "query"]),
    // The text of pi for redacted thinking.
    ("thinking", &["[Reasoning redacted]"]),
    ("userType", &["external"]),
    ("level", &["info", "warning", "error", "compaction"]),
    // The constants of OpenCode.
    ("slug", &["converted"]),
    ("projectID", &["global"]),
    ("agent", &["build", "compaction"]),
    ("mode", &["build", "compaction"]),
    ("root", &["/"]),
    ("cost", &["0"]),
    ("reasoning", &["0"]),
    ("stop_reason", &["end_turn", "tool_use"]),
    ("stopReason", &["stop", "toolUse", "length"]),
    ("finish", &["stop", "tool-calls", "length"]),
];

/// The names of the client's version in the report.
const VERSIONS: &[&str] = &[
    "version",
    "claude_code_version",
    "payload.cli_version",
    "data.copilotVersion",
    "info.version",
    "agent.version",
];

/// Members that a target invents, and their names in the report.
const MADE_UP: &[(&str, &[&str])] = &[
    ("start_time", &["timestamp"]),
    ("timestamp", &["timestamp"]),
    ("sessionId", &["session_id", "info.sessionID"]),
    ("session_id", &["session_id", "info.sessionID"]),
    ("id", &["message_id", "message.id", "session_id", "info.sessionID"]),
    ("message_id", &["message_id", "message.id"]),
    ("model", &["model"]),
    ("version", VERSIONS),
    ("provider", &["message.provider"]),
    ("api", &["message.api"]),
    ("cwd", &["cwd", "project_path", "payload.cwd", "context.cwd", "info.directory"]),
    ("cli_version", VERSIONS),
    ("project_path", &["cwd", "payload.cwd", "context.cwd"]),
    ("claude_code_version", &["init"]),
    ("permissionMode", &["permissionMode", "init"]),
    ("apiKeySource", &["init"]),
    ("output_style", &["init"]),
    ("content", &["prompt", "tool_result", "message.content", "block"]),
    ("text", &["prompt", "tool_result", "message.content", "block"]),
    ("duration_ms", &["duration_ms", "tool_result.duration_ms", "result"]),
    ("duration_api_ms", &["duration_api_ms", "result"]),
    ("num_turns", &["num_turns", "result"]),
    ("total_cost_usd", &["total_cost_usd", "result"]),
    ("exit_status", &["exit_status"]),
    ("usage", &["usage", "result"]),
    ("startTime", &["timestamp"]),
    ("copilotVersion", VERSIONS),
    ("directory", &["info.directory"]),
    ("title", &["info.title"]),
    ("created", &["timestamp"]),
    ("updated", &["timestamp"]),
    ("completed", &["timestamp"]),
    ("start", &["timestamp"]),
    ("end", &["timestamp"]),
    ("modelID", &["model"]),
    ("providerID", &["info.providerID"]),
    ("name", &["info.error"]),
    ("input", &["tool_use.input"]),
    ("message", &["info.error", "prompt", "tool_result", "message.content", "block", "text"]),
];

/// Returns the strings of a target that are neither in its source nor reported as invented.
pub(crate) fn made_up(
    bytes: &[u8],
    source: &[Leaf],
    target: &[Leaf],
    report: &Report,
) -> Vec<Leaf> {
    // A value with less structure is reported as its text.
    let held = joined(source) + &String::from_utf8_lossy(bytes);
    let is_held = |leaf: &Leaf| {
        let as_number =
            || leaf.number.is_some() && source.iter().any(|it| it.number == leaf.number);
        // The same time, in another form or as milliseconds.
        let as_time = || {
            let time = leaf.millis.or_else(|| leaf.text.parse().ok());
            let is_number = |time: i64| held.contains(&time.to_string());
            time.is_some() && source.iter().any(|it| it.millis == time)
                || leaf.millis.is_some_and(is_number)
        };
        // clido has the tokens before a compaction in parentheses.
        let is_in = |piece: &str| held.contains(piece.trim_matches(['(', ')', ' ', '\t', '\r']));
        let is_text = leaf.text.split('\n').all(is_in);
        is_text || as_number() || as_time()
    };
    let is_word = |leaf: &Leaf| {
        let word = WORDS.iter().find(|(key, _)| *key == leaf.key());
        word.is_some_and(|(_, words)| words.contains(&leaf.text.as_str()))
    };
    let is_told = |leaf: &Leaf| {
        // The tokens of a result are the sums over its messages.
        let is_usage = leaf.path.starts_with("usage.")
            || leaf.path.starts_with("message.usage.")
            || leaf.path.starts_with("usageMetadata.")
            || leaf.path.starts_with("payload.info.")
            || leaf.path.starts_with("data.usage.")
            || leaf.path.starts_with("metrics.")
            || leaf.path.starts_with("info.tokens.")
            || leaf.path.starts_with("tokens.");
        let key = if is_usage { "usage" } else { leaf.key() };
        let fields = MADE_UP.iter().find(|(of, _)| *of == key);
        fields.is_some_and(|(_, fields)| {
            let is_it = |field: &str| fields.iter().any(|start| field.starts_with(start));
            report.losses.iter().any(|(kind, field, _)| kind != LossKind::Dropped && is_it(field))
        })
    };
    // The totals of ATIF are sums over the steps, and the name of the agent is the one of the format.
    let is_derived =
        |leaf: &Leaf| leaf.path.starts_with("final_metrics.total_") || leaf.path == "agent.name";
    let is_open = |leaf: &&Leaf| {
        !is_derived(leaf)
            && !leaf.is_tag()
            && !is_id(leaf)
            && !is_held(leaf)
            && !is_word(leaf)
            && !is_told(leaf)
    };
    target.iter().filter(is_open).cloned().collect()
}

/// Returns whether it is an id that we derive: a UUIDv5, or a part of one.
fn is_id(leaf: &Leaf) -> bool {
    let is_short = leaf.text.len() == 8 && leaf.text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_short && ["id", "parentId", "firstKeptEntryId"].contains(&leaf.path.as_str()) {
        return true;
    }
    // Gemini CLI's hash of the folder.
    if leaf.path == "projectHash" && leaf.text.len() == 64 {
        return true;
    }
    // The ids of OpenCode have a time and 14 letters and digits.
    let starts = ["ses_", "msg_", "prt_"];
    let rest = starts.iter().find_map(|start| leaf.text.strip_prefix(start)).unwrap_or_default();
    let is_of_opencode = rest.len() == 26 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_of_opencode && ["id", "parentID", "sessionID", "messageID"].contains(&leaf.key()) {
        return true;
    }
    let is_uuid = leaf.text.len() == 36 && leaf.text.as_bytes().get(14) == Some(&b'5');
    // Qwen Code finds no session whose id has another version.
    let places =
        ["uuid", "parentUuid", "sourceToolAssistantUUID", "turn_id", "thread_id", "sessionId"];
    // Copilot's lines have ids of their own.
    let is_line = ["id", "parentId", "agentId", "data.messageId", "$set.messages.id"]
        .contains(&leaf.path.as_str());
    let is_place = is_line || places.contains(&leaf.key());
    is_uuid && is_place
}
