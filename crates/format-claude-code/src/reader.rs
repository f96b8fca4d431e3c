//! Reads events from lines, and detects the format of a line.
//!
//! In: `{"type":"user","uuid":"1","parentUuid":null,"message":{"role":"user","content":"Hi"},..}`.
//! Out: an [`Event`] whose body is a user's message with the text `Hi`, borrowed from the line.

mod attachment;
mod block;
mod kinds;
mod lineage;
mod unread;

use core_model::{
    Body, Content, Context, Event, Message, Notice, NoticeKind, Role, Title, TitleRank, Usage,
    is_client_text,
};
use jsonl::{Text, Value};

use self::{
    attachment::{attachment, is_of_others},
    block::{result_block, unsigned},
    kinds::OWN_KINDS,
    lineage::{agent_usage, continued_in, derived_from},
    unread::{VOCABULARY, unread},
};
pub(crate) use self::{block::block, lineage::origin};
use crate::{ApiMessage, NAME, Record};

/// Reads a line as an event.
pub fn read(line: Value<'_>) -> Event<'_> {
    let record = Record::new(line);
    let message = record.message.map(ApiMessage::new).unwrap_or_default();
    Event {
        format: NAME,
        value: line,
        nth: 0,
        has_next: false,
        kind: record.kind,
        context: context(&record, &message),
        body: body(line, &record, &message),
        vocabulary: &VOCABULARY,
        unread: unread(&record, &message),
    }
}

fn context<'l>(record: &Record<'l>, message: &ApiMessage<'l>) -> Context<'l> {
    let is_move = |_: &Text<'_>| record.kind.is_some_and(|kind| kind.is("relocated"));
    let moved = record.relocated_cwd.filter(is_move);
    Context {
        session_id: record.session_id,
        uuid: record.uuid,
        parent: record.parent_uuid,
        time: record.timestamp.or(message.timestamp),
        recorded: record.snapshot_time,
        cwd: moved.or(record.cwd),
        version: record.version,
        git_branch: record.git_branch,
        permission_mode: record.permission_mode,
        is_sidechain: record.is_sidechain,
        agent_id: record.agent_id,
        parent_tool_use: None,
    }
}

fn body<'l>(line: Value<'l>, record: &Record<'l>, message: &ApiMessage<'l>) -> Body<'l> {
    let Some(kind) = record.kind else { return Body::Other };
    match &*kind.decode() {
        "user" => Body::Message(said(Role::User, record, message)),
        "assistant" => Body::Message(said(Role::Assistant, record, message)),
        "tool_result" => Body::Message(lone_result(line, record)),
        "system" => match (record.unsigned_thinking, record.content) {
            (Some(thoughts), _) if has_subtype(record, "unsigned_thinking") => {
                Body::Message(thought(thoughts))
            }
            (_, Some(content)) if is_local_command(record) => Body::Message(local_command(content)),
            _ => Body::Notice(notice(record)),
        },
        "summary" => {
            let content = message.content.and_then(|content| content.text());
            title(record.summary.or(message.summary).or(content), TitleRank::Summary)
        }
        "ai-title" => title(record.ai_title, TitleRank::Model),
        "custom-title" => title(record.custom_title, TitleRank::User),
        "attachment" => record.attachment.map_or(Body::Other, attachment),
        "progress" => record.data.and_then(agent_usage).map_or(Body::Other, Body::Usage),
        "relocated" if record.relocated_cwd.is_some() => Body::Relocation,
        "continued-in" => record.continued_in.map_or(Body::Other, continued_in),
        "derived-from" => record.sessions.map_or(Body::Other, derived_from),
        _ => Body::Other,
    }
}

fn title(text: Option<Text<'_>>, rank: TitleRank) -> Body<'_> {
    text.map_or(Body::Other, |text| Body::Title(Title { text, rank }))
}

fn said<'l>(role: Role, record: &Record<'l>, message: &ApiMessage<'l>) -> Message<'l> {
    // Without `message`, the line itself may have the content.
    let content = if record.message.is_some() { message.content } else { record.content };
    let thoughts = record.unsigned_thinking.filter(|_| role == Role::Assistant);
    let words = Message::new(role, spoken(thoughts, content));
    let is_by_client = match role {
        Role::User => is_of_others(record.origin) || words.first_text().is_some_and(is_client_text),
        // The client shows such a message instead of a response, and never sends it.
        Role::Assistant => message.model.is_some_and(|model| model.is("<synthetic>")),
    };
    Message {
        // Some gateways write an empty id, which is no id: the client joins no messages by it.
        id: message.id.filter(|id| !id.is_empty()),
        model: message.model,
        stop_reason: message.stop_reason,
        stop_sequence: message.stop_sequence,
        usage: message.usage.or(record.usage).map(Usage::from),
        request_id: record.request_id,
        tool_use_result: record.tool_use_result,
        is_meta: record.is_meta || is_by_client,
        is_summary: record.is_compact_summary,
        is_api_error: record.is_api_error_message,
        ..words
    }
}

/// Returns the content of a message, preceded by its unsigned thinking.
fn spoken<'l>(thoughts: Option<Value<'l>>, content: Option<Value<'l>>) -> Content<'l> {
    match (thoughts, content) {
        (None, content) => Content::new(content, block),
        (Some(thoughts), Some(content)) if !content.is_null() => {
            Content::after((thoughts, unsigned), content, block)
        }
        (Some(thoughts), _) => Content::new(Some(thoughts), unsigned),
    }
}

/// Returns whether a `system` line has a subtype. `unsigned_thinking` holds thinking that no block followed.
fn has_subtype(record: &Record<'_>, name: &str) -> bool {
    record.subtype.is_some_and(|subtype| subtype.is(name))
}

/// Returns whether a line is a command of the client or its output.
fn is_local_command(record: &Record<'_>) -> bool {
    let is_text = record.content.is_some_and(|content| content.text().is_some());
    is_text && has_subtype(record, "local_command")
}

/// Reads a command of the client, such as `/model`, or its output. The client sends it to the model as a text of
/// the user (2.1.330).
fn local_command(content: Value<'_>) -> Message<'_> {
    Message { is_meta: true, ..Message::new(Role::User, Content::new(Some(content), block)) }
}

fn thought(thoughts: Value<'_>) -> Message<'_> {
    Message::new(Role::Assistant, Content::new(Some(thoughts), unsigned))
}

/// Reads a top-level `tool_result` line (FORMAT.md, "Described elsewhere").
fn lone_result<'l>(line: Value<'l>, record: &Record<'l>) -> Message<'l> {
    let holder = record.message.filter(|message| message.is_object()).unwrap_or(line);
    let content = Content::one(holder, result_block);
    Message { tool_use_result: record.tool_use_result, ..Message::new(Role::User, content) }
}

fn notice<'l>(record: &Record<'l>) -> Notice<'l> {
    let is = |text: Option<Text<'l>>, word: &str| text.is_some_and(|text| text.is(word));
    let kind = if is(record.subtype, "compact_boundary") {
        NoticeKind::Compaction
    } else if is(record.subtype, "api_error") || is(record.level, "error") {
        NoticeKind::Error
    } else if is(record.level, "warning") || is(record.level, "warn") {
        NoticeKind::Warning
    } else {
        NoticeKind::Info
    };
    let metadata = |name: &str| record.compact_metadata.and_then(|value| value.get(name));
    Notice {
        kind,
        subtype: record.subtype,
        about: None,
        text: record.content.or(record.error).map(|value| value.raw()),
        trigger: metadata("trigger").and_then(|trigger| trigger.text()),
        pre_tokens: metadata("preTokens").map(|tokens| tokens.raw()),
    }
}

/// Returns whether a line is in this format and in no other.
///
/// Refused are lines of a stream (`session_id` without the members of the log), of Codex
/// (`payload`), of Gemini (`projectHash`) and of Qwen Code (`message.parts`, `systemPayload`).
///
/// ```
/// let mut scanner = jsonl::Scanner::default();
/// let value = scanner.scan_slice(br#"{"type":"user","message":{"content":"hello"}}"#, 0)?;
/// assert!(format_claude_code::detect(value));
/// let value = scanner.scan_slice(br#"{"type":"user","message":{},"session_id":"s"}"#, 0)?;
/// assert!(!format_claude_code::detect(value));
/// # Ok::<(), jsonl::Error>(())
/// ```
pub fn detect(line: Value<'_>) -> bool {
    let mut kind = None;
    let (mut envelope, mut session, mut message, mut snake) = (false, false, false, false);
    let (mut snapshot, mut message_id, mut foreign) = (false, false, false);
    let mut qwen = false;
    line.read_members(|key, value| {
        match key {
            b"type" => kind = value.text(),
            b"parentUuid" | b"leafUuid" | b"isSidechain" => envelope = true,
            b"sessionId" => session = true,
            b"message" => {
                message = value.is_object();
                qwen |= value.get("parts").is_some();
            }
            b"systemPayload" => qwen = true,
            b"session_id" | b"parent_tool_use_id" => snake = true,
            b"snapshot" => snapshot = true,
            b"messageId" => message_id = true,
            b"payload" | b"projectHash" | b"messages" => foreign = true,
            _ => return false,
        }
        true
    });
    if qwen || foreign && !envelope {
        return false;
    }
    if envelope || snapshot && message_id || session && (kind.is_some() || message) {
        return true;
    }
    let Some(kind) = kind else { return false };
    let kind = kind.decode();
    let is_said = matches!(&*kind, "user" | "assistant" | "tool_result");
    !snake && (is_said && message || OWN_KINDS.contains(&&*kind))
}

/// Members that a line may begin with.
const FIRST_MEMBERS: [&str; 9] = [
    "parentUuid",
    "logicalParentUuid",
    "isSidechain",
    "type",
    "sessionId",
    "leafUuid",
    "messageId",
    "uuid",
    "timestamp",
];

/// Returns whether an object is a whole line. Objects inside a line have no type together with one
/// of these ids.
pub(crate) fn is_record(value: Value<'_>) -> bool {
    const IDS: [&str; 4] = ["sessionId", "parentUuid", "leafUuid", "messageId"];
    let first = value.members().next();
    first.is_some_and(|(key, _)| FIRST_MEMBERS.iter().any(|name| key.is(name)))
        && value.get("type").is_some_and(|kind| kind.text().is_some())
        && IDS.iter().any(|name| value.get(name).is_some())
}
