//! Reads events from the lines of a log, and detects them.
//!
//! In: `{"id":"g","type":"gemini","content":"Done.","toolCalls":[{"id":"t1","name":"ls","args":{},
//! "result":[{"functionResponse":{"id":"t1","name":"ls","response":{"output":"a"}}}]}]}`. Out: the
//! response with its call, and the result of the call in the role of the user.

use core_model::{
    Block, Body, Content, Context, Event, Field, Input, Message, Notice, NoticeKind, Role, Start,
    Title, TitleRank, Tokens, ToolResult, ToolUse, Usage, is_client_text,
};
use jsonl::{Raw, Text, Value};

use super::{
    NAME,
    record::{GeminiHeader, GeminiMessage, GeminiRecord, has_result},
    unread::VOCABULARY,
};
use crate::part::{member, read_part};

/// Returns whether a line is of a log of Gemini CLI and of no other format.
///
/// ```
/// let mut scanner = jsonl::Scanner::default();
/// for line in [r#"{"id":"a","type":"user","content":"q"}"#, r#"{"$rewindTo":"a"}"#] {
///     assert!(format_gemini::detect_gemini(scanner.scan_slice(line.as_bytes(), 0)?));
/// }
/// # Ok::<(), jsonl::Error>(())
/// ```
pub fn detect_gemini(line: Value<'_>) -> bool {
    match GeminiRecord::decode(line) {
        GeminiRecord::Header(_) | GeminiRecord::Set(_) | GeminiRecord::Rewind(_) => true,
        GeminiRecord::Message(message) => is_message(&message),
        GeminiRecord::Other => false,
    }
}

/// Returns whether a message has a type of the client's and a content.
pub(super) fn is_message(message: &GeminiMessage<'_>) -> bool {
    let kinds = ["user", "gemini", "info", "warning", "error"];
    message.content.is_some() && kinds.iter().any(|kind| message.is(kind))
}

/// Returns whether an object is a whole line. A message is not known to be one, because checkpoints have
/// messages inside.
pub(crate) fn is_record(value: Value<'_>) -> bool {
    !matches!(GeminiRecord::decode(value), GeminiRecord::Message(_)) && detect_gemini(value)
}

/// Reads the first event of a line.
pub fn read_gemini(line: Value<'_>) -> Event<'_> {
    read_nth(line, 0).unwrap_or_else(|| other(line))
}

/// Reads event `n` of a line: the results of a response's calls, or the messages of a checkpoint.
pub(crate) fn read_more(line: Value<'_>, n: u32) -> Option<Event<'_>> {
    read_nth(line, usize::try_from(n).ok()?)
}

/// Calls `each` with the events of a line, as [`read_more`] returns them, until it returns false. Reads a checkpoint of
/// many messages in one pass.
pub(crate) fn read_each<'l>(line: Value<'l>, each: &mut dyn FnMut(Event<'l>) -> bool) {
    let record = GeminiRecord::decode(line);
    let (messages, is_compacted) = match (&record, record.messages()) {
        (_, None) => {
            _ = (0..).map_while(|n| read_nth(line, n)).all(each);
            return;
        }
        (GeminiRecord::Set(_), Some(messages)) => (messages, is_compaction(messages)),
        (_, Some(messages)) => (messages, false),
    };
    let n_before = match &record {
        GeminiRecord::Header(header) => 1usize.saturating_add(header.title().is_some().into()),
        _ => usize::from(is_compacted),
    };
    let mut n_events = n_before;
    if !(0..n_before).filter_map(|n| read_nth(line, n)).all(&mut *each) {
        return;
    }
    for message in messages.items().filter_map(GeminiMessage::decode) {
        for n in 0..message.n_events() {
            let Some(event) = message_event(line, &message, n, is_compacted) else { return };
            n_events = n_events.saturating_add(1);
            if !each(event) {
                return;
            }
        }
    }
    if n_events == 0 {
        each(read_gemini(line));
    }
}

pub(super) fn other(line: Value<'_>) -> Event<'_> {
    Event { vocabulary: &VOCABULARY, ..Event::other(NAME, line) }
}

pub(super) fn read_nth(line: Value<'_>, n: usize) -> Option<Event<'_>> {
    let record = GeminiRecord::decode(line);
    match record {
        GeminiRecord::Message(message) => message_event(line, &message, n, false),
        GeminiRecord::Header(header) => {
            let start = || read_header(line, &header);
            match (n.checked_sub(1), header.title()) {
                (None, _) => Some(start()),
                (Some(0), Some(text)) => {
                    let body = Body::Title(Title { text, rank: TitleRank::Model });
                    Some(Event { body, context: Context::default(), ..start() })
                }
                (Some(n), title) => {
                    let n = n.checked_sub(usize::from(title.is_some()))?;
                    nth_of(line, header.messages?, n, false)
                }
            }
        }
        GeminiRecord::Set(set) => {
            let messages = record.messages();
            let compaction = messages.filter(|messages| is_compaction(*messages));
            match (compaction, n) {
                (Some(_), 0) => Some(Event {
                    body: Body::Notice(Notice {
                        kind: NoticeKind::Compaction,
                        subtype: None,
                        about: None,
                        text: None,
                        trigger: None,
                        pre_tokens: None,
                    }),
                    ..other(line)
                }),
                (Some(messages), _) => nth_of(line, messages, n.checked_sub(1)?, true),
                (None, _) => {
                    let message = messages.and_then(|messages| nth_of(line, messages, n, false));
                    message.or_else(|| (n == 0).then(|| read_set(line, set)))
                }
            }
        }
        GeminiRecord::Rewind(_) | GeminiRecord::Other => (n == 0).then(|| other(line)),
    }
}

/// Returns whether a checkpoint has the summary of what was before it.
pub(super) fn is_compaction(messages: Value<'_>) -> bool {
    messages.items().filter_map(GeminiMessage::decode).any(|message| is_summary(&message))
}

/// Returns whether a message of a checkpoint is the summary of a compaction: the client's own has
/// this tag.
fn is_summary(message: &GeminiMessage<'_>) -> bool {
    let has_tag = |text: Text<'_>| text.body().contains("<state_snapshot>");
    message.is("user")
        && (message.is_summary
            || message.parts().any(|part| {
                let text = part.text().or_else(|| member(part, "text"));
                text.is_some_and(has_tag)
            }))
}

/// Reads event `n` of an array of messages: each has one, and a second one if its calls have results.
fn nth_of<'l>(
    line: Value<'l>,
    messages: Value<'l>,
    n: usize,
    is_compacted: bool,
) -> Option<Event<'l>> {
    let mut left = n;
    for message in messages.items().filter_map(GeminiMessage::decode) {
        let n_events = message.n_events();
        match left.checked_sub(n_events) {
            None => return message_event(line, &message, left, is_compacted),
            Some(rest) => left = rest,
        }
    }
    None
}

fn read_header<'l>(line: Value<'l>, header: &GeminiHeader<'l>) -> Event<'l> {
    let mut event = other(line);
    event.context = Context {
        session_id: Some(header.session_id),
        time: header.start_time.map(Raw::from),
        cwd: header.directory(),
        ..Context::default()
    };
    event.body = Body::Start(Start::default());
    event
}

/// Reads new values of the session's members: a title, if it is one.
pub(super) fn read_set<'l>(line: Value<'l>, set: Value<'l>) -> Event<'l> {
    let title = member(set, "summary").filter(|title| !title.is_blank());
    let body =
        title.map_or(Body::Other, |text| Body::Title(Title { text, rank: TitleRank::Model }));
    Event { body, ..other(line) }
}

/// Reads event `n` of a message.
fn message_event<'l>(
    line: Value<'l>,
    message: &GeminiMessage<'l>,
    n: usize,
    is_compacted: bool,
) -> Option<Event<'l>> {
    let mut event = other(line);
    event.kind = message.kind;
    let time = message.timestamp.map(Raw::from);
    if n == 0 {
        event.context = Context { uuid: Some(message.id), time, ..Context::default() };
        event.body = read_message(message, is_compacted);
        return Some(event);
    }
    let first = message.answered().next().filter(|_| n == 1)?;
    let called = member(first, "timestamp").map(Raw::from);
    event.context = Context { time: called.or(time), ..Context::default() };
    let content = Content::some(message.tool_calls?, has_result, read_answer);
    event.body = Body::Message(Message::new(Role::User, content));
    Some(event)
}

fn read_message<'l>(message: &GeminiMessage<'l>, is_compacted: bool) -> Body<'l> {
    let kind = match message.kind.map(|kind| kind.decode()).as_deref() {
        Some("user") => return read_user(message, is_compacted),
        Some("gemini") => return read_response(message),
        Some("info") => NoticeKind::Info,
        Some("warning") => NoticeKind::Warning,
        Some("error") => NoticeKind::Error,
        _ => return Body::Other,
    };
    let more = |name| message.notice.and_then(|notice| member(notice, name));
    let is_compaction = more("kind").is_some_and(|kind| kind.is("compaction"));
    let text = message.content.filter(|content| content.text().is_none_or(|it| !it.is_empty()));
    Body::Notice(Notice {
        kind: if is_compaction { NoticeKind::Compaction } else { kind },
        subtype: more("subtype"),
        about: more("about"),
        text: text.map(|text| text.raw()),
        trigger: more("trigger"),
        pre_tokens: message.notice.and_then(|notice| notice.get("preTokens")).map(|it| it.raw()),
    })
}

/// Returns the content of a message: a part alone is one block.
fn content_of<'l>(message: &GeminiMessage<'l>) -> Content<'l> {
    match message.content {
        Some(content) if content.is_object() => Content::one(content, read_part),
        content => Content::new(content, read_part),
    }
}

fn read_user<'l>(message: &GeminiMessage<'l>, is_compacted: bool) -> Body<'l> {
    let said = Message::new(Role::User, content_of(message));
    let is_summary = message.is_summary || is_compacted && is_summary(message);
    // Behind a summary, the client repeats messages from before.
    let is_meta = !is_summary
        && (is_compacted
            || said.first_text().is_some_and(|it| is_context(it) || is_client_text(it)));
    Body::Message(Message { is_meta, is_summary, ..said })
}

/// Returns whether the client wrote a text before the user's: the folder, the date, the files.
pub(super) fn is_context(text: Text<'_>) -> bool {
    let body = text.body().trim_start();
    body.starts_with("<session_context>") || body.starts_with("<hook_context>")
}

fn read_response<'l>(message: &GeminiMessage<'l>) -> Body<'l> {
    let thoughts = message.thoughts.filter(|_| !message.has_thought_parts());
    let calls = message.tool_calls.filter(|_| !message.has_call_parts());
    let is_said = |content: &Value<'_>| content.text().is_none_or(|text| !text.is_blank());
    let content = match (message.content.filter(is_said), calls) {
        (Some(content), calls) => {
            let said = match thoughts {
                Some(thoughts) => Content::after((thoughts, read_thought), content, read_part),
                None => Content::one(content, read_part),
            };
            match calls {
                Some(calls) => said.followed_by(calls, read_tool_call),
                None => said,
            }
        }
        (None, Some(calls)) => match thoughts {
            Some(thoughts) => Content::after((thoughts, read_thought), calls, read_tool_call),
            None => Content::new(Some(calls), read_tool_call),
        },
        (None, None) => match thoughts {
            Some(thoughts) => Content::new(Some(thoughts), read_thought),
            None => content_of(message),
        },
    };
    Body::Message(Message {
        // Two lines of one response count its tokens once.
        id: Some(message.id),
        model: message.model,
        usage: message.tokens.map(|tokens| Usage::new(tokens, read_tokens)),
        ..Message::new(Role::Assistant, content)
    })
}

/// Reads a thought. Its subject is a heading that the client made.
fn read_thought(thought: Value<'_>) -> Block<'_> {
    let [subject, description] = thought.get_all(["subject", "description"]);
    let [subject, description] =
        [subject, description].map(|it| it?.text().filter(|text| !text.is_blank()));
    match description.or(subject) {
        Some(text) => Block::Thinking { text, signature: None },
        None => Block::Other { kind: None, raw: thought.raw() },
    }
}

/// Reads a call in `toolCalls`.
fn read_tool_call(call: Value<'_>) -> Block<'_> {
    let [id, name, args] = call.get_all(["id", "name", "args"]);
    let texts = id.and_then(|id| id.text()).zip(name.and_then(|name| name.text()));
    match texts {
        Some((id, name)) => {
            let input = Input::Json(args.map_or(Raw::EMPTY_OBJECT, |args| args.raw()));
            Block::ToolUse(ToolUse { id, name: name.into(), input, is_server: false })
        }
        None => Block::Other { kind: None, raw: call.raw() },
    }
}

/// Reads the result of a call in `toolCalls`.
fn read_answer(call: Value<'_>) -> Block<'_> {
    let [id, result, status] = call.get_all(["id", "result", "status"]);
    let (Some(id), Some(result)) = (id.and_then(|id| id.text()), result) else {
        return Block::Other { kind: None, raw: call.raw() };
    };
    let status = status.and_then(|status| status.text());
    let is_failed = status.is_some_and(|it| it.is("error") || it.is("cancelled"));
    let is_done = status.is_some_and(|it| it.is("success"));
    let mut responses = result.items().filter_map(|part| part.get("functionResponse"));
    let response = responses.next();
    let has_error = response.is_some_and(|it| {
        it.get("response").is_some_and(|response| response.get("error").is_some())
    });
    let is_error = match is_failed || has_error {
        true => Field::Value(true),
        false if is_done || response.is_some_and(has_output) => Field::Value(false),
        false => Field::Absent,
    };
    // One response may have its pictures in it, and not behind it.
    let alone = response.filter(|_| result.items().nth(1).is_none());
    let content = match (alone.map(|_| result.items().next().map(read_part)), result.text()) {
        (Some(Some(Block::ToolResult(read))), _) => read.content,
        (_, Some(text)) => Content::Text(text),
        _ if result.is_object() => Content::one(result, read_result_part),
        _ => Content::new(Some(result), read_result_part),
    };
    Block::ToolResult(ToolResult::new(id, content, is_error))
}

fn has_output(response: Value<'_>) -> bool {
    response.get("response").is_some_and(|response| response.get("output").is_some())
}

/// Reads a part of a result: the words of a response, or a picture beside it.
fn read_result_part(part: Value<'_>) -> Block<'_> {
    let Some(response) = part.get("functionResponse").and_then(|it| it.get("response")) else {
        return read_part(part);
    };
    let [output, error] = response.get_all(["output", "error"]);
    let words = error.or(output).unwrap_or(response);
    match words.text() {
        Some(text) => Block::Text(text),
        None => Block::Other { kind: None, raw: words.raw() },
    }
}

/// Reads the tokens of a response. The input contains the cache; the thoughts are beside the output if
/// the total says so.
fn read_tokens(tokens: Value<'_>) -> Tokens {
    let count = |name| tokens.get(name).and_then(|count| count.raw().as_u64()).unwrap_or(0);
    let (input, cached) = (count("input"), count("cached"));
    let (said, thought) = (count("output"), count("thoughts"));
    let is_beside = input.saturating_add(said).saturating_add(thought) <= count("total");
    Tokens {
        input: input.saturating_sub(cached),
        output: if is_beside { said.saturating_add(thought) } else { said },
        cache_read: cached,
        cache_creation: 0,
    }
}
