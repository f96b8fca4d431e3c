//! Checks items of the history, compactions and the contexts of turns.
//!
//! In: a `function_call` whose `arguments` are an object. Out: a problem, because Codex skips the
//! item.

use core_model::Findings;
use jsonl::{Text, Value};

use super::calls::Calls;
use crate::{
    history::missing_member,
    record::{Compacted, Item, ItemKind, Record},
};

/// The events that Codex wrote from 0.34 to 0.169. Others make it skip the line.
pub(super) const EVENTS: [&str; 58] = [
    "agent_message",
    "agent_message_delta",
    "agent_reasoning",
    "agent_reasoning_raw_content",
    "agent_reasoning_section_break",
    "apply_patch_approval_request",
    "background_event",
    "collab_agent_interaction_begin",
    "collab_agent_interaction_end",
    "collab_agent_spawn_begin",
    "collab_agent_spawn_end",
    "collab_close_begin",
    "collab_close_end",
    "collab_resume_begin",
    "collab_resume_end",
    "collab_waiting_begin",
    "collab_waiting_end",
    "context_compacted",
    "deprecation_notice",
    "dynamic_tool_call_request",
    "dynamic_tool_call_response",
    "elicitation_request",
    "entered_review_mode",
    "error",
    "exec_approval_request",
    "exec_command_begin",
    "exec_command_end",
    "exited_review_mode",
    "image_generation_begin",
    "image_generation_end",
    "item_completed",
    "item_started",
    "mcp_startup_complete",
    "mcp_startup_update",
    "mcp_tool_call_begin",
    "mcp_tool_call_end",
    "model_reroute",
    "patch_apply_begin",
    "patch_apply_end",
    "plan_update",
    "request_user_input",
    "session_configured",
    "shutdown_complete",
    "stream_error",
    "task_complete",
    "task_started",
    "thread_goal_updated",
    "thread_name_updated",
    "thread_rolled_back",
    "thread_settings_applied",
    "token_count",
    "turn_aborted",
    "turn_complete",
    "turn_diff",
    "turn_started",
    "user_message",
    "view_image_tool_call",
    "web_search_end",
];

/// Checks an item.
pub(super) fn check_item(item: &Item<'_>, calls: &mut Calls, out: &mut Findings<'_>) {
    let kind = item.text("type").map(|kind| kind.decode()).unwrap_or_default();
    match item.kind {
        ItemKind::Other => {
            return out.warns("item-type", format!("the item `{kind}`: Codex skips the line"));
        }
        ItemKind::GhostSnapshot => return,
        _ => {}
    }
    if let Some(name) = missing_member(item) {
        let message = format!(
            "`{name}` of the item `{kind}` is missing or of another type than Codex's: Codex skips the item"
        );
        return out.warns("item-member", message);
    }
    calls.add(item, out);
    for name in ["content", "output"] {
        let parts = item.value.get(name).into_iter().flat_map(|parts| parts.items());
        for url in parts.filter_map(|part| part.get("image_url")?.text()) {
            check_image(url, out);
        }
    }
    let has_cipher = || item.text("encrypted_content").is_some();
    if item.kind == ItemKind::Reasoning && !has_cipher() {
        out.warns(
            "reasoning",
            "reasoning without `encrypted_content`: Codex sends it, and the API may refuse it",
        );
    }
}

/// Checks that an image is in a data URL.
fn check_image(url: Text<'_>, out: &mut Findings<'_>) {
    let data = url.body().strip_prefix("data:").and_then(|url| url.split_once(";base64,"));
    let is_base64 = |data: &str| {
        let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
        let digits = data.trim_end_matches('=');
        let n_ends = data.len().saturating_sub(digits.len());
        !digits.is_empty() && n_ends <= 2 && digits.bytes().all(is_digit)
    };
    if !data.is_some_and(|(_, data)| is_base64(data)) {
        out.warns("image", "an image that is no data URL in base64: Codex sends a text instead");
    }
}

/// Checks a compaction, whose items replace the history before it.
pub(super) fn check_compacted(
    compacted: &Compacted<'_>,
    calls: &mut Calls,
    out: &mut Findings<'_>,
) {
    if compacted.message.is_none() {
        return out.warns("compacted", "`message` is missing or no string: Codex skips the line");
    }
    let items = compacted.replacement_history.into_iter().flat_map(|history| history.items());
    let is_unread = |item: &Value<'_>| {
        let item = Item::decode(*item);
        missing_member(&item).is_some() || !item.value.is_object()
    };
    if items.clone().any(|item| is_unread(&item)) {
        return out.warns(
            "compacted",
            "an item of `replacement_history` lacks a member: Codex skips the whole line",
        );
    }
    calls.replace(items.map(Item::decode), out);
}

/// Checks the members without which Codex skips a `turn_context`.
pub(super) fn check_turn_context(record: &Record<'_>, out: &mut Findings<'_>) {
    let Some(payload) = record.payload else { return };
    let names = ["cwd", "model"];
    let is_text = |name: &&str| payload.get(name).is_some_and(|value| value.text().is_some());
    if let Some(name) = names.iter().find(|name| !is_text(name)) {
        let message = format!("`{name}` of the turn is missing or no string: Codex skips the line");
        out.warns("turn-context", message);
    }
}
