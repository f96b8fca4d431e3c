//! Checks that each member of each record is in the target or named by the report, without our readers.
//!
//! Source, target and report are parsed with `serde_json`. A string, number or truth value of a source
//! record must be in the target, under a member with the same meaning. Otherwise a loss must name a
//! member of its path, or the kind of its record.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, HashMap, HashSet},
    sync::Mutex,
};

use convert::{CarryMode, Conversion, Converted, FORMATS, by_name};
use core_model::{Format, Loss, LossKind, Options};
use serde_json::Value;

use crate::shared::{
    data::{Session, real_sessions},
    fixtures::fixtures,
    parallel::check_all,
    pieces::as_lines,
    turns::{are_all, chosen, picked, share, turn},
};

/// A string, number or truth value of a record.
struct Leaf {
    /// The number of its line, from 1.
    line: u64,
    /// The path of members to it, without the numbers of items.
    keys: Vec<String>,
    /// The types of the objects around it, from the outside in.
    kinds: Vec<String>,
    text: String,
    is_string: bool,
    /// Whether it is in a dump, whose lines and blocks have no types.
    is_dump: bool,
}

/// Returns the leaves of all lines that are JSON.
fn leaves(bytes: &[u8], format: &Format) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    let (bytes, numbers) = as_lines(bytes, format);
    for (n, bytes) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line = numbers.of(n);
        if let Ok(record) = serde_json::from_slice::<Value>(bytes) {
            let first = leaves.len();
            let mut kinds = match format.name {
                "atif" => step_kind(&record),
                _ => record_kind(&record),
            };
            grow(&record, line, &mut Vec::new(), &mut kinds, &mut leaves);
            let is_dump = record.get("type").is_none();
            leaves.iter_mut().skip(first).for_each(|leaf: &mut Leaf| leaf.is_dump = is_dump);
        }
    }
    leaves
}

/// Returns the type of a record, and the type of the record inside it.
fn record_kind(record: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(info) = record.get("info") {
        let mut kinds = vec!["opencode".to_owned()];
        kinds.extend(text(&info["role"]));
        // An error is the notice of a failed request.
        kinds.extend(info.get("error").map(|_| "system".to_owned()));
        return kinds;
    }
    // The members behind the messages of an older session of Gemini CLI.
    if record.get("messages").is_some_and(Value::is_array) && record.get("type").is_none() {
        return vec!["record".to_owned(), "gemini".to_owned()];
    }
    if record.get("projectHash").is_some() || record.get("$rewindTo").is_some() {
        return vec!["header".to_owned(), "$rewindTo".to_owned(), "gemini".to_owned()];
    }
    if let Some(set) = record.get("$set").and_then(Value::as_object) {
        let keys = set.keys().map(|key| format!("$set/{key}"));
        return ["$set".to_owned(), "gemini".to_owned()].into_iter().chain(keys).collect();
    }
    let is_of_gemini = record.get("id").is_some() && record.get("content").is_some();
    if let (true, Some(kind)) = (is_of_gemini, text(&record["type"])) {
        let mut kinds = vec![kind.clone(), "gemini".to_owned()];
        if ["info", "warning", "error"].contains(&kind.as_str()) {
            kinds.extend(["system", "compact_metadata"].map(str::to_owned));
        }
        return kinds;
    }
    let Some(kind) = text(&record["type"]) else {
        let is_system = record.get("data").is_some() && record.get("subtype").is_some();
        let subtype = text(&record["subtype"]).unwrap_or_default();
        return if is_system {
            vec!["system".to_owned(), format!("system/{subtype}")]
        } else if record.get("duration_ms").is_some() {
            vec!["result".to_owned()]
        } else if record.get("rate_limit_info").is_some() {
            vec!["rate_limit_event".to_owned()]
        } else if record.get("model").is_some() {
            vec!["assistant".to_owned()]
        } else if record.get("event").is_some() {
            vec!["stream_event".to_owned()]
        } else if record.get("new_conversation_id").is_some() {
            vec!["conversation_reset".to_owned()]
        } else {
            vec!["user".to_owned(), "record".to_owned()]
        };
    };
    let wrapped = [
        &record["subtype"],
        &record["data"]["type"],
        &record["payload"]["type"],
        &record["item"]["type"],
        &record["attachment"]["type"],
        &record["operation"],
        &record["message"]["role"],
        &record["customType"],
    ];
    let mut kinds = vec![kind.clone()];
    kinds.extend(wrapped.into_iter().filter_map(text).map(|it| format!("{kind}/{it}")));
    // In pi's records, results are messages and notices are entries.
    if record["message"]["role"] == "toolResult" {
        kinds.push("tool_result".to_owned());
    }
    if record["customType"] == "notice" {
        kinds.push("system".to_owned());
    }
    // Copilot has a record for each result.
    match kind.as_str() {
        "tool.execution_complete" => kinds.push("tool_result".to_owned()),
        "session.info" | "session.warning" | "session.error" | "session.compaction_complete" => {
            kinds.extend(["system", "compact_metadata"].map(str::to_owned));
        }
        _ => {}
    }
    // Codex has one record for each block, and notices with the members of Claude Code's.
    if ["notice", "compacted"].contains(&kind.as_str()) {
        kinds.extend(["system", "compact_metadata"].map(str::to_owned));
    }
    let item = [&record["payload"]["type"], &record["item"]["type"]].into_iter().find_map(text);
    let blocks = item.as_deref().map_or(&[][..], block_kinds);
    kinds.extend(blocks.iter().map(|kind| (*kind).to_owned()));
    kinds
}

/// Returns the types of a step, of a trajectory, or of the members around the steps.
fn step_kind(record: &Value) -> Vec<String> {
    let mut kinds = vec!["atif".to_owned()];
    if let Some(source) = record["source"].as_str() {
        kinds.push(source.to_owned());
        // A notice of a client is a step of the system.
        kinds.extend((source == "system").then(|| "compact_metadata".to_owned()));
    }
    kinds.extend(record.get("reasoning_content").map(|_| "thinking".to_owned()));
    let has_steps = record["steps"].as_array().is_some_and(|steps| !steps.is_empty());
    kinds.extend(has_steps.then(|| "trajectory".to_owned()));
    kinds
}

/// Returns the kinds of blocks that an item of Codex is. Calls in a stream have their results.
fn block_kinds(item: &str) -> &'static [&'static str] {
    match item {
        "web_search_call" => &["server_tool_use"],
        "reasoning" | "agent_reasoning" => &["thinking"],
        "image_generation_call" => &["image"],
        "command_execution" | "file_change" | "todo_list" | "web_search" | "mcp_tool_call"
        | "collab_tool_call" => &["tool_use", "tool_result"],
        item if item.ends_with("_output") => &["tool_result"],
        item if item.ends_with("_call") => &["tool_use"],
        _ => &[],
    }
}

fn grow(
    value: &Value,
    line: u64,
    keys: &mut Vec<String>,
    kinds: &mut Vec<String>,
    leaves: &mut Vec<Leaf>,
) {
    let (text, is_string) = match value {
        Value::Null => return,
        Value::Bool(bool) => (bool.to_string(), false),
        Value::Number(number) => {
            // Other formats have no negative zero.
            let float = number.as_f64().map(|float| (float + 0.0).to_string());
            (float.unwrap_or_else(|| number.to_string()), false)
        }
        // Codex has JSON in a string, and Codex and ATIF have images in data URLs.
        Value::String(text) if keys.last().is_some_and(|key| key == "arguments") => {
            match serde_json::from_str::<Value>(text) {
                Ok(value) if value.is_object() => return grow(&value, line, keys, kinds, leaves),
                _ => (text.clone(), true),
            }
        }
        Value::String(text)
            if keys.ends_with(&["source".to_owned(), "path".to_owned()])
                || keys.last().is_some_and(|key| key == "image_url" || key == "url") =>
        {
            let (kind, data) = text.split_once(";base64,").unwrap_or(("", text));
            let kind = Value::String(kind.trim_start_matches("data:").to_owned());
            keys.push("media_type".to_owned());
            grow(&kind, line, keys, kinds, leaves);
            keys.pop();
            (data.to_owned(), true)
        }
        Value::String(text) => (text.clone(), true),
        Value::Array(items) => {
            return items.iter().for_each(|item| grow(item, line, keys, kinds, leaves));
        }
        Value::Object(members) => {
            let kind = members.get("type").and_then(Value::as_str);
            let n_kinds = kinds.len();
            kinds.extend(kind.map(str::to_owned));
            // pi has other types for a tool use and for encrypted thinking.
            let is_redacted = members.get("redacted").is_some();
            let other = match kind {
                Some("toolCall") => Some("tool_use"),
                Some("thinking") if is_redacted => Some("redacted_thinking"),
                Some("input_image" | "blob") => Some("image"),
                Some("function" | "tool") => Some("tool_use"),
                Some("reasoning") => Some("thinking"),
                Some("file") => Some("image"),
                _ => None,
            };
            kinds.extend(other.map(str::to_owned));
            if kind == Some("compaction") && members.contains_key("auto") {
                kinds.extend(["system", "compact_metadata"].map(str::to_owned));
            }
            // OpenCode has a call and its result in one part.
            kinds.extend((kind == Some("tool")).then(|| "tool_result".to_owned()));
            // Google's parts have no type.
            let of_parts = [
                ("functionCall", "tool_use"),
                ("functionResponse", "tool_result"),
                ("args", "tool_use"),
                ("result", "tool_result"),
                ("description", "thinking"),
                ("thought", "thinking"),
                ("inlineData", "image"),
            ];
            let of_parts = of_parts.iter().filter(|(key, _)| members.contains_key(*key));
            kinds.extend(of_parts.map(|(_, kind)| (*kind).to_owned()));
            // So have the calls and the results of ATIF.
            if members.contains_key("tool_call_id") {
                let is_server = members.get("extra").is_some_and(|it| it["is_server"] == true);
                kinds.push(if is_server { "server_tool_use" } else { "tool_use" }.to_owned());
            }
            kinds.extend(members.get("source_call_id").map(|_| "tool_result".to_owned()));
            // Codex counts cached tokens as tokens of the input, too.
            let count = |name| members.get(name).and_then(Value::as_u64);
            let cached = count("cached_input_tokens")
                .map(|read| read + count("cache_write_input_tokens").unwrap_or(0))
                .or_else(|| count("cachedContentTokenCount"))
                .or_else(|| count("cached"))
                .or_else(|| {
                    Some(count("cacheReadTokens")? + count("cacheWriteTokens").unwrap_or(0))
                });
            // ATIF counts all cached tokens as tokens of the prompt.
            let of_atif = || {
                let written = members.get("extra").map(|it| &it["cache_creation_input_tokens"]);
                let written = written.and_then(Value::as_u64).unwrap_or(0);
                Some(count("cached_tokens")? + written)
            };
            let cached = cached.or_else(of_atif);
            for (key, member) in members {
                let inputs =
                    ["input_tokens", "promptTokenCount", "inputTokens", "prompt_tokens", "input"];
                let is_input = inputs.contains(&key.as_str());
                let uncached = cached.filter(|_| is_input);
                let uncached = uncached.and_then(|cached| member.as_u64()?.checked_sub(cached));
                // Gemini CLI counts thoughts beside the output, and other formats in it.
                let thoughts = count("thoughts").filter(|_| key == "output");
                let said = thoughts.and_then(|thoughts| Some(member.as_u64()? + thoughts));
                let counted = uncached.or(said);
                let member = &counted.map_or_else(|| member.clone(), Value::from);
                // Copilot says whether a call succeeded, and other formats whether it failed.
                let failed = member
                    .as_bool()
                    .filter(|_| key == "success" && kinds[0] == "tool.execution_complete")
                    .map(|it| Value::Bool(!it));
                let member = failed.as_ref().unwrap_or(member);
                keys.push(key.clone());
                grow(member, line, keys, kinds, leaves);
                keys.pop();
            }
            kinds.truncate(n_kinds);
            return;
        }
    };
    let is_dump = false;
    leaves.push(Leaf { line, keys: keys.clone(), kinds: kinds.clone(), text, is_string, is_dump });
}

/// Members with the same meaning in two formats.
const SAME: &[&[&str]] = &[
    &["text", "content", "message", "thinking", "prompt", "result", "errors", "error"],
    &["text", "content", "message", "summary", "errorMessage", "output", "command"],
    &["summary", "isCompactSummary", "isSummary"],
    &["title", "summary", "aiTitle", "customTitle", "name"],
    &["thinking", "unsignedThinking"],
    &["sessionId", "session_id"],
    &["requestId", "request_id"],
    &["id", "message_id", "tool_use_id", "toolCallId", "responseId"],
    &["id", "uuid"],
    &["id", "tool_use_id", "toolCallId", "call_id", "callId"],
    &["signature", "thinkingSignature", "thoughtSignature"],
    &["input", "arguments", "args"],
    &["text", "thinking", "output", "error", "customTitle", "title", "name"],
    &["parentId", "parentUuid"],
    &["name", "tool_name", "tools", "toolName"],
    &["media_type", "mimeType", "image_url"],
    &["signature", "thinkingSignature"],
    &["data", "thinkingSignature"],
    &["is_error", "isError", "status", "exit_code"],
    &["kind", "level", "subtype"],
    &["input", "arguments"],
    &["data", "image_url", "media_type", "result"],
    &["tool_use_id", "call_id", "id"],
    &["cwd", "project_path"],
    &["version", "cli_version"],
    &["content", "output", "text"],
    &["stop_reason", "stopReason"],
    &["input_tokens", "input", "promptTokenCount"],
    &["output_tokens", "output", "candidatesTokenCount"],
    &["cache_read_input_tokens", "cacheRead", "cached_input_tokens", "cachedContentTokenCount"],
    &["cache_creation_input_tokens", "cacheWrite", "cache_write_input_tokens"],
    &["data", "base64_data"],
    &["cwd", "project_path"],
    &["version", "claude_code_version"],
    &["timestamp", "start_time"],
    &["durationMs", "totalDurationMs", "duration_ms"],
    &["preTokens", "pre_tokens", "originalTokenCount"],
    &["exit_status", "subtype"],
    &["content", "subtype"],
    &["isMeta", "isSynthetic"],
    &["resets_at", "resetsAt"],
    &["rate_limit_type", "rateLimitType"],
    &["overage_status", "overageStatus"],
    &["overage_resets_at", "overageResetsAt"],
    &["overage_disabled_reason", "overageDisabledReason"],
    &["isApiErrorMessage", "is_api_error"],
    // OpenCode.
    &["callID", "id", "tool_use_id", "toolCallId", "call_id"],
    &["tool", "name", "tool_name", "toolName", "tools"],
    &["modelID", "model", "modelId", "model_id"],
    &["sessionID", "sessionId", "session_id", "id"],
    &["directory", "cwd", "project_path"],
    &["mime", "media_type", "mimeType", "image_url"],
    &["url", "data", "image_url", "result", "base64_data"],
    &["finish", "stop_reason", "stopReason"],
    &["output", "error", "content", "text", "message"],
    &["status", "is_error", "isError"],
    &["read", "cache_read_input_tokens", "cacheRead", "cached_input_tokens"],
    &["write", "cache_creation_input_tokens", "cacheWrite", "cache_write_input_tokens"],
    &["created", "completed", "start", "end", "updated", "timestamp", "start_time"],
    &["auto", "trigger", "cause"],
    &["synthetic", "isMeta", "isSynthetic"],
    &["redactedData", "data", "thinkingSignature"],
    &["summaryContent", "content", "text", "summary"],
    &["reasoningText", "thinking", "text"],
    &["apiCallId", "messageId", "id", "message_id", "responseId", "uuid"],
    &["toolCallId", "tool_use_id", "call_id", "id", "about"],
    &["copilotVersion", "version", "cli_version", "claude_code_version"],
    &["selectedModel", "newModel", "model", "modelId"],
    &["success", "is_error", "isError", "status", "exit_code"],
    &["inputTokens", "input_tokens", "input"],
    &["outputTokens", "output_tokens", "output"],
    &["cacheReadTokens", "cache_read_input_tokens", "cacheRead", "cached_input_tokens"],
    &["cacheWriteTokens", "cache_creation_input_tokens", "cacheWrite", "cache_write_input_tokens"],
    &["preCompactionTokens", "preTokens", "pre_tokens"],
    &["infoType", "warningType", "errorType", "subtype", "exit_status", "reason", "status"],
    // ATIF.
    &["message", "reasoning_content", "thinking", "text", "content", "reasoningText"],
    &["message", "prompt", "output", "summary", "customTitle", "errorMessage", "error"],
    &["function_name", "name", "tool_name", "toolName", "tool", "tools"],
    &["tool_call_id", "source_call_id", "tool_use_id", "id", "toolCallId", "call_id"],
    &["tool_call_id", "source_call_id", "callID", "callId", "about"],
    &["model_name", "model", "modelId", "modelID", "selectedModel", "newModel"],
    &["prompt_tokens", "input_tokens", "input", "promptTokenCount", "inputTokens"],
    &["completion_tokens", "output_tokens", "output", "candidatesTokenCount", "outputTokens"],
    &["cached_tokens", "cache_read_input_tokens", "cacheRead", "cached_input_tokens", "read"],
    &["cached_tokens", "cachedContentTokenCount", "cacheReadTokens"],
    &["git_branch", "gitBranch", "branch"],
    &["message_id", "messageId", "id", "responseId", "apiCallId"],
    &["thinking_signature", "signature", "thinkingSignature", "thoughtSignature"],
    &["thinking_signature", "reasoningOpaque", "encrypted_content"],
    &["title", "notes"],
    &["kind", "isMeta", "isSynthetic", "isCompactSummary", "isSummary", "summary", "synthetic"],
    &["cache_creation_input_tokens", "write", "cacheWrite", "cacheWriteTokens"],
    &["tool_result_is_error", "is_error", "isError", "success", "status", "exit_code"],
    &["parentToolCallId", "parent_tool_use_id", "toolCallId"],
    &["trigger", "cause"],
    // Gemini CLI.
    &["description", "thinking", "text", "content", "unsignedThinking", "reasoningText"],
    &["directories", "cwd", "project_path", "directory"],
    &["startTime", "timestamp", "start_time", "created"],
    &["cached", "cache_read_input_tokens", "cacheRead", "read", "cachedContentTokenCount"],
    &["cached", "cached_input_tokens", "cacheReadTokens", "cached_tokens"],
    &["output", "output_tokens", "candidatesTokenCount", "outputTokens"],
    &["input", "input_tokens", "promptTokenCount", "inputTokens"],
    &["notice", "subtype", "infoType"],
];

/// The names of losses, and pi's names for the same members.
const OF_PI: &[(&str, &str)] = &[
    ("uuid", "id"),
    ("parentUuid", "parentId"),
    ("stop_reason", "stopReason"),
    ("signature", "thinkingSignature"),
    ("model", "modelId"),
    ("is_error", "isError"),
    ("tool_use_id", "toolCallId"),
];

/// The names of losses, and Qwen Code's names for the same members.
const OF_QWEN: &[(&str, &str)] = &[
    ("signature", "thoughtSignature"),
    ("usage", "usageMetadata"),
    ("content", "response"),
    ("content", "parts"),
    ("is_error", "status"),
    ("input", "args"),
    ("tool_use_id", "callId"),
    ("tool_use_id", "id"),
];

/// The names of losses, and Gemini CLI's names for the same members.
const OF_GEMINI: &[(&str, &str)] = &[
    ("uuid", "id"),
    ("usage", "tokens"),
    ("timestamp", "startTime"),
    ("input", "args"),
    ("content", "result"),
    ("content", "response"),
    ("is_error", "status"),
    ("tool_use_id", "id"),
    ("signature", "thoughtSignature"),
    ("isCompactSummary", "isSummary"),
];

/// The names of losses, and Codex' names for the same members.
const OF_CODEX: &[(&str, &str)] = &[
    ("is_error", "status"),
    ("is_error", "exit_code"),
    ("subtype", "kind"),
    ("content", "output"),
    ("content", "tools"),
    ("input", "arguments"),
    ("tool_use_id", "call_id"),
    ("id", "call_id"),
];

/// The names of losses, and Copilot's names for the same members.
const OF_COPILOT: &[(&str, &str)] = &[
    ("uuid", "id"),
    ("parentUuid", "parentId"),
    ("id", "toolCallId"),
    ("id", "messageId"),
    ("apiCallId", "messageId"),
    ("apiCallId", "responseId"),
    ("tool_use_id", "toolCallId"),
    ("is_error", "success"),
    ("model", "selectedModel"),
    ("model", "newModel"),
    ("thinking", "reasoningText"),
    ("input", "arguments"),
    ("content", "message"),
];

/// The names of losses, and OpenCode's names for the same members.
const OF_OPENCODE: &[(&str, &str)] = &[
    ("uuid", "id"),
    ("model", "modelID"),
    ("stop_reason", "finish"),
    ("usage", "tokens"),
    ("id", "callID"),
    ("tool_use_id", "callID"),
    ("name", "tool"),
    ("is_error", "status"),
    ("content", "output"),
    ("thinking", "text"),
    ("subtype", "name"),
    ("isCompactSummary", "summary"),
    ("trigger", "auto"),
];

/// The names of losses, and ATIF's names for the same members.
const OF_ATIF: &[(&str, &str)] = &[
    ("content", "message"),
    ("model", "model_name"),
    ("usage", "metrics"),
    ("thinking", "reasoning_content"),
    ("signature", "thinking_signature"),
    ("id", "tool_call_id"),
    ("name", "function_name"),
    ("input", "arguments"),
    ("tool_use_id", "source_call_id"),
    ("id", "message_id"),
    ("is_error", "tool_result_is_error"),
];

/// Words that mean the same in two formats: why the model stopped, and whether a call failed.
const WORDS: &[[&str; 2]] = &[
    ["end_turn", "stop"],
    ["max_tokens", "length"],
    ["tool_use", "toolUse"],
    ["completed", "false"],
    ["failed", "true"],
    ["0", "false"],
    ["success", "false"],
    ["error", "true"],
    ["success", "completed"],
    ["success", "0"],
    ["error", "failed"],
    ["compaction", "compact_boundary"],
    ["compaction", "true"],
    ["meta", "true"],
    ["tool-calls", "tool_use"],
    ["tool-calls", "toolUse"],
    ["completed", "0"],
    ["manual", "false"],
    ["auto", "true"],
    ["error", "true"],
];

/// The names of losses for lines that are not part of the written conversation.
const ELSEWHERE: &[&str] = &[
    "branch",
    "sub-agent",
    "compacted",
    "before-compaction",
    "rolled_back",
    "reverted",
    "session_meta",
    "replaced",
    "repeated",
    "checkpoint",
];

impl Leaf {
    fn key(&self) -> &str {
        self.keys.last().map_or("", String::as_str)
    }

    /// Returns a time in milliseconds, which OpenCode has; `None` for other values.
    fn millis(&self) -> Option<String> {
        if !["timestamp", "start_time", "startTime"].contains(&self.key()) {
            return None;
        }
        let quote = if self.is_string { "\"" } else { "" };
        let spelled = format!("{quote}{}{quote}", self.text);
        let mut scanner = jsonl::Scanner::default();
        let value = scanner.scan_slice(spelled.as_bytes(), 0).ok()?.raw();
        core_model::millis(value).map(|millis| millis.to_string())
    }

    /// Returns whether it only names the kind of a thing: every format has its own words for kinds.
    fn is_tag(&self) -> bool {
        // An index line of clido repeats its tool use, which the targets show.
        if self.kinds.first().is_some_and(|kind| kind == "tool_call") && self.keys.len() > 1 {
            return true;
        }
        // Each part of OpenCode repeats the ids of its message and its session.
        if self.is_of_opencode()
            && self.keys.iter().any(|key| key == "parts")
            && ["messageID", "sessionID"].contains(&self.key())
        {
            return true;
        }
        // The number of a step is its place.
        if self.is_of_atif() {
            let kinds = ["meta", "queued", "compaction", "notice", "info"];
            let is_kind = kinds.contains(&&*self.text);
            let is_place = match self.key() {
                "step_id" | "source" | "schema_version" | "is_server" => true,
                "kind" | "level" => is_kind,
                "llm_call_count" => self.text == "1",
                _ => false,
            };
            if is_place {
                return true;
            }
        }
        // Thinking without a signature is a member of such a line of ours.
        let is_start =
            self.key() == "subtype" && ["init", "unsigned_thinking"].contains(&&*self.text);
        // A notice without a level is information.
        if self.key() == "kind" && self.text == "info" && self.kinds[0] == "notice" {
            return true;
        }
        let is_line = ["custom_title", "chat_compression", "notice", "notification"];
        let is_line = self.key() == "subtype" && is_line.contains(&&*self.text);
        matches!(self.key(), "type" | "role" | "thought") || is_start || is_line
    }

    /// Returns whether it is in a record of pi's.
    fn is_of_pi(&self) -> bool {
        let first = self.kinds.first().map_or("", String::as_str);
        let kinds = ["message", "session", "session_info", "custom", "custom_message"];
        let others = ["compaction", "branch_summary", "label", "model_change"];
        kinds.contains(&first) || others.contains(&first)
    }

    /// Returns whether it is in a record of Qwen Code.
    fn is_of_qwen(&self) -> bool {
        let members = ["parts", "usageMetadata", "systemPayload", "toolCallResult"];
        self.keys.iter().any(|key| members.contains(&key.as_str()))
    }

    /// Returns whether it is in a line of Gemini CLI.
    fn is_of_gemini(&self) -> bool {
        self.kinds.iter().any(|kind| kind == "gemini")
    }

    /// Returns whether it is an item or a notice in a record of Codex.
    fn is_of_codex(&self) -> bool {
        let kinds = ["response_item", "notice"];
        self.kinds
            .first()
            .is_some_and(|kind| kind.starts_with("item.") || kinds.contains(&kind.as_str()))
    }

    /// Returns whether it is in a record of Copilot.
    fn is_of_copilot(&self) -> bool {
        let first = self.kinds.first().map_or("", String::as_str);
        let starts = ["session.", "user.", "assistant.", "tool.", "subagent."];
        starts.iter().any(|start| first.starts_with(start))
    }

    /// Returns whether it is in a record of OpenCode.
    fn is_of_opencode(&self) -> bool {
        self.kinds.first().is_some_and(|kind| kind == "opencode")
    }

    /// Returns whether it is in a record of ATIF.
    fn is_of_atif(&self) -> bool {
        self.kinds.first().is_some_and(|kind| kind == "atif")
    }

    /// Returns whether a loss names it.
    fn is_named(&self, losses: &[(&str, &Loss)]) -> bool {
        losses.iter().any(|(field, loss)| {
            // The report names only the first positions.
            let is_more = loss.count > loss.places.len() as u64;
            let is_there = is_more || loss.places.iter().any(|place| place.line == self.line);
            is_there && self.is_of(field)
        })
    }

    fn is_of(&self, field: &str) -> bool {
        if ELSEWHERE.contains(&field) || self.kinds.iter().any(|kind| kind == field) {
            return true;
        }
        // The members of a sub-agent's trajectory around its steps.
        let is_trajectory = self.kinds.iter().any(|kind| kind == "trajectory");
        if is_trajectory && field == "subagent_trajectories" && self.keys[0] != "steps" {
            return true;
        }
        // Before 0.32, the first line of Codex has these members at its root.
        if field == "payload.id" && self.keys == ["id"] {
            return true;
        }
        let (holder, name) = field.rsplit_once('.').unwrap_or(("", field));
        // The last two members of a path.
        let holder = holder.rsplit('.').next().unwrap_or_default();
        // The first line of Codex has the id of its session twice.
        // The first record of OpenCode has it as its own id.
        let is_session = field == "payload.id" && self.key() == "session_id"
            || field == "info.sessionID" && self.keys == ["info", "id"] && self.kinds.len() == 1;
        let is_named = |key: &str, name: &str| {
            key == name
                || is_session
                || self.is_of_pi() && OF_PI.contains(&(name, key))
                || self.is_of_codex() && OF_CODEX.contains(&(name, key))
                || self.is_of_qwen() && OF_QWEN.contains(&(name, key))
                || self.is_of_gemini() && OF_GEMINI.contains(&(name, key))
                || self.is_of_copilot() && OF_COPILOT.contains(&(name, key))
                || self.is_of_opencode() && OF_OPENCODE.contains(&(name, key))
                || self.is_of_atif() && OF_ATIF.contains(&(name, key))
        };
        let has_key = |name: &str| self.keys.iter().any(|key| is_named(key, name));
        let is_kind = |name: &str| self.kinds.iter().any(|kind| kind == name);
        match holder {
            "" => has_key(name),
            "block" => {
                is_kind(name)
                    || ["block", "unknown"].contains(&name)
                    || self.is_dump && has_key("content")
            }
            "message" => has_key(name) || self.is_dump && has_key(&format!("message_{name}")),
            // The text of a notice has this name, whatever its member.
            "system" if name == "content" => is_kind("system"),
            "tool_result" | "tool_use" | "thinking" | "text" | "system" => {
                has_key(name) && (is_kind(holder) || self.is_dump)
            }
            holder => has_key(name) && (has_key(holder) || is_kind(holder)),
        }
    }
}

/// The content of a target: values by member.
struct Shown {
    values: HashMap<String, HashSet<String>>,
    long: HashSet<String>,
    /// All strings, and the lines that nest too deeply for `serde_json`.
    all: String,
    /// `all` without escapes; most sessions do not need it.
    unescaped: OnceCell<String>,
    has_odd_lines: bool,
}

impl Shown {
    fn of(target: &[u8], format: &Format) -> Self {
        let (values, long, all, unescaped) = Default::default();
        let mut shown = Self { values, long, all, unescaped, has_odd_lines: false };
        for leaf in leaves(target, format) {
            if leaf.is_string {
                shown.all.push_str(&leaf.text);
                shown.all.push('\n');
                if leaf.text.len() >= 16 {
                    shown.long.insert(leaf.text.clone());
                }
            }
            if let Some(millis) = leaf.millis() {
                shown.values.entry(millis).or_default().extend(leaf.keys.clone());
            }
            shown.values.entry(leaf.text.clone()).or_default().extend(leaf.keys);
        }
        for line in as_lines(target, format).0.split(|byte| *byte == b'\n') {
            if serde_json::from_slice::<Value>(line).is_err() {
                shown.all.push_str(&String::from_utf8_lossy(line));
                shown.has_odd_lines |= !line.is_empty();
            }
        }
        shown
    }

    /// Returns whether the target has a value under a member with the same meaning. A long value may be
    /// under any member.
    fn has(&self, leaf: &Leaf) -> bool {
        if leaf.is_string && (leaf.text.trim().is_empty() || self.long.contains(&leaf.text)) {
            return true;
        }
        let text = leaf.text.as_str();
        let mut same = WORDS.iter().filter(|words| words.contains(&text)).flatten();
        let millis = leaf.millis();
        self.has_word(leaf, text)
            || same.any(|word| self.has_word(leaf, word))
            || millis.is_some_and(|millis| self.has_word(leaf, &millis))
    }

    fn has_word(&self, leaf: &Leaf, word: &str) -> bool {
        let Some(keys) = self.values.get(word) else { return false };
        let is_same = |key: &String| {
            keys.contains(key)
                || SAME.iter().any(|same| {
                    same.contains(&key.as_str()) && same.iter().any(|it| keys.contains(*it))
                })
        };
        leaf.keys.last().is_some_and(is_same)
    }

    /// Returns whether a text, or a number of several digits, is a part of another text, because
    /// flattened content is joined.
    fn has_within(&self, leaf: &Leaf) -> bool {
        let is_number = leaf.text.len() >= 3 && leaf.text.parse::<f64>().is_ok();
        // clido has the reason of a compaction in parentheses.
        let reason = if leaf.text == "true" { "(auto)" } else { "(manual)" };
        if leaf.key() == "auto" && self.all.contains(reason) {
            return true;
        }
        let millis = if leaf.key() == "created" { leaf.text.parse().ok() } else { None };
        let times = [leaf.millis(), millis.map(core_model::iso_millis)];
        if times.iter().flatten().any(|time| self.all.contains(time)) {
            return true;
        }
        let is_long_enough = leaf.is_string || is_number || self.has_odd_lines;
        if is_long_enough && self.all.contains(leaf.text.trim()) {
            return true;
        }
        // An object inside a text, and arguments that `serde_json` refuses, because of a lone surrogate
        // or a number that is too large.
        let all = self.unescaped.get_or_init(|| without_escapes(&self.all));
        if leaf.is_string {
            let is_mark = |char: char| "{}[]:,\"".contains(char) || char.is_whitespace();
            let text = without_escapes(&leaf.text);
            let has = |word: &str| {
                let number = word.parse::<f64>().map(|number| format!("{number:?}"));
                word.len() < 3 || all.contains(word) || number.is_ok_and(|it| all.contains(&it))
            };
            leaf.text.starts_with('{') && text.split(is_mark).all(has)
        } else {
            let key = leaf.key();
            let same = SAME.iter().filter(|same| same.contains(&key)).copied().flatten().copied();
            let words = WORDS.iter().filter(|words| words.contains(&leaf.text.as_str()));
            let words: Vec<_> = words.flatten().map(|word| format!("\"{word}\"")).collect();
            same.chain([key]).any(|key| {
                let mut words = words.iter().chain([&leaf.text]);
                words.any(|word| {
                    let members = ["", " "].map(|blank| format!("\"{key}\":{blank}{word}"));
                    members.iter().any(|member| all.contains(&member.to_lowercase()))
                })
            })
        }
    }
}

/// Returns a text in lower case, with escapes of characters, but not of surrogates, decoded.
fn without_escapes(text: &str) -> String {
    let text = text.to_lowercase();
    let mut parts = text.split("\\u");
    let mut decoded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match code.and_then(char::from_u32) {
            Some(char) => decoded.extend([char.to_string().as_str(), &part[4..]]),
            None => decoded.extend(["\\u", part]),
        }
    }
    decoded
}

/// Values that are neither in the target nor in the report: their number, and the first position.
type Untold = BTreeMap<String, (u64, String)>;

/// Finds values that are neither in the target nor in the report, by their path.
fn find_untold(session: &Session, leaves: &[Leaf], to: &'static Format, untold: &mut Untold) {
    let conversion = Conversion {
        formats: FORMATS,
        from: session.from,
        to,
        carry: CarryMode::None,
        options: Options::default(),
    };
    let Converted { bytes: target, report, .. } =
        conversion.convert(&session.bytes, None).expect("in memory");
    if target.is_empty() {
        // The report says that no line was written.
        assert_eq!(report.lines_out, 0, "{}", session.name);
        return;
    }
    let shown = Shown::of(&target, to);
    let losses = report.losses.iter().filter(|(kind, ..)| *kind != LossKind::Invented);
    let losses: Vec<_> = losses.map(|(_, field, loss)| (field, loss)).collect();
    for leaf in leaves {
        if !(leaf.is_tag() || shown.has(leaf) || leaf.is_named(&losses) || shown.has_within(leaf)) {
            let kind = leaf.kinds.first().map_or("", String::as_str);
            let keys = leaf.keys.join(".");
            let path = format!("{} to {}: {kind}: {keys}", session.from.name, to.name);
            let text: String = leaf.text.chars().take(60).collect();
            let first = || (0, format!("{}, line {}: {text:?}", session.name, leaf.line));
            untold.entry(path).or_insert_with(first).0 += 1;
        }
    }
}

fn check(sessions: &[Session]) {
    let untold = Mutex::new(Untold::new());
    let name = |session: &Session| format!("{} ({})", session.name, session.from.name);
    check_all(sessions, name, |session| {
        let mut found = Untold::new();
        let leaves = leaves(&session.bytes, session.from);
        for to in FORMATS.targets().filter(|to| to.name != session.from.name) {
            find_untold(session, &leaves, to, &mut found);
        }
        let mut untold = untold.lock().expect("no thread panics here");
        for (path, (n, first)) in found {
            untold.entry(path).or_insert((0, first)).0 += n;
        }
        Vec::new()
    });
    let untold = untold.into_inner().expect("no thread panics here");
    let lines: Vec<_> =
        untold.iter().map(|(path, (n, first))| format!("{path} x{n} ({first})")).collect();
    assert!(lines.is_empty(), "{} members:\n{}", lines.len(), lines.join("\n"));
}

/// Returns the sessions and their conversions to one of the other formats, another one each day, so that all formats
/// are sources.
fn with_converted(sessions: Vec<Session>) -> Vec<Session> {
    let mut all = Vec::new();
    for session in sessions {
        let targets = FORMATS.targets().filter(|to| to.name != session.from.name);
        for to in chosen(&session.name, targets, 1) {
            let (from, carry) = (session.from, CarryMode::None);
            let conversion =
                Conversion { formats: FORMATS, from, to, carry, options: Options::default() };
            let bytes = conversion.convert(&session.bytes, None).expect("in memory").bytes;
            all.push(Session { name: format!("{} as {}", session.name, to.name), from: to, bytes });
        }
        all.push(session);
    }
    all
}

/// A third of the sessions, other ones each day.
#[test]
fn every_member_of_fixtures_is_shown_or_named() {
    let sessions = fixtures().into_iter().filter_map(|fixture| {
        let from = by_name(&fixture.format)?;
        Some(Session { name: fixture.name, from, bytes: fixture.bytes })
    });
    check(&share(with_converted(sessions.collect()), 3));
}

#[test]
fn every_member_of_real_sessions_is_shown_or_named() {
    let sessions = real_sessions();
    // All of them take seven minutes of CPU.
    let n = if are_all() { sessions.len() } else { sessions.len().div_ceil(4) };
    let sessions = picked(turn(), sessions.into_iter(), n);
    if !sessions.is_empty() {
        check(&with_converted(sessions));
    }
}

/// Members that the reader knows on other lines, and words that a target spells differently.
const ODD: &str = concat!(
    r#"{"type":"user","uuid":"u1","sessionId":"s","timestamp":"2026-01-02T03:04:05.000Z","#,
    r#""cwd":"/w","version":"2.1.0","origin":{"kind":"human","odd":"o1"},"data":{"odd":"o2"},"#,
    r#""sessions":["o3"],"continuedInSessionId":"o4","relocatedCwd":"o5","aiTitle":"o6","#,
    r#""attachment":{"odd":"o7"},"message":{"role":"user","content":"Hello"}}"#,
    "\n",
    r#"{"type":"attachment","uuid":"u2","sessionId":"s","attachment":{"hookName":"Stop","odd":"o8","#,
    r#""type":"hook_additional_context","content":["In C:\\tmp\\x","\"quoted\" words"]}}"#,
    "\n",
    r#"{"type":"attachment","uuid":"u3","sessionId":"s","attachment":{"type":"file","filename":"/f","#,
    r#""content":{"type":"text","file":{"filePath":"/f","content":"words","odd":"o9"}}}}"#,
    "\n",
    r#"{"type":"attachment","uuid":"u4","sessionId":"s","attachment":{"type":"queued_command","#,
    r#""prompt":"And this","commandMode":"prompt","odd":"o10"}}"#,
    "\n",
    r#"{"type":"assistant","uuid":"u5","sessionId":"s","isApiErrorMessage":true,"message":"#,
    r#"{"id":"m","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"Failed"},"#,
    r#"{"type":"odd_block","odd":"o11"}]}}"#,
    "\n",
);

#[test]
fn members_of_odd_lines_are_shown_or_named() {
    let from = by_name("claude-code").expect("a format");
    check(&[Session { name: "odd".to_owned(), from, bytes: ODD.into() }]);
}

/// A session with every kind of member that a report could miss.
const RICH: &str = concat!(
    r#"{"type":"file-history-snapshot","messageId":"m1","snapshot":{"n":7},"isSnapshotUpdate":false}"#,
    "\n",
    r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","isSidechain":false,"#,
    r#""timestamp":"2026-01-02T03:04:05.000Z","cwd":"/w","version":"2.1.0","gitBranch":"main","#,
    r#""userType":"external","promptId":"p1","todos":[{"a":1}],"entrypoint":"cli","#,
    r#""message":{"role":"user","content":"Hello"}}"#,
    "\n",
    r#"{"type":"progress","data":{"type":"hook_progress","x":1},"uuid":"u2","sessionId":"s"}"#,
    "\n",
    r#"{"type":"assistant","uuid":"u3","parentUuid":"u1","sessionId":"s","slug":"a-b","#,
    r#""effort":"high","requestId":"r1","timestamp":"2026-01-02T03:04:06.000Z","message":"#,
    r#"{"id":"m","type":"message","role":"assistant","model":"o","stop_details":{"why":"x"},"#,
    r#""content":[{"type":"tool_use","id":"t1","name":"Read","input":{},"caller":{"type":"direct"}}],"#,
    r#""stop_reason":"tool_use","usage":{"input_tokens":3}}}"#,
    "\n",
);

#[test]
fn members_and_records_are_named_as_the_source_names_them_whatever_the_target() {
    let from = by_name("claude-code").expect("a format");
    let lost = |to: &str| -> HashSet<String> {
        let to = by_name(to).expect("a format");
        let conversion = Conversion {
            formats: FORMATS,
            from,
            to,
            carry: CarryMode::None,
            options: Options::default(),
        };
        let report = conversion.convert(RICH.as_bytes(), None).expect("in memory").report;
        let losses = report.losses.iter().filter(|(kind, ..)| *kind == LossKind::Dropped);
        losses.map(|(_, field, _)| field.to_owned()).collect()
    };
    let everywhere = [
        "file-history-snapshot",
        "progress/hook_progress",
        "userType",
        "promptId",
        "todos",
        "entrypoint",
        "slug",
        "effort",
        "requestId",
        "gitBranch",
        "parentUuid",
        "isSidechain",
        "message.stop_details",
        "tool_use.caller",
    ];
    for to in ["clido", "sdk-stream", "sdk-stream:wire"] {
        let lost = lost(to);
        for name in everywhere {
            assert!(lost.contains(name), "to {to}: {name} is not among {lost:?}");
        }
        assert!(!lost.contains("type") && !lost.contains("message"), "to {to}: {lost:?}");
    }
    assert!(lost("clido").contains("usage") && !lost("sdk-stream").contains("usage"));
}

#[test]
fn what_streams_say_of_a_run_is_named() {
    let source = concat!(
        r#"{"type":"system","subtype":"init","session_id":"s","uuid":"i","cwd":"/w","model":"o","#,
        r#""tools":["Read"],"mcp_servers":[{"name":"x"}],"slash_commands":["c"],"agents":["a"]}"#,
        "\n",
        r#"{"type":"user","message":{"role":"user","content":"Hi"},"session_id":"s","uuid":"u"}"#,
        "\n",
        r#"{"type":"assistant","message":{"id":"m","role":"assistant","model":"o","content":"#,
        r#"[{"type":"text","text":"Hello."}]},"session_id":"s","uuid":"a"}"#,
        "\n",
        r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":5,"session_id":"s","#,
        r#""num_turns":1,"result":"Hello.","total_cost_usd":0.5,"stop_reason":"end_turn","#,
        r#""modelUsage":{"o":{"costUSD":0.5}},"permission_denials":[{"tool_name":"Bash"}]}"#,
        "\n",
    );
    let from = by_name("sdk-stream:wire").expect("a format");
    for to in ["clido", "claude-code"] {
        let to = by_name(to).expect("a format");
        let conversion = Conversion {
            formats: FORMATS,
            from,
            to,
            carry: CarryMode::None,
            options: Options::default(),
        };
        let report = conversion.convert(source.as_bytes(), None).expect("in memory").report;
        let lost: HashSet<String> =
            report.losses.iter().map(|(_, field, _)| field.to_owned()).collect();
        for name in [
            "mcp_servers",
            "slash_commands",
            "agents",
            "tools",
            "result",
            "stop_reason",
            "modelUsage",
            "permission_denials",
        ] {
            assert!(lost.contains(name), "to {}: {name} is not among {lost:?}", to.name);
        }
    }
}
