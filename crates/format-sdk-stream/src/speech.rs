//! Writes messages of other formats as lines of a stream.
//!
//! ```text
//! in   a prompt "Hi" at t
//! out  {"type": "user_message", "content": "Hi", "timestamp": "t"}
//! out  {"type":"user","message":{"role":"user","content":"Hi"},"parent_tool_use_id":null,..,"isReplay":true}
//! ```
//!
//! The first output is of the dump, the second of the wire.

use std::borrow::Cow;

use core_model::{
    Block, Content, Event, LossKind, Message, Output, Role, SdkVersion, Usage, iso_millis, millis,
};
use jsonl::{Raw, Text};

use crate::{
    block_writer::{blocks, lose_block},
    compose::Composer,
    record::Flavor,
    session::{Session, respelt},
    wire,
};

/// Flavor and version of the output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    pub(crate) flavor: Flavor,
    pub(crate) version: SdkVersion,
}

impl Manner {
    /// Returns whether the output is a dump of 0.1.6, which has the fewest members.
    pub(crate) fn is_old_dump(&self) -> bool {
        self.flavor == Flavor::Dump && self.version == SdkVersion::V0_1_6
    }
}

/// Writes a prompt. In a dump it is the orchestrator's line, with text and time only.
pub(crate) fn prompt(
    manner: Manner,
    event: &Event<'_>,
    message: &Message<'_>,
    start: Option<&str>,
    session: &Session,
    out: &mut Output,
) {
    let mut line = Composer::open(out);
    if manner.flavor == Flavor::Wire {
        line.string("type", "user");
        user(manner, &mut line, event, message);
        line.put("parent_tool_use_id", "null");
        session.put_known_id(&mut line);
        wire::uuid(&mut line, event);
        timestamp(&mut line, event);
        line.put("isReplay", "true");
        line.emit();
        return lose_envelope(manner, event, message, session, out);
    }
    line.string("type", "user_message");
    match message.content {
        Content::Text(text) => line.copy("content", Raw::from(text)),
        _ => {
            let texts = message.blocks().filter_map(|(block, _)| text_of(block));
            line.joined("content", texts);
            lose_all_but_text(&mut line, message);
        }
    }
    if event.context.time.is_some() {
        timestamp(&mut line, event);
    } else {
        line.put("timestamp", start.unwrap_or("\"1970-01-01T00:00:00Z\""));
        line.lose(LossKind::Invented, "timestamp");
    }
    if event.context.uuid.is_some() && !manner.is_old_dump() {
        line.lose(LossKind::Dropped, event.vocabulary.uuid);
    }
    line.emit();
    lose_envelope(manner, event, message, session, out);
}

fn text_of(block: Block<'_>) -> Option<Text<'_>> {
    match block {
        Block::Text(text) => Some(text),
        _ => None,
    }
}

fn lose_all_but_text(line: &mut Composer<'_>, message: &Message<'_>) {
    let mut n_texts = 0_usize;
    for (block, _) in message.blocks() {
        match block {
            Block::Text(_) => n_texts = n_texts.saturating_add(1),
            Block::Image { .. } => line.lose(LossKind::Dropped, "block.image"),
            Block::Other { kind, .. } => lose_block(line, LossKind::Dropped, kind),
            _ => line.lose(LossKind::Dropped, "block"),
        }
    }
    if n_texts > 1 {
        line.lose(LossKind::Flattened, "message.content");
    }
}

fn timestamp(line: &mut Composer<'_>, event: &Event<'_>) {
    let Some(time) = event.context.time else { return };
    match (time.as_text(), millis(time)) {
        (None, Some(millis)) => {
            line.string("timestamp", &iso_millis(millis));
            line.lose(LossKind::Flattened, "timestamp");
        }
        _ => line.raw("timestamp", time),
    }
}

/// Writes a message other than a prompt.
pub(crate) fn message(
    manner: Manner,
    event: &Event<'_>,
    message: &Message<'_>,
    session: &Session,
    out: &mut Output,
) {
    let made_up =
        (message.role == Role::Assistant && message.id.is_none() && manner.flavor == Flavor::Wire)
            .then(|| out.message_id(event, 0));
    let mut line = Composer::open(out);
    match (manner.flavor, message.role) {
        (Flavor::Wire, Role::User) => {
            line.string("type", "user");
            user(manner, &mut line, event, message);
            parent(&mut line, event);
            session.put_known_id(&mut line);
            wire::uuid(&mut line, event);
            timestamp(&mut line, event);
            if let Some(result) = tool_use_result(message) {
                line.copy("tool_use_result", result);
            }
            if message.is_meta || message.is_summary {
                line.put("isSynthetic", "true");
            }
        }
        (Flavor::Wire, Role::Assistant) => {
            line.string("type", "assistant");
            line.object("message");
            model(&mut line, message, session);
            match (message.id, made_up) {
                (Some(id), _) => line.raw("id", Raw::from(id)),
                (None, id) => {
                    line.string("id", id.as_deref().unwrap_or_default());
                    line.lose(LossKind::Invented, "message.id");
                }
            }
            line.string("type", "message");
            line.string("role", "assistant");
            blocks(manner, &mut line, event, message);
            line.raw("stop_reason", message.stop_reason.unwrap_or(Raw::NULL));
            line.raw("stop_sequence", message.stop_sequence.unwrap_or(Raw::NULL));
            if let Some(usage) = message.usage {
                put_usage(&mut line, usage);
            }
            line.end("}");
            parent(&mut line, event);
            session.put_known_id(&mut line);
            wire::uuid(&mut line, event);
            if message.is_api_error {
                line.string("error", "unknown");
            }
        }
        (Flavor::Dump, Role::User) => dumped_user(manner, &mut line, event, message),
        (Flavor::Dump, Role::Assistant) => {
            dumped_assistant(manner, &mut line, event, message, session);
        }
    }
    if message.is_api_error && !manner.is_old_dump() {
        line.lose(LossKind::Flattened, event.vocabulary.is_api_error);
    }
    line.emit();
    lose_envelope(manner, event, message, session, out);
}

fn dumped_user(manner: Manner, line: &mut Composer<'_>, event: &Event<'_>, message: &Message<'_>) {
    user_content(manner, line, event, message);
    if manner.is_old_dump() {
        return parent(line, event);
    }
    line.raw("uuid", event.context.uuid.map_or(Raw::NULL, Raw::from));
    parent(line, event);
    match tool_use_result(message) {
        Some(result) => line.copy("tool_use_result", result),
        None => line.put("tool_use_result", "null"),
    }
    line.put("origin", "null");
}

fn dumped_assistant(
    manner: Manner,
    line: &mut Composer<'_>,
    event: &Event<'_>,
    message: &Message<'_>,
    session: &Session,
) {
    blocks(manner, line, event, message);
    model(line, message, session);
    parent(line, event);
    if manner.is_old_dump() {
        return;
    }
    line.put("error", if message.is_api_error { "\"unknown\"" } else { "null" });
    match message.usage {
        Some(usage) => put_usage(line, usage),
        None => line.put("usage", "null"),
    }
    line.raw("message_id", message.id.map_or(Raw::NULL, Raw::from));
    line.raw("stop_reason", message.stop_reason.unwrap_or(Raw::NULL));
    session.put_known_id(line);
    line.raw("uuid", event.context.uuid.map_or(Raw::NULL, Raw::from));
    line.put("user_message_uuid", "null");
    line.put("user_message_uuids", "null");
}

fn user(manner: Manner, line: &mut Composer<'_>, event: &Event<'_>, message: &Message<'_>) {
    line.object("message");
    line.string("role", "user");
    user_content(manner, line, event, message);
    line.end("}");
}

fn user_content(manner: Manner, line: &mut Composer<'_>, event: &Event<'_>, message: &Message<'_>) {
    match message.content {
        Content::Text(text) => line.copy("content", Raw::from(text)),
        Content::Other(raw) => line.copy("content", raw),
        Content::Absent | Content::Blocks(_) => blocks(manner, line, event, message),
    }
}

/// Writes the tokens of a response with the API's names.
fn put_usage(line: &mut Composer<'_>, usage: Usage<'_>) {
    match usage.to_api_json() {
        Cow::Borrowed(_) => line.raw("usage", usage.raw()),
        Cow::Owned(usage) => {
            let usage = respelt(&usage, line.out.style());
            line.put("usage", &usage);
        }
    }
}

/// Writes the model of the message, else of the responses before it.
fn model(line: &mut Composer<'_>, message: &Message<'_>, session: &Session) {
    match (message.model, session.last_model()) {
        (Some(model), _) => line.raw("model", Raw::from(model)),
        (None, Some(model)) => line.put("model", model),
        // The SDK refuses a line without the member, and accepts null.
        (None, None) => line.put("model", "null"),
    }
}

fn parent(line: &mut Composer<'_>, event: &Event<'_>) {
    let parent = event.context.parent_tool_use.map_or(Raw::NULL, Raw::from);
    line.raw("parent_tool_use_id", parent);
}

fn tool_use_result<'l>(message: &Message<'l>) -> Option<Raw<'l>> {
    message.tool_use_result.filter(|result| result.as_str().starts_with('{'))
}

/// Counts the members of a message other than its content that the flavor has no place for.
fn lose_envelope(
    manner: Manner,
    event: &Event<'_>,
    message: &Message<'_>,
    session: &Session,
    out: &mut Output,
) {
    let is_dump = manner.flavor == Flavor::Dump;
    let is_old = manner.is_old_dump();
    lose_context(event, event.is_prompt() || !is_dump && message.role == Role::User, session, out);
    let names = event.vocabulary;
    let result = message.tool_use_result;
    for (is_lost, field) in [
        (message.request_id.is_some(), names.request_id),
        (message.is_meta && is_dump && message.role == Role::User, names.is_meta),
        (message.is_queued, "attachment"),
        (message.is_summary, "isCompactSummary"),
        (result.is_some() && (is_old || tool_use_result(message).is_none()), names.tool_use_result),
        (is_old && event.context.uuid.is_some(), "uuid"),
        (is_old && message.usage.is_some(), "usage"),
        (is_old && message.id.is_some(), names.message_id),
        (is_old && message.stop_reason.is_some(), "stop_reason"),
        (is_old && message.is_api_error, names.is_api_error),
        (is_dump && message.stop_sequence.is_some_and(|it| !it.is_null()), "stop_sequence"),
    ] {
        if is_lost {
            out.lose(LossKind::Dropped, field);
        }
    }
}

/// Counts the context of an event that a stream has no place for.
pub(crate) fn lose_context(
    event: &Event<'_>,
    keeps_time: bool,
    session: &Session,
    out: &mut Output,
) {
    let (context, names) = (&event.context, event.vocabulary);
    let is_other = |text: Option<Text<'_>>, shown: &Option<String>| {
        text.is_some_and(|text| shown.as_deref() != Some(text.as_str()))
    };
    for (is_lost, field) in [
        (context.time.is_some() && !keeps_time, names.time),
        (context.parent.value().is_some(), names.parent),
        (context.git_branch.is_some(), names.git_branch),
        (context.agent_id.is_some(), "agentId"),
        (is_other(context.cwd, &session.cwd), names.cwd),
        (is_other(context.version, &session.version), names.version),
        (context.session_id.is_some_and(|id| session.is_other(id)), names.session_id),
    ] {
        if is_lost {
            out.lose(LossKind::Dropped, field);
        }
    }
}
