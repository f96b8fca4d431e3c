//! Reads events from lines, and detects the format of a line.
//!
//! In: `{"uuid":"u1","parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user",
//! "parts":[{"text":"Hi"}]},..}`. Out: an [`Event`] with a user's message, borrowed from the line.

use core_model::{
    Body, Content, Context, Event, Field, Message, Notice, NoticeKind, Role, Title, TitleRank,
    Usage, is_client_text,
};
use jsonl::{Raw, Value};

use crate::{
    NAME,
    part::{member, read_failed_part, read_part, read_usage},
    record::Record,
    unread::VOCABULARY,
};

/// The subtype of the lines that hold notices of other formats.
pub(crate) const NOTICE: &str = "notice";

/// Returns whether a line is Qwen Code's and of no other format. Claude Code's lines have the same
/// envelope, but their messages have a `content`.
///
/// ```
/// let mut scanner = jsonl::Scanner::default();
/// let line = br#"{"uuid":"u1","sessionId":"s","type":"user","message":{"parts":[]}}"#;
/// assert!(format_gemini::detect(scanner.scan_slice(line, 0)?));
/// # Ok::<(), jsonl::Error>(())
/// ```
pub fn detect(line: Value<'_>) -> bool {
    let (mut kind, mut has_session, mut has_parts, mut has_payload) = (None, false, false, false);
    let mut has_result = false;
    line.read_members(|key, value| {
        match key {
            b"type" => kind = value.text(),
            b"sessionId" => has_session = value.text().is_some(),
            b"message" => has_parts = value.get("parts").is_some(),
            b"systemPayload" => has_payload = true,
            b"toolCallResult" => has_result = true,
            _ => return false,
        }
        true
    });
    let Some(kind) = kind.filter(|_| has_session) else { return false };
    match &*kind.decode() {
        "user" | "assistant" => has_parts,
        "tool_result" => has_parts || has_result,
        "system" => has_payload,
        _ => false,
    }
}

/// Returns whether an object is a whole line. No object inside a line has a session.
pub(crate) fn is_record(value: Value<'_>) -> bool {
    detect(value)
}

/// Reads the first event of a line.
///
/// A line of the client without words, such as `ui_telemetry`, is [`Body::Other`].
pub fn read(line: Value<'_>) -> Event<'_> {
    let record = Record::decode(line);
    let mut event = Event::other(NAME, line);
    event.vocabulary = &VOCABULARY;
    event.context = Context {
        session_id: record.session_id,
        uuid: record.uuid,
        parent: record.parent_uuid,
        time: record.timestamp.map(Raw::from),
        cwd: record.cwd,
        version: record.version,
        git_branch: record.git_branch,
        is_sidechain: record.is_sidechain,
        agent_id: record.agent_id,
        ..Context::default()
    };
    event.body = match record.kind.map(|kind| kind.decode()).as_deref() {
        Some("user") => read_user(&record),
        Some("assistant") => read_response(&record),
        Some("tool_result") => read_result(&record),
        Some("system") => read_system(&record),
        _ => Body::Other,
    };
    event
}

/// Reads event `n` of a line: the messages that replace the ones before a compression.
pub(crate) fn read_more(line: Value<'_>, n: u32) -> Option<Event<'_>> {
    let history = Record::decode(line).compressed_history()?;
    let place = usize::try_from(n.checked_sub(1)?).ok()?;
    Some(read_kept(read(line), history.items().nth(place)?, place))
}

/// Calls `each` with the events of a line, as [`read_more`] returns them, until it returns false. Reads a long history
/// in one pass.
pub(crate) fn read_each<'l>(line: Value<'l>, each: &mut dyn FnMut(Event<'l>) -> bool) {
    let event = read(line);
    let history = Record::decode(line).compressed_history();
    if each(event)
        && let Some(history) = history
    {
        let kept = history.items().enumerate();
        _ = kept.map(|(place, message)| read_kept(event, message, place)).all(each);
    }
}

/// Reads a message that replaces ones before a compression, given the event of the line.
fn read_kept<'l>(mut event: Event<'l>, message: Value<'l>, place: usize) -> Event<'l> {
    (event.context.uuid, event.context.parent) = (None, Field::Absent);
    let content = Content::new(message.get("parts"), read_part);
    let is_by_model = member(message, "role").is_some_and(|role| role.is("model"));
    event.body = Body::Message(if is_by_model {
        Message::new(Role::Assistant, content)
    } else {
        // The first message is the summary; the others repeat messages from before.
        let is_summary = place == 0;
        Message { is_summary, is_meta: !is_summary, ..Message::new(Role::User, content) }
    });
    event
}

fn read_user<'l>(record: &Record<'l>) -> Body<'l> {
    let Some(parts) = record.parts() else { return Body::Other };
    let said = Message::new(Role::User, Content::new(Some(parts), read_part));
    let is_queued = record.subtype.is_some_and(|it| it.is("mid_turn_user_message"));
    let is_meta = !is_queued && record.subtype.is_some()
        || record.provenance.is_some_and(|it| it.is("system"))
        || said.first_text().is_some_and(is_client_text);
    Body::Message(Message { is_meta, is_queued, ..said })
}

fn read_response<'l>(record: &Record<'l>) -> Body<'l> {
    let Some(parts) = record.parts() else { return Body::Other };
    Body::Message(Message {
        model: record.model,
        usage: record.usage.map(|usage| Usage::new(usage, read_usage)),
        ..Message::new(Role::Assistant, Content::new(Some(parts), read_part))
    })
}

fn read_result<'l>(record: &Record<'l>) -> Body<'l> {
    let Some(parts) = record.parts() else { return Body::Other };
    let is_failed = is_failed(record);
    let content = Content::new(Some(parts), if is_failed { read_failed_part } else { read_part });
    let tool_use_result = record.tool_call_result.map(|result| result.raw());
    Body::Message(Message { tool_use_result, ..Message::new(Role::User, content) })
}

/// Returns whether the client says that the call failed or was stopped.
fn is_failed(record: &Record<'_>) -> bool {
    let status = record.tool_call_result.and_then(|result| member(result, "status"));
    status.is_some_and(|status| status.is("error") || status.is("cancelled"))
}

fn read_system<'l>(record: &Record<'l>) -> Body<'l> {
    if let Some(text) = record.title() {
        return Body::Title(Title { text, rank: TitleRank::User });
    }
    if record.compressed_history().is_some() {
        return Body::Notice(read_compression(record));
    }
    let is_notice = record.subtype.is_some_and(|subtype| subtype.is(NOTICE));
    record.payload.filter(|_| is_notice).and_then(read_notice).map_or(Body::Other, Body::Notice)
}

/// Reads the boundary of a compression.
fn read_compression<'l>(record: &Record<'l>) -> Notice<'l> {
    let info = record.payload.and_then(|payload| payload.get("info"));
    Notice {
        kind: NoticeKind::Compaction,
        subtype: record.subtype,
        about: None,
        text: None,
        trigger: info.and_then(|info| member(info, "triggerReason")),
        pre_tokens: info.and_then(|info| info.get("originalTokenCount")).map(|it| it.raw()),
    }
}

/// Reads a notice of another format, which a writer of this crate wrote.
fn read_notice(payload: Value<'_>) -> Option<Notice<'_>> {
    let kind = match &*member(payload, "kind")?.decode() {
        "compaction" => NoticeKind::Compaction,
        "error" => NoticeKind::Error,
        "warning" => NoticeKind::Warning,
        "info" => NoticeKind::Info,
        _ => return None,
    };
    Some(Notice {
        kind,
        subtype: member(payload, "subtype"),
        about: member(payload, "about"),
        text: member(payload, "text").map(Raw::from),
        trigger: member(payload, "trigger"),
        pre_tokens: payload.get("preTokens").map(|tokens| tokens.raw()),
    })
}
