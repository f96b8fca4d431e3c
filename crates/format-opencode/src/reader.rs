//! Reads events from records, and detects the format of a record.
//!
//! In: a response with the parts `text` and `tool`. Out: two events, the response with its tool use
//! and a user's message with the tool result, borrowed from the record.

use core_model::{
    Block, Body, Content, Context, Event, Field, Input, Message, Notice, NoticeKind, Role, Start,
    TextBody, Title, TitleRank, Tokens, ToolResult, ToolUse, Usage,
};
use jsonl::{Raw, Text, Value};

use crate::{
    NAME, Record,
    record::{MessageInfo, SessionInfo, is_type},
    unread::VOCABULARY,
};

/// The start of the titles that the client (1.18.33) gives to new sessions. A time follows.
const NO_TITLE: [&str; 2] = ["New session - ", "Child session - "];

/// The bytes of the time, also of one with another number of digits in its year.
const TIME: &[u8] = b"0123456789-+:.TZ";

/// Returns whether a record is OpenCode's and of no other format.
///
/// ```
/// let mut scanner = jsonl::Scanner::default();
/// let head = scanner.scan_slice(br#"{"info":{"id":"ses_1","slug":"a"},"messages":[]}"#, 0)?;
/// assert!(format_opencode::detect(head));
/// # Ok::<(), jsonl::Error>(())
/// ```
pub fn detect(record: Value<'_>) -> bool {
    let starts = |id: Option<Text<'_>>, start| id.is_some_and(|id| id.body().starts_with(start));
    match Record::decode(record) {
        Record::Session(session) => {
            let is_whole = record.get("messages").is_some();
            starts(session.id, "ses_") && (is_whole || session.value.get("slug").is_some())
        }
        Record::Message(message) => {
            message.role.is_some()
                && starts(message.id, "msg_")
                && starts(message.session_id, "ses_")
        }
        Record::Other => false,
    }
}

/// Returns whether an object is a whole record: no object inside one has both an `info` and parts.
pub(crate) fn is_record(value: Value<'_>) -> bool {
    detect(value)
}

/// Reads the first event of a record.
pub fn read(record: Value<'_>) -> Event<'_> {
    read_more(record, 0).unwrap_or_else(|| other(record))
}

/// Reads event `n` of a record; `None` past the last one.
///
/// A session has its start and its title. A message has the notice of its compaction, itself, notices of the
/// user's texts that are not sent, the results of its tools, and the notice of its error, as far as it has them.
pub fn read_more(record: Value<'_>, n: u32) -> Option<Event<'_>> {
    let n = n as usize;
    match Record::decode(record) {
        Record::Session(session) => read_session(record, &session, n),
        Record::Message(message) => read_message(record, &message, n),
        Record::Other => (n == 0).then(|| other(record)),
    }
}

/// Calls `each` with the events of a record, as [`read_more`] returns them, until it returns false.
pub(crate) fn read_each<'l>(record: Value<'l>, each: &mut dyn FnMut(Event<'l>) -> bool) {
    match Record::decode(record) {
        Record::Session(session) => {
            _ = (0..).map_while(|n| read_session(record, &session, n)).all(each);
        }
        Record::Message(message) => match message.parts.filter(|_| message.is_user()) {
            Some(parts) => {
                let start = message_start(record, &message);
                let mut bodies = bodies_of_user(&message, parts).enumerate().peekable();
                if bodies.peek().is_none() {
                    each(start);
                }
                _ = bodies.all(|(n, body)| each(event_of_user(start, n, body)));
            }
            None => _ = (0..).map_while(|n| read_message(record, &message, n)).all(each),
        },
        Record::Other => _ = each(other(record)),
    }
}

fn other(record: Value<'_>) -> Event<'_> {
    Event { vocabulary: &VOCABULARY, ..Event::other(NAME, record) }
}

fn read_session<'l>(record: Value<'l>, session: &SessionInfo<'l>, n: usize) -> Option<Event<'l>> {
    let mut event = other(record);
    event.context.session_id = session.id;
    event.context.time = session.created.map(|time| time.raw());
    if n == 0 {
        event.context.cwd = session.directory;
        event.context.version = session.version;
        event.body = Body::Start(Start::default());
        return Some(event);
    }
    let text = title(session).filter(|_| n == 1)?;
    event.body = Body::Title(Title { text, rank: TitleRank::Model });
    Some(event)
}

/// Returns the title of a session, unless the client gave it to a new one.
pub(crate) fn title<'l>(session: &SessionInfo<'l>) -> Option<Text<'l>> {
    session.title.filter(|title| !title.is_blank() && !is_of_new_session(title.body()))
}

/// Returns whether a title is one that the client gives to new sessions. It gives another one after the first prompt.
///
/// ```text
/// New session - 2025-11-12T13:55:00.000Z         true
/// New session - 2025-11-12T13:55:00.000Z, again  false
/// ```
fn is_of_new_session(title: &str) -> bool {
    let is_time = |rest: &str| rest.ends_with('Z') && rest.bytes().all(|byte| TIME.contains(&byte));
    NO_TITLE.iter().any(|start| title.strip_prefix(start).is_some_and(is_time))
}

/// Returns an event with the context of a message.
fn message_start<'l>(record: Value<'l>, message: &MessageInfo<'l>) -> Event<'l> {
    let mut event = other(record);
    event.context = Context {
        session_id: message.session_id,
        uuid: message.id,
        time: message.created.map(|time| time.raw()),
        cwd: message.cwd,
        ..Context::default()
    };
    event
}

/// Returns the events of a user's message: its compaction, its prompt, and texts that are not sent.
fn bodies_of_user<'l>(
    message: &MessageInfo<'l>,
    parts: Value<'l>,
) -> impl Iterator<Item = Body<'l>> + use<'l> {
    let compaction = message.parts().find(|part| is_type(*part, "compaction"));
    let prompt = message.parts().any(is_said);
    let bodies = [
        compaction.map(read_compaction),
        prompt.then(|| Body::Message(read_prompt(message, parts))),
    ];
    bodies.into_iter().flatten().chain(message.parts().filter_map(read_note))
}

/// Returns event `n` of a user's message.
fn event_of_user<'l>(start: Event<'l>, n: usize, body: Body<'l>) -> Event<'l> {
    let mut event = Event { body, ..start };
    if n > 0 && matches!(event.body, Body::Notice(_)) {
        // The id is the prompt's.
        event.context.uuid = None;
    }
    event
}

fn read_message<'l>(record: Value<'l>, message: &MessageInfo<'l>, n: usize) -> Option<Event<'l>> {
    let mut event = message_start(record, message);
    let Some(parts) = message.parts else { return (n == 0).then_some(event) };
    if message.is_user() {
        return match bodies_of_user(message, parts).nth(n) {
            Some(body) => Some(event_of_user(event, n, body)),
            None => (n == 0).then_some(event),
        };
    }
    if !message.role.is_some_and(|role| role.is("assistant")) {
        return (n == 0).then_some(event);
    }
    let is_said = message.parts().any(is_of_response);
    let has_results = message.parts().any(is_result);
    let bodies = [
        is_said.then(|| Body::Message(read_response(message, parts))),
        has_results.then(|| {
            let content = Content::some(parts, is_result, read_result);
            Body::Message(Message::new(Role::User, content))
        }),
        message.error.map(read_error),
    ];
    event.body = match bodies.into_iter().flatten().nth(n) {
        Some(body) => body,
        None if n == 0 => Body::Other,
        None => return None,
    };
    if n > 0 {
        // Results and errors have no id of their own, and come when the response is complete.
        event.context.uuid = None;
        event.context.time = message.completed.map(|time| time.raw()).or(event.context.time);
    }
    Some(event)
}

/// Returns whether a part is a block of the user's message. A text that is ignored is not sent.
fn is_said(part: Value<'_>) -> bool {
    is_type(part, "file") || is_type(part, "text") && !is_ignored(part)
}

/// Returns whether a text is not sent.
pub(crate) fn is_ignored(part: Value<'_>) -> bool {
    part.get("ignored").and_then(|it| it.bool()) == Some(true)
}

fn is_of_response(part: Value<'_>) -> bool {
    let kind = part.get("type").and_then(|kind| kind.text());
    kind.is_some_and(|kind| ["text", "reasoning", "tool", "file"].iter().any(|it| kind.is(it)))
}

/// Returns whether a part is a call with its result.
pub(crate) fn is_result(part: Value<'_>) -> bool {
    let status = || part.get("state")?.get("status")?.text();
    is_type(part, "tool") && status().is_some_and(|it| it.is("completed") || it.is("error"))
}

fn read_prompt<'l>(message: &MessageInfo<'l>, parts: Value<'l>) -> Message<'l> {
    let is_synthetic =
        |part: Value<'_>| part.get("synthetic").and_then(|it| it.bool()) == Some(true);
    let is_meta = message.parts().filter(|part| is_said(*part)).all(is_synthetic);
    Message { is_meta, ..Message::new(Role::User, Content::some(parts, is_said, read_part)) }
}

fn read_response<'l>(message: &MessageInfo<'l>, parts: Value<'l>) -> Message<'l> {
    let content = Content::some(parts, is_of_response, read_part);
    if message.is_summary {
        // Other clients have the summary in the role of the user.
        let is_text = |part: Value<'_>| is_type(part, "text");
        let content = Content::some(parts, is_text, read_part);
        return Message { is_summary: true, ..Message::new(Role::User, content) };
    }
    Message {
        id: message.id,
        model: message.model_id,
        stop_reason: message.finish.map(api_reason),
        usage: message.tokens.map(|tokens| Usage::new(tokens, count_tokens)),
        ..Message::new(Role::Assistant, content)
    }
}

/// Returns the API's name for a reason to stop.
fn api_reason(finish: Text<'_>) -> Raw<'_> {
    let name = match &*finish.decode() {
        "stop" => "\"end_turn\"",
        "tool-calls" => "\"tool_use\"",
        "length" => "\"max_tokens\"",
        _ => return Raw::from(finish),
    };
    Text::new(name).map_or(Raw::NULL, Raw::from)
}

fn count_tokens(tokens: Value<'_>) -> Tokens {
    let count = |name| tokens.get(name).and_then(|count| count.raw().as_u64()).unwrap_or(0);
    let cache = tokens.get("cache");
    let cached = |name| cache.and_then(|cache| cache.get(name)?.raw().as_u64()).unwrap_or(0);
    Tokens {
        input: count("input"),
        output: count("output").saturating_add(count("reasoning")),
        cache_read: cached("read"),
        cache_creation: cached("write"),
    }
}

fn read_compaction(part: Value<'_>) -> Body<'_> {
    let is_auto = part.get("auto").and_then(|auto| auto.bool());
    let trigger = is_auto.and_then(|auto| Text::new(if auto { "\"auto\"" } else { "\"manual\"" }));
    Body::Notice(Notice {
        kind: NoticeKind::Compaction,
        subtype: None,
        about: None,
        text: None,
        trigger,
        pre_tokens: None,
    })
}

/// Reads a text that is not sent, unless it is blank.
pub(crate) fn read_note(part: Value<'_>) -> Option<Body<'_>> {
    let is_note = is_type(part, "text") && is_ignored(part);
    let text = part.get("text").filter(|_| is_note)?.text().filter(|text| !text.is_blank())?;
    Some(Body::Notice(Notice {
        kind: NoticeKind::Info,
        subtype: None,
        about: None,
        text: Some(text.into()),
        trigger: None,
        pre_tokens: None,
    }))
}

fn read_error(error: Value<'_>) -> Body<'_> {
    let name = error.get("name").and_then(|name| name.text());
    let is_aborted = name.is_some_and(|name| name.is("MessageAbortedError"));
    let words = error.get("data").and_then(|data| data.get("message")?.text());
    Body::Notice(Notice {
        kind: if is_aborted { NoticeKind::Warning } else { NoticeKind::Error },
        subtype: name,
        about: None,
        text: words.map(Raw::from),
        trigger: None,
        pre_tokens: None,
    })
}

/// Reads a part as a block.
pub fn read_part(part: Value<'_>) -> Block<'_> {
    let kind = part.get("type").and_then(|kind| kind.text());
    let text = |name: &str| part.get(name).and_then(|text| text.text());
    let block = match kind.map(|kind| kind.decode()).as_deref() {
        Some("text") => text("text").map(Block::Text),
        Some("reasoning") => read_reasoning(part),
        Some("tool") => read_call(part),
        Some("file") => read_file(part),
        _ => None,
    };
    block.unwrap_or(Block::Other { kind, raw: part.raw() })
}

fn read_reasoning(part: Value<'_>) -> Option<Block<'_>> {
    let text = part.get("text")?.text()?;
    let metadata = part.get("metadata").and_then(|metadata| metadata.get("anthropic"));
    let member = |name: &str| metadata?.get(name)?.text();
    match member("redactedData") {
        Some(data) => Some(Block::RedactedThinking { data }),
        None => Some(Block::Thinking { text, signature: member("signature") }),
    }
}

fn read_call(part: Value<'_>) -> Option<Block<'_>> {
    let [id, name, state] = part.get_all(["callID", "tool", "state"]);
    let input = state?.get("input").map_or(Raw::NULL, |input| input.raw());
    Some(Block::ToolUse(ToolUse {
        id: id?.text()?,
        name: name?.text()?.into(),
        input: Input::Json(input),
        is_server: false,
    }))
}

/// Reads an image from its data URL: `data:image/png;base64,iVBO..`.
fn read_file(part: Value<'_>) -> Option<Block<'_>> {
    let url = part.get("url")?.text()?.body().strip_prefix("data:")?;
    let (media_type, data) = url.split_once(";base64,")?;
    media_type
        .starts_with("image/")
        .then(|| Block::Image { media_type: TextBody::new(media_type), data: TextBody::new(data) })
}

/// Reads the result in a part of a tool.
fn read_result(part: Value<'_>) -> Block<'_> {
    let [id, state] = part.get_all(["callID", "state"]);
    let (Some(id), Some(state)) = (id.and_then(|id| id.text()), state) else {
        return Block::Other { kind: None, raw: part.raw() };
    };
    let [output, error, attachments] = state.get_all(["output", "error", "attachments"]);
    let is_error = state.get("status").and_then(|it| it.text()).is_some_and(|it| it.is("error"));
    let content = match (attachments.filter(Value::is_array), output) {
        (Some(attachments), Some(output)) if !is_error => {
            Content::after((output, read_words), attachments, read_part)
        }
        _ => Content::new(if is_error { error } else { output }, read_part),
    };
    Block::ToolResult(ToolResult::new(id, content, Field::Value(is_error)))
}

fn read_words(output: Value<'_>) -> Block<'_> {
    match output.text() {
        Some(text) => Block::Text(text),
        None => Block::Other { kind: None, raw: output.raw() },
    }
}
