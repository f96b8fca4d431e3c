//! Lists the members of a line that no event holds, so that a conversion can report them as lost.
//!
//! In: `{"type":"user","slug":"s","message":{"content":"Hi","container":{}}}`. Out: `slug`,
//! `message.container`.

use core_model::{Body, Event, Shape, Vocabulary, is_void};
use jsonl::{Raw, Text, Value};

use super::is_local_command;
use crate::{ApiMessage, Record};

/// The names that Claude Code has for the members that events hold.
pub(super) static VOCABULARY: Vocabulary = Vocabulary {
    session_id: "sessionId",
    request_id: "requestId",
    tool_use_result: "toolUseResult",
    is_api_error: "isApiErrorMessage",
    shape,
    list,
    record,
    pull_request,
    slug,
    ..Vocabulary::PLAIN
};

/// Returns the address in a record of type `pr-link`.
fn pull_request<'l>(event: &Event<'l>) -> Option<Raw<'l>> {
    event.kind.filter(|kind| kind.is("pr-link"))?;
    Some(event.value.get("prUrl")?.raw())
}

/// Returns the name of the plan, which the client keeps in `~/.claude/plans/SLUG.md`.
fn slug<'l>(event: &Event<'l>) -> Option<Text<'l>> {
    event.value.get("slug")?.text()
}

/// Returns the names of the members that the event of a line does not hold.
#[inline]
pub(super) fn unread(record: &Record<'_>, message: &ApiMessage<'_>) -> Shape {
    let mut shape = record.unread;
    if !message.unread.is_empty() {
        shape.add_name(b"message");
        message.unread.join(&mut shape);
    }
    if is_rare(record) {
        list_rare(record, &mut |name| shape.add_name(name.as_bytes()));
    }
    shape
}

/// Returns the names of the members that an event does not hold, those inside an attachment
/// included.
#[inline]
fn shape(event: &Event<'_>) -> Shape {
    let mut shape = event.unread;
    if event.kind.is_some_and(|kind| kind.is("attachment")) {
        list_attachment(event, &mut |name| shape.add_name(name.as_bytes()));
    }
    shape
}

/// Returns whether a line may have members that its event holds in part.
fn is_rare(record: &Record<'_>) -> bool {
    record.error.is_some()
        || record.compact_metadata.is_some()
        || record.level.is_some()
        || is_local_command(record)
        || others(record).iter().any(|(_, _, is_there)| *is_there)
}

/// Returns members that the event of one type of line holds: name, type, and whether the line has
/// the member.
fn others(record: &Record<'_>) -> [(&'static str, &'static str, bool); 7] {
    [
        ("attachment", "attachment", record.attachment.is_some()),
        ("relocatedCwd", "relocated", record.relocated_cwd.is_some()),
        ("continuedInSessionId", "continued-in", record.continued_in.is_some()),
        ("sessions", "derived-from", record.sessions.is_some()),
        ("summary", "summary", record.summary.is_some()),
        ("aiTitle", "ai-title", record.ai_title.is_some()),
        ("customTitle", "custom-title", record.custom_title.is_some()),
    ]
}

fn list_rare(record: &Record<'_>, found: &mut dyn FnMut(&str)) {
    let is_notice = record.kind.is_some_and(|kind| kind.is("system"));
    // For a notice without content, the error is its text.
    if record.error.is_some_and(|error| !is_void(&error))
        && !(is_notice && record.content.is_none())
    {
        found("error");
    }
    let is_serious = |level: Text<'_>| ["error", "warning", "warn"].iter().any(|it| level.is(it));
    if record.level.is_some_and(|level| !(is_notice && is_serious(level))) {
        found("level");
    }
    // A message is read without the subtype of its line.
    if is_notice && is_local_command(record) {
        found("subtype");
    }
    for (name, kind, is_there) in others(record) {
        if is_there && !record.kind.is_some_and(|it| it.is(kind)) {
            found(name);
        }
    }
    for (key, value) in record.compact_metadata.iter().flat_map(Value::members) {
        let is_held = is_notice && ["trigger", "preTokens"].iter().any(|name| key.is(name));
        if !is_held && !is_void(&value) {
            found(&format!("compactMetadata.{}", key.decode()));
        }
    }
}

fn list(event: &Event<'_>, found: &mut dyn FnMut(&str)) {
    let mut record = Record::default();
    for (key, value) in event.value.members() {
        let key = key.decode();
        let before = record.unread;
        record.set(key.as_bytes(), value);
        if record.unread != before {
            found(&key);
        }
    }
    let mut message = ApiMessage::default();
    for (key, value) in record.message.iter().flat_map(Value::members) {
        let key = key.decode();
        let before = message.unread;
        message.set(key.as_bytes(), value);
        if message.unread != before {
            found(&format!("message.{key}"));
        }
    }
    list_rare(&record, found);
    if event.kind.is_some_and(|kind| kind.is("attachment")) {
        list_attachment(event, found);
    }
}

/// Calls `found` with the members of an attachment that its event does not hold.
fn list_attachment(event: &Event<'_>, found: &mut dyn FnMut(&str)) {
    let Some(attachment) = event.value.get("attachment") else { return };
    let held = match &event.body {
        Body::Notice(notice) => [notice.text, notice.about.map(Raw::from)],
        Body::Message(_) => [attachment.get("prompt").map(|prompt| prompt.raw()), None],
        _ => return,
    };
    let kind = attachment.get("type").map(|kind| kind.raw());
    list_others("attachment", attachment, &[held[0], held[1], kind], found);
}

/// Calls `found` with the members of an object whose values are not in `held`. A value in `held`
/// may be nested in a member.
fn list_others(
    path: &str,
    object: Value<'_>,
    held: &[Option<Raw<'_>>],
    found: &mut dyn FnMut(&str),
) {
    for (key, value) in object.members() {
        let bytes = value.raw().as_str().as_bytes().as_ptr_range();
        let mut starts = held.iter().flatten().map(|raw| raw.as_str().as_ptr());
        if is_void(&value) || starts.clone().any(|start| start == bytes.start) {
            continue;
        }
        let path = format!("{path}.{}", key.decode());
        if value.is_object() && starts.any(|start| bytes.contains(&start)) {
            list_others(&path, value, held, found);
        } else {
            found(&path);
        }
    }
}

/// Returns the type of a line and of its inner record: `progress`, `hook_progress`.
fn record<'l>(event: &Event<'l>) -> [Option<Text<'l>>; 2] {
    let Some(kind) = event.kind else { return [None, None] };
    let member = |name: &str| event.value.get(name);
    let wrapped = match &*kind.decode() {
        "progress" => member("data").and_then(|data| data.get("type")),
        "attachment" => member("attachment").and_then(|attachment| attachment.get("type")),
        "queue-operation" => member("operation"),
        "system" => member("subtype"),
        _ => None,
    };
    // A message is shown without its subtype.
    let wrapped = wrapped.filter(|_| !matches!(event.body, Body::Message(_)));
    [Some(kind), wrapped.and_then(|wrapped| wrapped.text())]
}
