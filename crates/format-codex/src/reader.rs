//! Reads events from lines, and detects the format of a line.
//!
//! In: `{"timestamp":"..","type":"response_item","payload":{"type":"message","role":"user",
//! "content":[{"type":"input_text","text":"Hi"}]}}`. Out: an [`Event`] with a user's message,
//! borrowed from the line.

mod block;

use core_model::{
    Block, Body, Content, Context, Event, Message, Notice, NoticeKind, Origin, Relative,
    RelativeKind, ResponseUsage, Role, Start, Title, TitleRank, Tokens, Usage, is_client_text,
};
use jsonl::{Raw, Text, Value};

pub(crate) use self::block::is_mcp;
pub use self::block::read_block;
use self::block::{read_call, read_output, read_picture, read_thinking, read_thought};
use crate::{
    NAME,
    record::{Compacted, Entry, Item, ItemKind, Record, is_old_header},
    unread::VOCABULARY,
};

/// The types of lines.
pub(crate) const KINDS: [&str; 9] = [
    "session_meta",
    "response_item",
    "event_msg",
    "turn_context",
    "compacted",
    "world_state",
    "token_usage_record",
    "inter_agent_communication",
    "inter_agent_communication_metadata",
];

/// Returns whether a line is Codex's and of no other format.
///
/// ```
/// let mut scanner = jsonl::Scanner::default();
/// let line = br#"{"timestamp":"x","type":"event_msg","payload":{"type":"task_started"}}"#;
/// assert!(format_codex::detect(scanner.scan_slice(line, 0)?));
/// # Ok::<(), jsonl::Error>(())
/// ```
pub fn detect(line: Value<'_>) -> bool {
    let (mut is_known, mut has_payload, mut is_foreign) = (false, false, false);
    let (mut has_type, mut is_state) = (false, false);
    line.read_members(|key, value| {
        match key {
            b"type" => {
                has_type = true;
                let kind = value.text().map(|kind| kind.decode());
                is_known = kind.is_some_and(|kind| KINDS.contains(&&*kind));
            }
            b"payload" => has_payload = value.is_object(),
            b"record_type" => is_state = true,
            b"sessionId" | b"parentUuid" | b"message" | b"uuid" => is_foreign = true,
            _ => return false,
        }
        true
    });
    let is_old = || !has_type && !has_payload && (is_state || is_old_header(line));
    !is_foreign && (is_known && has_payload || is_old())
}

/// Returns whether an object is a whole line: its time or its type comes first, and no object
/// inside a line has a payload.
pub(crate) fn is_record(value: Value<'_>) -> bool {
    let first = value.members().next();
    first.is_some_and(|(key, _)| key.is("timestamp") || key.is("type")) && detect(value)
}

/// Reads the first event of a line.
///
/// An event of the screen repeats an item of the history and is [`Body::Other`].
pub fn read(line: Value<'_>) -> Event<'_> {
    let record = Record::decode(line);
    let mut event = Event::other(NAME, line);
    event.vocabulary = &VOCABULARY;
    event.context.time = record.timestamp.map(Raw::from);
    event.body = match record.entry {
        Entry::SessionMeta(meta) => {
            event.context = Context {
                session_id: meta.id,
                cwd: meta.cwd,
                version: meta.cli_version,
                git_branch: meta.git_branch,
                time: event.context.time.or(meta.timestamp.map(Raw::from)),
                ..Context::default()
            };
            Body::Start(Start::default())
        }
        Entry::TurnContext(turn) => {
            event.context.cwd = turn.cwd;
            Body::Start(Start { model: turn.model, tools: None })
        }
        Entry::Item(item) => {
            event.context.uuid = item.text("id");
            read_item(&item)
        }
        Entry::Event(kind, payload) => read_event(kind, payload),
        Entry::Compacted(_) => Body::Notice(Notice {
            kind: NoticeKind::Compaction,
            subtype: record.payload.and_then(|it| it.get("subtype")?.text()),
            about: None,
            text: record.payload.and_then(|it| Some(it.get("text")?.raw())),
            trigger: record.payload.and_then(|it| it.get("trigger")?.text()),
            pre_tokens: record.payload.and_then(|it| Some(it.get("pre_tokens")?.raw())),
        }),
        Entry::Notice(payload) => read_notice(payload),
        Entry::Other => Body::Other,
    };
    event
}

/// Reads the second event of a line: the summary of a compaction.
pub(crate) fn read_more(line: Value<'_>, nth: u32) -> Option<Event<'_>> {
    let record = Record::decode(line);
    let Entry::Compacted(compacted) = record.entry else { return None };
    let content = summary(&compacted).filter(|_| nth == 1)?;
    let mut event = Event::other(NAME, line);
    event.vocabulary = &VOCABULARY;
    event.context.time = record.timestamp.map(Raw::from);
    let message = Message { is_summary: true, ..Message::new(Role::User, content) };
    event.body = Body::Message(message);
    Some(event)
}

/// Returns the summary of a compaction: the user's messages that replace the history, of which the last
/// one sums up the rest, or else the message. A compaction by the API encrypts its summary and keeps the
/// messages of the user.
pub(crate) fn summary<'l>(compacted: &Compacted<'l>) -> Option<Content<'l>> {
    let kept = compacted.replacement_history.and_then(|history| {
        let mut kept = history.items().filter(|item| is_kept(*item));
        match (kept.next()?, kept.next()) {
            (only, None) => Some(Content::new(only.get("content"), read_block)),
            _ => Some(Content::some(history, is_kept, read_kept)),
        }
    });
    let is_said = |content: &Content<'_>| content.blocks().next().is_some();
    let message = || compacted.message.filter(|text| !text.is_blank()).map(Content::Text);
    kept.filter(is_said).or_else(message)
}

/// Returns whether an item that replaces the history is a message of the user, and not of the client.
pub(crate) fn is_kept(item: Value<'_>) -> bool {
    let item = Item::decode(item);
    item.is_user_turn() && !is_by_client(&item)
}

/// Reads the first part of a message.
fn read_kept(item: Value<'_>) -> Block<'_> {
    let first = item.get("content").and_then(|content| content.items().next());
    read_block(first.unwrap_or(item))
}

/// Returns the origin of an event: the id of its item, and the session that a fork was made from.
pub(crate) fn origin<'l>(event: &Event<'l>) -> Origin<'l> {
    let relative = match event.body {
        Body::Start(_) => source_of_fork(event.value),
        _ => None,
    };
    Origin { relative, ..Origin::by_uuid(event) }
}

fn source_of_fork(line: Value<'_>) -> Option<Relative<'_>> {
    let Entry::SessionMeta(meta) = Record::decode(line).entry else { return None };
    let (kind, session, n_records) = match meta.history_base {
        Some(base) => (RelativeKind::Base, base.thread_id, base.end_ordinal),
        None => (RelativeKind::Parent, meta.value.get("forked_from_id")?.text()?, None),
    };
    Some(Relative { kind, session: Raw::from(session), n_records })
}

fn read_item<'l>(item: &Item<'l>) -> Body<'l> {
    let value = item.value;
    let of = |role, content| Body::Message(Message::new(role, content));
    match item.kind {
        ItemKind::Message => read_message(item),
        ItemKind::Reasoning => read_reasoning(value),
        ItemKind::FunctionCall
        | ItemKind::CustomToolCall
        | ItemKind::LocalShellCall
        | ItemKind::WebSearchCall
        | ItemKind::ToolSearchCall => {
            let content = Content::one(value, read_call);
            let is_call = |(block, _): (Block<'_>, Raw<'_>)| matches!(block, Block::ToolUse(_));
            if content.blocks().any(is_call) { of(Role::Assistant, content) } else { Body::Other }
        }
        ItemKind::ImageGenerationCall => of(Role::Assistant, Content::one(value, read_picture)),
        ItemKind::FunctionCallOutput
        | ItemKind::CustomToolCallOutput
        | ItemKind::ToolSearchOutput => match item.call_id() {
            Some(_) => of(Role::User, Content::one(value, read_output)),
            None => Body::Other,
        },
        ItemKind::AgentMessage => {
            let content = Content::new(value.get("content"), read_block);
            Body::Message(Message { is_meta: true, ..Message::new(Role::User, content) })
        }
        ItemKind::AdditionalTools
        | ItemKind::Compaction
        | ItemKind::GhostSnapshot
        | ItemKind::Other => Body::Other,
    }
}

fn read_message<'l>(item: &Item<'l>) -> Body<'l> {
    let content = Content::new(item.value.get("content"), read_block);
    match item.text("role").map(|role| role.decode()).as_deref() {
        Some("user") => {
            let first = item.texts().next();
            let is_meta = is_by_client(item) || first.is_some_and(is_client_text);
            Body::Message(Message { is_meta, ..Message::new(Role::User, content) })
        }
        Some("assistant") => Body::Message(Message::new(Role::Assistant, content)),
        // The vendor's instructions, which no other client has a place for.
        _ => Body::Other,
    }
}

/// The starts of texts that Codex writes in the user's role. The version is that of the first
/// session that has it.
const CLIENT_TEXTS: [&str; 14] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<skill>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<subagent_notification>",
    "<recommended_plugins>",
    "<permissions",
    "<model_switch>",
    "<skills_instructions>",
    "<collaboration_mode>",
    "<apps_instructions>",
    "<tools>",
];

/// Returns whether the client wrote a message in the user's role. Since 0.142 the message says it
/// of each part; before, all texts of the message have a start that only the client writes.
fn is_by_client(item: &Item<'_>) -> bool {
    let about = item.value.get("internal_chat_message_metadata_passthrough");
    let kinds = about.and_then(|about| about.get("content_item_kinds"));
    if let Some(kinds) = kinds.filter(|kinds| kinds.items().next().is_some()) {
        let is_of_user = |kind: Text<'_>| kind.body().starts_with("user.") || kind.is("unknown");
        let is_client = |kind: Value<'_>| kind.text().is_some_and(|kind| !is_of_user(kind));
        return kinds.items().all(is_client);
    }
    let is_client = |text: Text<'_>| {
        let body = text.body();
        CLIENT_TEXTS.iter().any(|start| body.starts_with(start))
    };
    let mut texts = item.texts().peekable();
    texts.peek().is_some() && texts.all(is_client)
}

/// Returns the part of a prompt that lists show; `None` if the client wrote the text.
pub(crate) fn prompt_preview(text: &str) -> Option<String> {
    let text = text.trim();
    // The client wraps images in texts.
    let is_frame = text.starts_with("<image name=") || text == "</image>" || text == "<image>";
    let is_client = CLIENT_TEXTS.iter().any(|start| text.starts_with(start));
    (!text.is_empty() && !is_frame && !is_client).then(|| text.to_owned())
}

/// Reads reasoning: the summary's parts, or else the reasoning itself. Encrypted reasoning has no
/// words.
fn read_reasoning(item: Value<'_>) -> Body<'_> {
    let [summary, content] = item.get_all(["summary", "content"]);
    let has_words = |array: &Value<'_>| {
        array.items().any(|part| matches!(read_thinking(part), Block::Thinking { .. }))
    };
    let [summary, content] = [summary, content].map(|array| array.filter(has_words));
    match summary.or(content) {
        Some(array) => {
            Body::Message(Message::new(Role::Assistant, Content::new(Some(array), read_thinking)))
        }
        None => Body::Other,
    }
}

fn read_event<'l>(kind: Option<Text<'l>>, payload: Value<'l>) -> Body<'l> {
    let Some(name) = kind.map(|kind| kind.decode()) else { return Body::Other };
    let notice = |kind, text: Option<Raw<'l>>| {
        let subtype = payload.get("type").and_then(|it| it.text());
        Body::Notice(Notice { kind, subtype, about: None, text, trigger: None, pre_tokens: None })
    };
    match &*name {
        "token_count" => read_usage(payload),
        // Only the writer of this crate writes the member `signature`: no item has the text.
        "agent_reasoning" if payload.get("signature").is_some() => {
            Body::Message(Message::new(Role::Assistant, Content::one(payload, read_thought)))
        }
        "turn_aborted" => {
            notice(NoticeKind::Info, payload.get("reason").map(|reason| reason.raw()))
        }
        "error" | "stream_error" => {
            notice(NoticeKind::Error, payload.get("message").map(|message| message.raw()))
        }
        "warning" => {
            notice(NoticeKind::Warning, payload.get("message").map(|message| message.raw()))
        }
        "task_complete" | "turn_complete" => {
            let error = payload.get("error").filter(|error| !error.is_null());
            match error {
                Some(error) => {
                    let message = error.get("message").unwrap_or(error);
                    notice(NoticeKind::Error, Some(message.raw()))
                }
                None => Body::Other,
            }
        }
        "thread_name_updated" => match payload.get("thread_name").and_then(|name| name.text()) {
            Some(text) if !text.is_blank() => Body::Title(Title { text, rank: TitleRank::User }),
            _ => Body::Other,
        },
        _ => Body::Other,
    }
}

/// Reads the tokens of the response before. A record without `info` has only rate limits.
fn read_usage(payload: Value<'_>) -> Body<'_> {
    let info = payload.get("info").filter(Value::is_object);
    let [last, total] =
        info.map_or([None; 2], |info| info.get_all(["last_token_usage", "total_token_usage"]));
    match last.filter(Value::is_object) {
        Some(last) => Body::Usage(ResponseUsage {
            message_id: None,
            usage: Usage::new(last, tokens),
            total: total.filter(Value::is_object).map(|total| Usage::new(total, tokens)),
        }),
        None => Body::Other,
    }
}

/// Reads the counts of a response. The input includes the cache, and the output the reasoning.
pub(crate) fn tokens(usage: Value<'_>) -> Tokens {
    let count = |name| usage.get(name).and_then(|count| count.raw().as_u64()).unwrap_or(0);
    let cache_read = count("cached_input_tokens");
    let cache_creation = count("cache_write_input_tokens");
    let input = count("input_tokens").saturating_sub(cache_read).saturating_sub(cache_creation);
    Tokens { input, output: count("output_tokens"), cache_read, cache_creation }
}

/// Reads a notice of another format, which a writer of this crate wrote.
fn read_notice(payload: Value<'_>) -> Body<'_> {
    let [kind, subtype, about, words] = payload.get_all(["kind", "subtype", "about", "text"]);
    let kind = kind.and_then(|kind| kind.text()).map(|kind| kind.decode());
    let kind = match kind.as_deref() {
        Some("compaction") => NoticeKind::Compaction,
        Some("error") => NoticeKind::Error,
        Some("warning") => NoticeKind::Warning,
        Some("info") => NoticeKind::Info,
        _ => return Body::Other,
    };
    Body::Notice(Notice {
        kind,
        subtype: subtype.and_then(|it| it.text()),
        about: about.and_then(|it| it.text()),
        text: words.map(|it| it.raw()),
        trigger: payload.get("trigger").and_then(|it| it.text()),
        pre_tokens: payload.get("pre_tokens").map(|it| it.raw()),
    })
}
