//! Reads events from lines of either flavor.
//!
//! In: `{"content": [{"text": "4"}], "model": "m", "parent_tool_use_id": null}`. Out: an [`Event`]
//! with the assistant's text `4`, borrowed from the line.

use core_model::{
    Body, Content, Context, Event, Field, Message, Notice, NoticeKind, Outcome, Role, Shape, Start,
    Status, Usage, is_client_text,
};
use jsonl::{Raw, Text, Value};

use crate::{
    block::read_block,
    record::{Flavor, Record, RecordKind},
    unread::vocabulary,
};

/// Reads a line in a file of dumps. Lines of the wire in it are read too.
pub fn read(value: Value<'_>) -> Event<'_> {
    read_as(crate::DUMP.name, value)
}

/// Reads a line in a file of the wire. Dumped lines in it are read too.
pub fn read_wire(value: Value<'_>) -> Event<'_> {
    read_as(crate::WIRE.name, value)
}

fn read_as<'l>(format: &'static str, value: Value<'l>) -> Event<'l> {
    let record = Record::new(value);
    let [kind, session_id, uuid, parent_tool_use] =
        value.get_all(["type", "session_id", "uuid", "parent_tool_use_id"]);
    let as_text = |member: Option<Value<'l>>| member?.text();
    let mut context = Context {
        session_id: as_text(session_id),
        uuid: as_text(uuid),
        time: time(value),
        parent_tool_use: as_text(parent_tool_use),
        ..Context::default()
    };
    let body = match record.kind {
        RecordKind::Prompt => Body::Message(Message::new(Role::User, content(&record))),
        RecordKind::User => Body::Message(user(&record)),
        RecordKind::Assistant => Body::Message(assistant(&record)),
        RecordKind::System => {
            let said = record.system().unwrap_or(value);
            context.session_id = context.session_id.or_else(|| text(said, "session_id"));
            context.uuid = context.uuid.or_else(|| text(said, "uuid"));
            context.permission_mode = text(said, "permissionMode");
            system(&record, said, &mut context)
        }
        RecordKind::Result => Body::Outcome(outcome(value)),
        RecordKind::RateLimit => {
            let words = value.get("rate_limit_info").map(|info| info.raw());
            Body::Notice(warning("\"rate_limit_event\"", words))
        }
        RecordKind::ConversationReset => {
            let words = value.get("new_conversation_id").map(|id| id.raw());
            Body::Notice(warning("\"conversation_reset\"", words))
        }
        RecordKind::StreamEvent | RecordKind::Unknown => Body::Other,
    };
    Event {
        format,
        value,
        nth: 0,
        has_next: false,
        kind: as_text(kind),
        context,
        body,
        vocabulary: vocabulary(record.flavor),
        unread: Shape::default(),
    }
}

fn text<'l>(value: Value<'l>, name: &str) -> Option<Text<'l>> {
    value.get(name)?.text()
}

fn raw<'l>(value: Value<'l>, name: &str) -> Option<Raw<'l>> {
    value.get(name).filter(|member| !member.is_null()).map(|member| member.raw())
}

fn time(value: Value<'_>) -> Option<Raw<'_>> {
    raw(value, "timestamp").filter(|time| time.as_text().is_some() || time.as_f64().is_some())
}

fn content<'l>(record: &Record<'l>) -> Content<'l> {
    Content::new(record.content(), read_block)
}

/// Reads a `user` line. Text without `parent_tool_use_id` is a prompt, unless `isSynthetic` or an
/// `origin` that is not human marks it as the client's.
fn user<'l>(record: &Record<'l>) -> Message<'l> {
    let value = record.value;
    let is_synthetic = value.get("isSynthetic").and_then(|it| it.bool()).unwrap_or(false);
    let origin = value.get("origin").and_then(|origin| text(origin, "kind"));
    let message = Message::new(Role::User, content(record));
    Message {
        tool_use_result: raw(value, "tool_use_result"),
        is_meta: is_synthetic
            || origin.is_some_and(|kind| !kind.is("human"))
            || message.first_text().is_some_and(is_client_text),
        ..message
    }
}

fn assistant<'l>(record: &Record<'l>) -> Message<'l> {
    let value = record.value;
    let mut message = Message::new(Role::Assistant, content(record));
    message.is_api_error = text(value, "error").is_some();
    message.request_id = text(value, "request_id");
    let Some(inner) = record.message() else { return message };
    message.id = match record.flavor {
        Flavor::Dump => text(inner, "message_id"),
        Flavor::Wire => text(inner, "id"),
    };
    // Some gateways write an empty id, which is no id.
    message.id = message.id.filter(|id| !id.is_empty());
    message.model = text(inner, "model");
    message.is_meta = message.model.is_some_and(|model| model.is("<synthetic>"));
    message.stop_reason = raw(inner, "stop_reason");
    message.stop_sequence = raw(inner, "stop_sequence");
    message.usage = inner.get("usage").map(Usage::from);
    message
}

fn system<'l>(record: &Record<'l>, said: Value<'l>, context: &mut Context<'l>) -> Body<'l> {
    let subtype = text(record.value, "subtype");
    let is = |name| subtype.is_some_and(|subtype| subtype.is(name));
    if is("init") {
        context.cwd = text(said, "cwd");
        context.version = text(said, "claude_code_version");
        let tools = said.get("tools").filter(|tools| tools.is_array()).map(|tools| tools.raw());
        return Body::Start(Start { model: text(said, "model"), tools });
    }
    let metadata = said.get("compact_metadata");
    let level = text(said, "level");
    let level_is = |name| level.is_some_and(|level| level.is(name));
    let kind = if is("compact_boundary") {
        NoticeKind::Compaction
    } else if is("mirror_error") || level_is("error") {
        NoticeKind::Error
    } else if is("api_retry") || is("permission_denied") || level_is("warning") {
        NoticeKind::Warning
    } else {
        NoticeKind::Info
    };
    let words = ["content", "message", "text", "summary", "description", "error"];
    Body::Notice(Notice {
        kind,
        subtype,
        about: None,
        text: words.iter().find_map(|name| raw(said, name)),
        trigger: metadata.and_then(|metadata| text(metadata, "trigger")),
        pre_tokens: metadata.and_then(|metadata| raw(metadata, "pre_tokens")),
    })
}

fn warning<'l>(subtype: &'static str, words: Option<Raw<'l>>) -> Notice<'l> {
    Notice {
        kind: NoticeKind::Warning,
        subtype: Text::new(subtype),
        about: None,
        text: words,
        trigger: None,
        pre_tokens: None,
    }
}

fn outcome(value: Value<'_>) -> Outcome<'_> {
    let is_error = value.get("is_error");
    let mut outcome = Outcome::new(status(value));
    outcome.status_text = text(value, "subtype");
    outcome.is_error = match is_error {
        None => Field::Absent,
        Some(is_error) => is_error.bool().map_or(Field::Null, Field::Value),
    };
    outcome.cost = raw(value, "total_cost_usd");
    outcome.turns = raw(value, "num_turns");
    outcome.duration_ms = raw(value, "duration_ms");
    outcome.duration_api_ms = raw(value, "duration_api_ms");
    outcome.usage = value.get("usage").map(Usage::from);
    outcome.result = raw(value, "result");
    outcome.errors = raw(value, "errors");
    outcome
}

/// Returns how a run ended (FORMAT.md, "How a run ended").
fn status(value: Value<'_>) -> Status {
    let is_error = value.get("is_error").and_then(|it| it.bool()).unwrap_or(false);
    let api_status = raw(value, "api_error_status").and_then(|status| status.as_u64());
    if is_error && matches!(api_status, Some(429 | 529)) {
        return Status::RateLimited;
    }
    let subtype = text(value, "subtype").map(|subtype| subtype.decode());
    let reason = text(value, "terminal_reason").map(|reason| reason.decode());
    match subtype.as_deref() {
        Some("success") | None if !is_error => Status::Success,
        Some("error_max_turns") => Status::MaxTurns,
        Some("error_max_budget_usd") => Status::MaxBudget,
        _ if matches!(reason.as_deref(), Some("aborted_streaming" | "aborted_tools")) => {
            Status::Interrupted
        }
        _ => Status::Error,
    }
}
