//! Reads events from lines, and detects the format of a line.
//!
//! In: `{"type":"user.message","data":{"content":"Hi"},"id":"..","timestamp":"..","parentId":null}`.
//! Out: an [`Event`] with a user's message, borrowed from the line.

mod block;

use core_model::{
    Body, Content, Context, Event, Message, Notice, NoticeKind, Origin, ResponseUsage, Role, Start,
    Title, TitleRank, Tokens, Usage, is_client_text,
};
use jsonl::{Raw, Text, Value};

pub use self::block::read_block;
use self::block::{read_asset, read_attachment, read_call, read_result, read_thought, read_words};
use crate::{
    NAME,
    record::{Entry, NoticeEntry, NoticeSeverity, Record, text},
    unread::VOCABULARY,
};

/// The starts of the types of lines.
const KINDS: [&str; 9] = [
    "session.",
    "user.",
    "assistant.",
    "tool.",
    "system.",
    "subagent.",
    "hook.",
    "skill.",
    "permission.",
];

/// Returns whether a line is Copilot's and of no other format.
///
/// ```
/// let mut scanner = jsonl::Scanner::default();
/// let line = br#"{"type":"user.message","data":{"content":"Hi"},"id":"1","parentId":null}"#;
/// assert!(format_copilot::detect(scanner.scan_slice(line, 0)?));
/// # Ok::<(), jsonl::Error>(())
/// ```
pub fn detect(line: Value<'_>) -> bool {
    let (mut is_known, mut has_data, mut has_id, mut has_parent) = (false, false, false, false);
    line.read_members(|key, value| {
        match key {
            b"type" => {
                let kind = value.text().map(|kind| kind.decode());
                is_known = kind.is_some_and(|kind| is_kind(&kind));
            }
            b"data" => has_data = value.is_object(),
            b"id" => has_id = value.text().is_some(),
            b"parentId" => has_parent = value.is_null() || value.text().is_some(),
            _ => return false,
        }
        true
    });
    is_known && has_data && (has_id || has_parent)
}

fn is_kind(kind: &str) -> bool {
    kind == "abort" || KINDS.iter().any(|start| kind.starts_with(start))
}

/// Returns whether an object is a whole line: its type comes first, and no object inside a line has
/// both data and a parent.
pub(crate) fn is_record(value: Value<'_>) -> bool {
    let first = value.members().next();
    first.is_some_and(|(key, _)| key.is("type")) && detect(value)
}

/// Reads the first event of a line.
///
/// A line that only repeats others or describes the client is [`Body::Other`].
pub fn read(line: Value<'_>) -> Event<'_> {
    let record = Record::decode(line);
    let mut event = of_record(line, &record);
    event.context.uuid = record.id;
    event.context.parent = record.parent_id;
    event.body = match record.entry {
        Entry::Start(data) | Entry::Resume(data) => {
            read_place(data, &mut event.context);
            Body::Start(Start { model: text(data, "selectedModel"), tools: None })
        }
        Entry::ModelChange(data) => {
            Body::Start(Start { model: text(data, "newModel"), tools: None })
        }
        Entry::User(data) => Body::Message(read_user(data)),
        Entry::Assistant(data) => match thoughts(data) {
            Some(content) => Body::Message(response(data, content)),
            None => Body::Message(response(data, words(data))),
        },
        Entry::ToolComplete(data) => read_tool_complete(data),
        Entry::Usage(data) => match data.get("usage").filter(Value::is_object) {
            Some(usage) => Body::Usage(ResponseUsage {
                message_id: None,
                usage: Usage::new(usage, tokens),
                total: None,
            }),
            None => Body::Other,
        },
        Entry::Asset(data) if is_prompt_asset(data) => {
            let message = Message::new(Role::User, Content::one(data, read_asset));
            Body::Message(Message { is_meta: true, ..message })
        }
        Entry::Compaction(data) => read_compaction(data),
        Entry::Title(data) => match text(data, "title") {
            Some(text) if !text.is_blank() => Body::Title(Title { text, rank: TitleRank::User }),
            _ => Body::Other,
        },
        Entry::Notice(notice) => read_notice(&notice),
        Entry::Asset(_) | Entry::Other => Body::Other,
    };
    event
}

/// Reads the second event of a line: the words and the calls of a response after its thinking, or
/// the summary of a compaction.
pub(crate) fn read_more(line: Value<'_>, nth: u32) -> Option<Event<'_>> {
    let record = Record::decode(line);
    let message = match record.entry {
        Entry::Assistant(data) => {
            thoughts(data)?;
            response(data, words(data))
        }
        Entry::Compaction(data) => {
            let summary = summary(data)?;
            Message { is_summary: true, ..Message::new(Role::User, Content::Text(summary)) }
        }
        _ => return None,
    };
    let has_words = message.blocks().next().is_some();
    let mut event = of_record(line, &record);
    event.body = Body::Message(message);
    (nth == 1 && has_words).then_some(event)
}

/// Creates an event with the members that both events of a line have.
fn of_record<'l>(line: Value<'l>, record: &Record<'l>) -> Event<'l> {
    let mut event = Event::other(NAME, line);
    event.vocabulary = &VOCABULARY;
    event.context.time = record.timestamp.map(Raw::from);
    event.context.agent_id = record.agent_id;
    event.context.is_sidechain = record.agent_id.is_some();
    event
}

/// Reads the session and its place from the data of a start.
fn read_place<'l>(data: Value<'l>, context: &mut Context<'l>) {
    context.session_id = text(data, "sessionId");
    context.version = text(data, "copilotVersion");
    let place = data.get("context").filter(Value::is_object);
    context.cwd = place.and_then(|place| text(place, "cwd"));
    context.git_branch = place.and_then(|place| text(place, "branch"));
}

fn read_user(data: Value<'_>) -> Message<'_> {
    let [content, attachments, source] = data.get_all(["content", "attachments", "source"]);
    let words = content.and_then(|content| content.text());
    let attached = attachments.filter(|attachments| has_blob(*attachments));
    let content = match (words, attached) {
        (Some(words), None) => Content::Text(words),
        (Some(words), Some(attached)) if !words.is_empty() => {
            Content::after((data, read_words), attached, read_attachment)
        }
        (None, None) => Content::Absent,
        (_, attached) => Content::new(attached, read_attachment),
    };
    // A prompt of a sub-agent names the session that started it.
    let is_of_agent = |source: Text<'_>| source.body().starts_with("agent-");
    let source = source.and_then(|source| source.text()).filter(|it| !is_of_agent(*it));
    let message = Message::new(Role::User, content);
    let is_meta = source.is_some() || message.first_text().is_some_and(is_client_text);
    Message { is_meta, ..message }
}

/// Returns whether an attachment has its data in the message. Other files are only named.
pub(crate) fn has_blob(attachments: Value<'_>) -> bool {
    attachments.items().any(|attachment| attachment.get("data").is_some())
}

/// Returns the thinking of a response; `None` without any.
///
/// The blocks are the API's own. Without them, only the words are known.
fn thoughts(data: Value<'_>) -> Option<Content<'_>> {
    if let Some(blocks) = reasoning_blocks(data) {
        return Some(Content::new(Some(blocks), read_block));
    }
    let words = text(data, "reasoningText").filter(|words| !words.is_blank());
    words.map(|_| Content::one(data, read_thought))
}

/// Returns the API's blocks of thinking, if there are any.
pub(crate) fn reasoning_blocks(data: Value<'_>) -> Option<Value<'_>> {
    let blocks = data.get("reasoningBlocks")?.get("blocks")?;
    blocks.items().next().is_some().then_some(blocks)
}

/// Returns the text and the calls of a response.
fn words(data: Value<'_>) -> Content<'_> {
    let [content, calls] = data.get_all(["content", "toolRequests"]);
    let text = content.and_then(|content| content.text()).filter(|text| !text.is_empty());
    let calls = calls.filter(|calls| calls.items().next().is_some());
    match (text, calls) {
        (Some(text), None) => Content::Text(text),
        (Some(_), Some(calls)) => Content::after((data, read_words), calls, read_call),
        (None, Some(calls)) => Content::new(Some(calls), read_call),
        (None, None) => Content::Absent,
    }
}

/// Creates a message of a response. The API's id is shared by all of its lines.
fn response<'l>(data: Value<'l>, content: Content<'l>) -> Message<'l> {
    let [api, same, own, model] = data.get_all(["apiCallId", "responseId", "messageId", "model"]);
    let text = |member: Option<Value<'l>>| member?.text();
    Message {
        // A writer of this crate gives the later lines of a response `responseId`.
        id: text(api).or_else(|| text(same)).or_else(|| text(own)),
        model: text(model),
        ..Message::new(Role::Assistant, content)
    }
}

fn read_tool_complete(data: Value<'_>) -> Body<'_> {
    if text(data, "toolCallId").is_none() {
        return Body::Other;
    }
    let details = data.get("result").and_then(|result| result.get("detailedContent"));
    let message = Message::new(Role::User, Content::one(data, read_result));
    Body::Message(Message { tool_use_result: details.map(|it| it.raw()), ..message })
}

/// Returns whether an asset belongs to a prompt. An asset of a result has a description, and the
/// client does not send it when it goes on.
fn is_prompt_asset(data: Value<'_>) -> bool {
    text(data, "data").is_some()
        && text(data, "mimeType").is_some_and(|kind| kind.body().starts_with("image"))
        && data.get("description").is_none()
}

fn read_compaction(data: Value<'_>) -> Body<'_> {
    let is_failed = data.get("success").and_then(|success| success.bool()) == Some(false);
    let [error, trigger, tokens] = data.get_all(["error", "trigger", "preCompactionTokens"]);
    Body::Notice(Notice {
        kind: if is_failed { NoticeKind::Warning } else { NoticeKind::Compaction },
        subtype: None,
        about: None,
        text: error.map(|error| error.raw()),
        trigger: trigger.and_then(|trigger| trigger.text()),
        pre_tokens: tokens.map(|tokens| tokens.raw()),
    })
}

/// Returns the summary of a compaction that succeeded.
pub(crate) fn summary(data: Value<'_>) -> Option<Text<'_>> {
    let is_failed = data.get("success").and_then(|success| success.bool()) == Some(false);
    text(data, "summaryContent").filter(|summary| !is_failed && !summary.is_blank())
}

fn read_notice<'l>(notice: &NoticeEntry<'l>) -> Body<'l> {
    let data = notice.value;
    let (kind, subtype) = match notice.severity {
        NoticeSeverity::Info => (NoticeKind::Info, "infoType"),
        NoticeSeverity::Warning => (NoticeKind::Warning, "warningType"),
        NoticeSeverity::Error => (NoticeKind::Error, "errorType"),
        NoticeSeverity::Abort => (NoticeKind::Info, "reason"),
    };
    // The members after the first two are of notices of other formats.
    let [words, about, trigger, tokens, own] =
        data.get_all(["message", "about", "trigger", "preTokens", "kind"]);
    let as_text = |member: Option<Value<'l>>| member?.text();
    let is_compaction = as_text(own).is_some_and(|own| own.is("compaction"));
    Body::Notice(Notice {
        kind: if is_compaction { NoticeKind::Compaction } else { kind },
        subtype: text(data, subtype),
        about: as_text(about),
        text: words.map(|words| words.raw()),
        trigger: as_text(trigger),
        pre_tokens: tokens.map(|tokens| tokens.raw()),
    })
}

/// Reads the counts of a response. The input includes the cache.
pub(crate) fn tokens(usage: Value<'_>) -> Tokens {
    let count = |name| usage.get(name).and_then(|count| count.raw().as_u64()).unwrap_or(0);
    let (cache_read, cache_creation) = (count("cacheReadTokens"), count("cacheWriteTokens"));
    let input = count("inputTokens").saturating_sub(cache_read).saturating_sub(cache_creation);
    Tokens { input, output: count("outputTokens"), cache_read, cache_creation }
}

/// Returns the origin of an event. Ids are unique, and a count of tokens names its response.
pub(crate) fn origin<'l>(event: &Event<'l>) -> Origin<'l> {
    let response = match &event.body {
        Body::Usage(usage) => text(usage.usage.value(), "apiCallId"),
        _ => None,
    };
    Origin { response, ..Origin::by_uuid(event) }
}
