//! Reads events from lines, and detects the format of a line.
//!
//! In: `{"type":"message","id":"1a2b3c4d","parentId":null,"message":{"role":"user","content":"Hi"}}`.
//! Out: an [`Event`] with a user's message, borrowed from the line.

use core_model::{
    Block, Body, Content, Context, Event, Field, Input, Message, Notice, NoticeKind, Origin,
    Relative, RelativeKind, Role, Start, Title, TitleRank, Tokens, ToolResult, ToolUse, Usage,
    is_client_text,
};
use jsonl::{Raw, Text, Value};

use crate::{
    NAME, PiMessage, Record,
    record::{Custom, Entry},
    unread::VOCABULARY,
};

/// The types of entries, besides `session`.
const KINDS: [&str; 11] = [
    "message",
    "model_change",
    "thinking_level_change",
    "compaction",
    "branch_summary",
    "custom",
    "custom_message",
    "label",
    "session_info",
    "usage",
    "context_edit",
];

/// The `customType` of the entries that hold notices of other formats.
pub(crate) const NOTICE: &str = "notice";

/// Returns whether a line is pi's and of no other format.
///
/// ```
/// let mut scanner = jsonl::Scanner::default();
/// let header = scanner.scan_slice(br#"{"type":"session","version":3,"id":"x1"}"#, 0)?;
/// assert!(format_pi::detect(header));
/// # Ok::<(), jsonl::Error>(())
/// ```
pub fn detect(line: Value<'_>) -> bool {
    let mut record = Found::default();
    line.read_members(|key, value| {
        match key {
            b"type" => record.kind = value.text(),
            b"id" => record.has_id = value.text().is_some(),
            b"parentId" => record.has_parent = value.is_null() || value.text().is_some(),
            b"message" => record.role = value.get("role").and_then(|role| role.text()),
            b"timestamp" => record.has_time = value.text().is_some(),
            b"data" => record.has_data = true,
            b"payload" | b"sessionId" | b"session_id" | b"uuid" | b"parentUuid" => {
                record.is_foreign = true;
            }
            _ => return false,
        }
        true
    });
    record.is_ours()
}

/// The members that tell the format of a line.
#[derive(Default)]
struct Found<'l> {
    kind: Option<Text<'l>>,
    role: Option<Text<'l>>,
    has_id: bool,
    has_parent: bool,
    has_time: bool,
    has_data: bool,
    is_foreign: bool,
}

impl Found<'_> {
    fn is_ours(&self) -> bool {
        let Some(kind) = self.kind.filter(|_| !self.is_foreign) else { return false };
        match &*kind.decode() {
            "session" => self.has_id && !self.has_data,
            // Version 1 has no ids.
            "message" => self.role.is_some() && (self.has_id || self.has_time || self.has_parent),
            kind => self.has_id && self.has_parent && KINDS.contains(&kind),
        }
    }
}

/// Returns whether an object is a whole line: its type or its id comes first, and no object inside
/// a line has both an id and a parent.
pub(crate) fn is_record(value: Value<'_>) -> bool {
    let first = value.members().next();
    first.is_some_and(|(key, _)| key.is("type") || key.is("id")) && detect(value)
}

/// Reads a line as an event.
///
/// An entry without content, such as `model_change`, is [`Body::Other`].
pub fn read(line: Value<'_>) -> Event<'_> {
    let record = Record::decode(line);
    let mut event = Event::other(NAME, line);
    event.vocabulary = &VOCABULARY;
    event.context.time = record.timestamp.map(Raw::from);
    if let Entry::Session(header) = record.entry {
        event.context = Context {
            session_id: record.id,
            cwd: header.cwd,
            time: event.context.time,
            ..Context::default()
        };
        event.body = Body::Start(Start { model: header.model_id, tools: None });
        return event;
    }
    event.context.uuid = record.id;
    event.context.parent = record.parent_id;
    event.body = match record.entry {
        Entry::Message(message) => read_message(&message),
        // One line is one event, so the boundary and its summary are the summary alone. The
        // notice of the boundary is the seam for a second event of this line.
        Entry::Compaction(compaction) => by_client(compaction.summary, |message| {
            message.is_summary = true;
        }),
        Entry::BranchSummary(summary) => by_client(summary, |message| message.is_meta = true),
        Entry::CustomMessage(content) => Body::Message(of_extension(content)),
        Entry::SessionInfo(Some(text)) if !text.is_blank() => {
            Body::Title(Title { text, rank: TitleRank::User })
        }
        Entry::Custom(custom) => read_custom(&custom),
        Entry::Session(_) | Entry::SessionInfo(_) | Entry::Other => Body::Other,
    };
    event
}

/// Creates a user's message that the client wrote.
fn by_client<'l>(text: Option<Text<'l>>, mark: impl FnOnce(&mut Message<'l>)) -> Body<'l> {
    let Some(text) = text else { return Body::Other };
    let mut message = Message::new(Role::User, Content::Text(text));
    mark(&mut message);
    Body::Message(message)
}

/// Creates the message of an extension, which pi sends as the user's.
fn of_extension(content: Option<Value<'_>>) -> Message<'_> {
    Message { is_meta: true, ..Message::new(Role::User, Content::new(content, read_block)) }
}

fn read_message<'l>(message: &PiMessage<'l>) -> Body<'l> {
    let Some(role) = message.role else { return Body::Other };
    match &*role.decode() {
        "user" => {
            let said = Message::new(Role::User, Content::new(message.content, read_block));
            let is_meta = said.first_text().is_some_and(is_client_text);
            Body::Message(Message { is_meta, ..said })
        }
        "assistant" => read_response(message),
        "toolResult" if message.tool_call_id.is_some() => {
            let content = Content::one(message.value, read_tool_result);
            let tool_use_result = message.details.map(|details| details.raw());
            Body::Message(Message { tool_use_result, ..Message::new(Role::User, content) })
        }
        "bashExecution" => read_command(message),
        "custom" | "hookMessage" => Body::Message(of_extension(message.content)),
        _ => Body::Other,
    }
}

fn read_response<'l>(message: &PiMessage<'l>) -> Body<'l> {
    let content = Content::new(message.content, read_block);
    let reason = message.stop_reason.map(|reason| reason.decode());
    let is_failed = matches!(reason.as_deref(), Some("error"));
    let is_aborted = matches!(reason.as_deref(), Some("aborted"));
    let is_empty = content.blocks().next().is_none();
    if is_empty && (is_failed || is_aborted) {
        return Body::Notice(Notice {
            kind: if is_failed { NoticeKind::Error } else { NoticeKind::Warning },
            subtype: message.stop_reason,
            about: None,
            text: message.error_message.map(Raw::from),
            trigger: None,
            pre_tokens: None,
        });
    }
    Body::Message(Message {
        id: message.response_id,
        model: message.model,
        stop_reason: message.stop_reason.map(api_reason),
        usage: message.usage.map(|usage| Usage::new(usage, tokens)),
        is_api_error: is_failed,
        ..Message::new(Role::Assistant, content)
    })
}

/// Returns the API's name for a reason to stop.
fn api_reason(reason: Text<'_>) -> Raw<'_> {
    let name = match &*reason.decode() {
        "stop" => "\"end_turn\"",
        "length" => "\"max_tokens\"",
        "toolUse" => "\"tool_use\"",
        // The response ended before the API named a reason.
        "error" | "aborted" => return Raw::NULL,
        _ => return Raw::from(reason),
    };
    Text::new(name).map_or(Raw::NULL, Raw::from)
}

/// Reads a command that the user ran: its words and its output are two texts. pi sends both as the
/// user's, unless the command was run without the model.
fn read_command<'l>(message: &PiMessage<'l>) -> Body<'l> {
    if message.is_excluded {
        return Body::Notice(Notice {
            kind: NoticeKind::Info,
            subtype: message.role,
            about: message.command,
            text: message.output.map(Raw::from),
            trigger: None,
            pre_tokens: None,
        });
    }
    let content = Content::after((message.value, read_words), message.value, read_output);
    Body::Message(Message { is_meta: true, ..Message::new(Role::User, content) })
}

fn read_words(message: Value<'_>) -> Block<'_> {
    member_text(message, "command")
}

fn read_output(message: Value<'_>) -> Block<'_> {
    member_text(message, "output")
}

fn member_text<'l>(message: Value<'l>, name: &str) -> Block<'l> {
    match text(message, name) {
        Some(text) => Block::Text(text),
        None => Block::Other { kind: None, raw: Raw::NULL },
    }
}

/// Reads a notice of another format, which a writer of this crate wrote.
fn read_custom<'l>(custom: &Custom<'l>) -> Body<'l> {
    let Some(data) = custom.data.filter(|_| custom.custom_type.is_some_and(|it| it.is(NOTICE)))
    else {
        return Body::Other;
    };
    let [kind, subtype, about, words] = data.get_all(["kind", "subtype", "about", "text"]);
    let text = |member: Option<Value<'l>>| member?.text();
    let kind = match text(kind).map(|kind| kind.decode()).as_deref() {
        Some("compaction") => NoticeKind::Compaction,
        Some("error") => NoticeKind::Error,
        Some("warning") => NoticeKind::Warning,
        Some("info") => NoticeKind::Info,
        _ => return Body::Other,
    };
    Body::Notice(Notice {
        kind,
        subtype: text(subtype),
        about: text(about),
        text: text(words).map(Raw::from),
        trigger: text(data.get("trigger")),
        pre_tokens: data.get("preTokens").map(|tokens| tokens.raw()),
    })
}

/// Reads a content block.
pub fn read_block(value: Value<'_>) -> Block<'_> {
    if let Some(text) = value.text() {
        return Block::Text(text);
    }
    let kind = text(value, "type");
    let block = match kind.map(|kind| kind.decode()).as_deref() {
        Some("text") => text(value, "text").map(Block::Text),
        Some("thinking") => read_thinking(value),
        Some("toolCall") => read_tool_call(value),
        Some("image") => text(value, "mimeType")
            .zip(text(value, "data"))
            .map(|(media_type, data)| (media_type.into(), data.into()))
            .map(|(media_type, data)| Block::Image { media_type, data }),
        _ => return Block::Other { kind, raw: value.raw() },
    };
    // The kind is left out: a block of pi's without its members is no block of the API either.
    block.unwrap_or(Block::Other { kind: None, raw: value.raw() })
}

fn read_thinking(value: Value<'_>) -> Option<Block<'_>> {
    let signature = text(value, "thinkingSignature");
    if value.get("redacted").and_then(|it| it.bool()) == Some(true) {
        return Some(Block::RedactedThinking { data: signature? });
    }
    Some(Block::Thinking { text: text(value, "thinking")?, signature })
}

fn read_tool_call(value: Value<'_>) -> Option<Block<'_>> {
    let [id, name, input] = value.get_all(["id", "name", "arguments"]);
    let (id, name, input) = (id?.text()?, name?.text()?, input?.raw());
    Some(Block::ToolUse(ToolUse {
        id,
        name: name.into(),
        input: Input::Json(input),
        is_server: false,
    }))
}

/// Reads the message of a tool result.
fn read_tool_result(message: Value<'_>) -> Block<'_> {
    let [id, content, is_error] = message.get_all(["toolCallId", "content", "isError"]);
    let Some(id) = id.and_then(|id| id.text()) else {
        return Block::Other { kind: None, raw: message.raw() };
    };
    let is_error = match is_error {
        None => Field::Absent,
        Some(is_error) => is_error.bool().map_or(Field::Null, Field::Value),
    };
    Block::ToolResult(ToolResult::new(id, Content::new(content, read_block), is_error))
}

fn text<'l>(value: Value<'l>, name: &str) -> Option<Text<'l>> {
    value.get(name)?.text()
}

/// Reads the counts of a response. The input is without the cache.
fn tokens(usage: Value<'_>) -> Tokens {
    let count = |name| usage.get(name).and_then(|count| count.raw().as_u64()).unwrap_or(0);
    Tokens {
        input: count("input"),
        output: count("output"),
        cache_read: count("cacheRead"),
        cache_creation: count("cacheWrite"),
    }
}

/// Returns the origin of an event. Ids have eight digits, so the time belongs to them. The first
/// line of a fork names the file of its parent, and a response has its cost.
pub(crate) fn origin<'l>(event: &Event<'l>) -> Origin<'l> {
    let parent = match &event.body {
        Body::Start(_) => event.value.get("parentSession").filter(|parent| parent.text().is_some()),
        _ => None,
    };
    let usage = event.message().and_then(|message| message.usage);
    let cost = usage.and_then(|usage| usage.value().get("cost")?.get("total"));
    Origin {
        id: event.context.uuid,
        is_local: true,
        response: None,
        copied_from: None,
        relative: parent.map(|parent| Relative {
            kind: RelativeKind::Parent,
            session: parent.raw(),
            n_records: None,
        }),
        cost: cost.map(|cost| cost.raw()),
    }
}
