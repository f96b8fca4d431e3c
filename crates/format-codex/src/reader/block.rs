//! Reads the parts of messages, calls and outputs.
//!
//! In: `{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"c"}`.
//! Out: [`Block::ToolUse`] whose input is the JSON inside the string.

use core_model::{Block, Content, Field, Input, TextBody, ToolName, ToolResult, ToolUse};
use jsonl::{Raw, Text, Value};

use crate::record::{Item, ItemKind};

/// Reads a part of a message or of an output.
pub fn read_block(value: Value<'_>) -> Block<'_> {
    if let Some(text) = value.text() {
        return Block::Text(text);
    }
    let [kind, text] = value.get_all(["type", "text"]).map(|it| it.and_then(|it| it.text()));
    let is_text = |kind: Text<'_>| {
        ["input_text", "output_text", "text", "summary_text"].iter().any(|name| kind.is(name))
    };
    match (kind, text) {
        (Some(kind), Some(text)) if is_text(kind) => Block::Text(text),
        (Some(kind), None) if kind.is("input_image") => {
            read_image(value).unwrap_or(Block::Other { kind: Some(kind), raw: value.raw() })
        }
        _ => Block::Other { kind, raw: value.raw() },
    }
}

/// Reads an image from its data URL: `data:image/png;base64,iVBO..`.
fn read_image(value: Value<'_>) -> Option<Block<'_>> {
    let url = value.get("image_url")?.text()?.body().strip_prefix("data:")?;
    let (media_type, data) = url.split_once(";base64,")?;
    let (media_type, data) = (TextBody::new(media_type), TextBody::new(data));
    Some(Block::Image { media_type, data })
}

/// Reads a part of a reasoning.
pub(super) fn read_thinking(value: Value<'_>) -> Block<'_> {
    let [kind, text] = value.get_all(["type", "text"]).map(|it| it.and_then(|it| it.text()));
    match text {
        // The ciphertext of OpenAI is no signature of another API.
        Some(text) if !text.is_empty() => Block::Thinking { text, signature: None },
        _ => Block::Other { kind, raw: value.raw() },
    }
}

/// Reads thinking of another format, which a writer of this crate wrote.
pub(super) fn read_thought(payload: Value<'_>) -> Block<'_> {
    let [text, signature] =
        payload.get_all(["text", "signature"]).map(|it| it.and_then(|it| it.text()));
    match text {
        Some(text) => Block::Thinking { text, signature },
        None => Block::Other { kind: None, raw: payload.raw() },
    }
}

/// Returns a constant JSON string.
fn constant(written: &'static str) -> Text<'static> {
    Text::new(written).unwrap_or_else(|| Text::new("\"\"").expect("an empty JSON string"))
}

/// Reads an item that is a call.
pub(super) fn read_call(value: Value<'_>) -> Block<'_> {
    let item = Item::decode(value);
    tool_use(&item).map_or(Block::Other { kind: None, raw: value.raw() }, Block::ToolUse)
}

fn tool_use<'l>(item: &Item<'l>) -> Option<ToolUse<'l>> {
    let id = || item.call_id().or_else(|| item.text("id"));
    let json = |name: &str| item.value.get(name).map_or(Raw::NULL, |value| value.raw());
    let call = |id, name, input| ToolUse { id, name, input, is_server: false };
    let run = |id, name: Text<'l>, input| ToolUse { id, name: name.into(), input, is_server: true };
    Some(match item.kind {
        ItemKind::FunctionCall => {
            let input = match item.value.get("arguments") {
                Some(arguments) => match arguments.text() {
                    Some(text) => Input::JsonString(text),
                    None => Input::Json(arguments.raw()),
                },
                None => return None,
            };
            call(id()?, tool_name(item)?, input)
        }
        ItemKind::CustomToolCall => call(id()?, tool_name(item)?, Input::Text(item.text("input")?)),
        ItemKind::LocalShellCall => {
            call(id()?, constant("\"local_shell\"").into(), Input::Json(json("action")))
        }
        ItemKind::ToolSearchCall => {
            call(id()?, constant("\"tool_search\"").into(), Input::Json(json("arguments")))
        }
        // The API ran it, and there is no output. Old ones have no id.
        ItemKind::WebSearchCall => run(
            id().unwrap_or(constant("\"web_search_call\"")),
            constant("\"web_search\""),
            Input::Json(json("action")),
        ),
        _ => return None,
    })
}

/// Returns the name of the tool of a call. The namespace of an MCP server is its first part.
///
/// In: `"name":"echo","namespace":"mcp__mock"`. Out: `mcp__mock__echo`.
fn tool_name<'l>(item: &Item<'l>) -> Option<ToolName<'l>> {
    let members = item.value.get_all(["name", "namespace"]);
    let [name, namespace] = members.map(|member| member?.text());
    let name = name?;
    let Some(namespace) = namespace.filter(|namespace| is_mcp(*namespace)) else {
        return Some(name.into());
    };
    let is_separated = namespace.body().ends_with("__")
        || namespace.body().starts_with(CONNECTORS) && name.body().starts_with('_');
    Some(ToolName::in_namespace(namespace, if is_separated { "" } else { "__" }, name))
}

/// The start of the namespaces of connectors. The names of their tools start with the separator:
/// `mcp__codex_apps__github` and `_fetch_pr` are `mcp__codex_apps__github_fetch_pr` in code mode.
const CONNECTORS: &str = "mcp__codex_apps__";

/// Returns whether a namespace is that of an MCP server. Other namespaces, such as `collaboration`,
/// group tools of Codex itself, whose names had no namespace in older versions.
pub(crate) fn is_mcp(namespace: Text<'_>) -> bool {
    namespace.body().starts_with("mcp__")
}

/// Reads the image that a call generated.
pub(super) fn read_picture(value: Value<'_>) -> Block<'_> {
    match value.get("result").and_then(|result| result.text()) {
        Some(data) if !data.is_empty() => {
            Block::Image { media_type: TextBody::new("image/png"), data: data.into() }
        }
        _ => Block::Other { kind: None, raw: value.raw() },
    }
}

/// Reads an item that is the output of a call.
pub(super) fn read_output(value: Value<'_>) -> Block<'_> {
    let [id, output, tools] = value.get_all(["call_id", "output", "tools"]);
    let Some(id) = id.and_then(|id| id.text()) else {
        return Block::Other { kind: None, raw: value.raw() };
    };
    let content = match (output, tools) {
        (None, tools) => Content::new(tools, read_block),
        (output, _) => Content::new(output, read_block),
    };
    let is_error = match content.blocks().next() {
        Some((Block::Text(text), _)) if is_failure(text) => Field::Value(true),
        _ => Field::Absent,
    };
    Block::ToolResult(ToolResult::new(id, content, is_error))
}

/// Starts of outputs in which Codex says that a call failed.
const FAILURES: [&str; 3] =
    ["unsupported call:", "failed to parse function arguments", "apply_patch verification failed"];

/// Length in bytes of the part of an output that is searched for an exit code.
const MAX_SEARCHED: usize = 1024;

/// Returns whether an output says that its call failed. Codex has no flag for it.
///
/// The exit code is in a line before the output of the command. In the old outputs, which are JSON
/// in a string, it is at the end.
fn is_failure(output: Text<'_>) -> bool {
    let body = output.body();
    if output.is("aborted") || FAILURES.iter().any(|start| body.starts_with(start)) {
        return true;
    }
    if body.starts_with("{\\\"output\\\":") {
        let last = body.get(body.ceil_char_boundary(body.len().saturating_sub(MAX_SEARCHED))..);
        let code = last.and_then(|last| last.rsplit_once("\\\"exit_code\\\":"));
        return code.is_some_and(|(_, code)| is_nonzero(code));
    }
    let head = body.get(..body.floor_char_boundary(MAX_SEARCHED)).unwrap_or(body);
    let end = memchr::memmem::find(head.as_bytes(), br"\nOutput:");
    let Some(head) = end.and_then(|end| head.get(..end)) else { return false };
    ["Process exited with code ", "Exit code: "]
        .iter()
        .filter_map(|words| head.split_once(words))
        .any(|(_, code)| is_nonzero(code))
}

/// Returns whether a text starts with a number other than 0.
fn is_nonzero(text: &str) -> bool {
    let text = text.trim_start();
    let digits = text.strip_prefix('-').unwrap_or(text);
    let end = digits.find(|char: char| !char.is_ascii_digit()).unwrap_or(digits.len());
    digits.get(..end).is_some_and(|digits| digits.bytes().any(|digit| digit != b'0'))
}
