//! Reads `attachment` lines: prompts that waited while the agent worked, and context that the
//! client adds.
//!
//! `{"type":"attachment","attachment":{"type":"queued_command","prompt":"Stop","commandMode":"prompt"}}`
//! is a prompt; `{"type":"attachment","attachment":{"type":"file","filename":"/a.rs",..}}` is a notice.

use core_model::{Body, Content, Message, Notice, NoticeKind, Role, is_client_text};
use jsonl::{Raw, Text, Value};

use super::block;

/// Types of attachments whose words the client sends to the model (2.1.330).
const TELLING: [&str; 16] = [
    "compact_file_reference",
    "directory",
    "edited_image_file",
    "edited_text_file",
    "file",
    "hook_additional_context",
    "hook_blocking_error",
    "mcp_resource",
    "nested_memory",
    "opened_file_in_ide",
    "plan_file_reference",
    "plan_mode",
    "plan_mode_exit",
    "plan_mode_reentry",
    "selected_lines_in_ide",
    "todo",
];

/// Reads an attachment. One that the model does not see is [`Body::Other`].
pub(super) fn attachment(attachment: Value<'_>) -> Body<'_> {
    let Some(kind) = attachment.get("type").and_then(|kind| kind.text()) else {
        return Body::Other;
    };
    if kind.is("queued_command") {
        return queued(attachment).map_or(Body::Other, Body::Message);
    }
    if !TELLING.iter().any(|telling| kind.is(telling)) {
        return Body::Other;
    }
    let text = |name: &str| attachment.get(name).and_then(|value| value.text());
    let about = ["filename", "path", "planFilePath", "hookName", "uri"];
    Body::Notice(Notice {
        kind: NoticeKind::Info,
        subtype: Some(kind),
        about: about.iter().find_map(|name| text(name)),
        text: words(attachment),
        trigger: None,
        pre_tokens: None,
    })
}

/// Reads a prompt that the user typed while the agent worked; `is_meta` marks one that the client
/// queued itself.
fn queued(attachment: Value<'_>) -> Option<Message<'_>> {
    let prompt = attachment.get("prompt").filter(|it| it.text().is_some() || it.is_array())?;
    let message = Message::new(Role::User, Content::new(Some(prompt), block));
    let mode = attachment.get("commandMode").and_then(|mode| mode.text());
    let is_meta = mode.is_some_and(|mode| !mode.is("prompt"))
        || attachment.get("isMeta").and_then(|it| it.bool()) == Some(true)
        || is_of_others(attachment.get("origin"))
        || message.first_text().is_some_and(is_client_text);
    Some(Message { is_meta, is_queued: true, ..message })
}

/// Returns whether the origin of a user's message is not a person.
pub(super) fn is_of_others(origin: Option<Value<'_>>) -> bool {
    let kind: Option<Text<'_>> = origin.and_then(|origin| origin.get("kind")?.text());
    kind.is_some_and(|kind| !kind.is("human"))
}

/// Finds the words of an attachment: a string, or an array of strings.
fn words(attachment: Value<'_>) -> Option<Raw<'_>> {
    let text = |value: Value<'_>| value.text().is_some();
    let members = ["snippet", "content", "planContent", "text"];
    let member = members.iter().find_map(|name| attachment.get(name));
    let error = attachment.get("blockingError").and_then(|error| error.get("blockingError"));
    let found = match member {
        Some(value) if value.is_object() => inner_words(value).filter(|value| text(*value)),
        member => member.filter(|value| text(*value) || value.items().any(text)),
    };
    found.or(error.filter(|value| text(*value))).map(|value| value.raw())
}

/// Returns the content of a file: `content.file.content`, or `content.content`.
fn inner_words(content: Value<'_>) -> Option<Value<'_>> {
    match content.get("file") {
        Some(file) => file.get("content"),
        None => content.get("content"),
    }
}
