//! Checks single blocks: kinds and members that the API refuses, and blocks that the client leaves
//! out.
//!
//! In: `{"type":"text","text":"Hi","mood":"good"}`. Out: an error, because the client sends `mood`
//! and the API refuses it.

use core_model::{Findings, Role, is_accepted_tool_id};
use jsonl::Value;

/// The largest number of bytes in a tool's name.
const MAX_NAME: usize = 128;

/// The kinds of blocks in the Messages API, with their members. The API refuses any other member. A
/// kind with an empty list has members that are not checked.
const KINDS: &[(&str, &[&str])] = &[
    ("text", &["text", "citations"]),
    ("thinking", &["thinking", "signature"]),
    ("redacted_thinking", &["data"]),
    ("tool_use", &["id", "name", "input", "caller"]),
    ("server_tool_use", &["id", "name", "input", "caller"]),
    ("mcp_tool_use", &["id", "name", "input", "server_name"]),
    ("tool_result", &["tool_use_id", "content", "is_error"]),
    ("image", &["source", "title", "context", "citations"]),
    ("document", &["source", "title", "context", "citations"]),
    ("search_result", &["source", "title", "content", "citations"]),
    ("tool_reference", &["tool_name"]),
    ("container_upload", &[]),
    // Marks an answer by another model; 2.1.330 does not send it.
    ("fallback", &[]),
];

/// Checks the content of a message: a string or an array of blocks.
pub(super) fn check_content(content: Value<'_>, role: Role, out: &mut Findings<'_>) {
    if let Some(text) = content.text() {
        if role == Role::User && text.decode().trim().is_empty() {
            out.stops("empty-prompt", "a blank prompt: the API refuses it");
        }
        return;
    }
    if content.items().next().is_none() && role == Role::User {
        out.warns("empty-text", "no content: the client leaves the line out");
    }
    let mut has_other = false;
    for block in content.items() {
        let kind = kind_of(block);
        check_block(block, &kind, false, out);
        check_role(&kind, role, out);
        if kind == "tool_result" && has_other && role == Role::User {
            out.stops("result-order", "a tool result after another block: the API refuses it");
        }
        has_other |= kind != "tool_result";
    }
}

/// Returns the kind of a block; empty if it has none.
fn kind_of(block: Value<'_>) -> String {
    let kind = block.get("type").and_then(|kind| kind.text());
    kind.map(|kind| kind.decode().into_owned()).unwrap_or_default()
}

/// Checks a block of a message, or a part of a tool result (`is_part`). The client leaves out fewer
/// parts than blocks.
fn check_block(block: Value<'_>, kind: &str, is_part: bool, out: &mut Findings<'_>) {
    if kind.is_empty() {
        return out.warns("block", "a block without a `type`: the client leaves it out");
    }
    let known = KINDS.iter().find(|(name, _)| *name == kind);
    // Results of server tools have a kind for each tool.
    if known.is_none() && !kind.ends_with("_tool_result") {
        let message = format!("a block of type `{kind}`: the API does not know it and refuses it");
        return out.stops("block-type", message);
    }
    if let Some((_, own)) = known.filter(|(_, own)| !own.is_empty()) {
        members(block, kind, own, out);
    }
    match kind {
        "text" if block.get("text").is_some_and(|text| text.text().is_some()) => {}
        "text" if is_part => {
            out.stops("block-text", "the text of a result is not a string: the API refuses it");
        }
        "text" => out.warns("block-text", "a text that is not a string: the client leaves it out"),
        "thinking" if block.get("thinking").is_none_or(|text| text.text().is_none()) => {
            out.stops("block-text", "`thinking` is not a string: the API refuses it");
        }
        "tool_use" => tool_use(block, out),
        "tool_result" => tool_result(block, out),
        "image" if block.get("source").is_none_or(|source| !source.is_object()) => {
            out.warns("image", "an image without a `source`: the client sends a note instead");
        }
        _ => {}
    }
}

/// Checks whether a message with a role may have a kind of block.
fn check_role(kind: &str, role: Role, out: &mut Findings<'_>) {
    match (role, kind) {
        (Role::User, "tool_use" | "thinking" | "redacted_thinking") => {
            out.stops("block-role", format!("a `{kind}` of the user: the API refuses it"));
        }
        (Role::Assistant, "image" | "document" | "tool_result") => {
            let message = format!("a `{kind}` of the assistant: the API may refuse it");
            out.warns("block-role", message);
        }
        _ => {}
    }
}

/// Reports a member of a block that the API does not know: the client sends it and the API refuses
/// it.
fn members(block: Value<'_>, kind: &str, own: &[&str], out: &mut Findings<'_>) {
    let mut keys = block.members().map(|(key, _)| key.decode());
    let is_own = |key: &str| matches!(key, "type" | "cache_control") || own.contains(&key);
    let Some(name) = keys.find(|key| !is_own(key)) else { return };
    if kind == "image" {
        let message = format!("an image's member `{name}`: the client sends a note instead");
        return out.warns("image", message);
    }
    let message = format!("a block's member `{name}` is unknown to the API, which refuses it");
    out.stops("block-member", message);
}

fn tool_use(block: Value<'_>, out: &mut Findings<'_>) {
    match block.get("id").and_then(|id| id.text()) {
        None => out.warns("tool-id", "a tool use without an `id`: the client leaves it out"),
        Some(id) if !is_accepted_tool_id(&id.decode()) => {
            out.stops("tool-id", "a tool use's `id` is not of `[A-Za-z0-9_-]`: the API refuses it");
        }
        Some(_) => {}
    }
    let name = block.get("name").and_then(|name| name.text()).map(|name| name.decode());
    if name.is_none_or(|name| !is_accepted_tool_id(&name) || name.len() > MAX_NAME) {
        out.stops(
            "tool-name",
            "a tool's `name` is not 1 to 128 of `[A-Za-z0-9_-]`: the API refuses it",
        );
    }
    if !block.get("input").is_some_and(|input| input.is_object()) {
        out.stops("tool-input", "a tool's `input` is not an object: the API refuses it");
    }
}

fn tool_result(block: Value<'_>, out: &mut Findings<'_>) {
    if block.get("tool_use_id").is_none_or(|id| id.text().is_none()) {
        out.warns(
            "orphan-result",
            "a tool result without a `tool_use_id`: the client leaves it out",
        );
    }
    let Some(content) = block.get("content") else { return };
    if content.text().is_none() && !content.is_array() && !content.is_null() {
        let message = "a tool result is neither a string nor an array: the client sends its JSON";
        out.warns("result-content", message);
    }
    if !content.is_array() {
        return;
    }
    for part in content.items() {
        let kind = kind_of(part);
        match &*kind {
            "tool_use" | "thinking" | "redacted_thinking" | "tool_result" => {
                let message = format!("a `{kind}` in a tool result: the API refuses it");
                out.stops("block-role", message);
            }
            "" => {
                out.stops("block", "a part of a tool result without a `type`: the API refuses it")
            }
            // A result cannot contain another result, so the recursion ends here.
            _ => check_block(part, &kind, true, out),
        }
    }
}
