//! Reads and writes the stream that `codex exec --json` prints: one line for each item of a turn.
//!
//! In: `{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"ls",
//! "aggregated_output":"a.rs\n","exit_code":0,"status":"completed"}}`. Out: an event with a call of
//! `exec_command`, and an event with its result.
//!
//! A stream has no prompts, no times, no folder and no model.

mod item;
mod plan;
mod unread;
mod validate;
mod writer;

use core_model::{
    Body, Content, Context, Event, Field, Format, Functions, Message, Notice, NoticeKind, Outcome,
    Role, Start, Status, Tokens, Usage,
};
use jsonl::{Raw, Text, Value};

pub(crate) use self::validate::checker;
use self::{
    item::{Item, read_call, read_result, read_text, read_thinking},
    unread::VOCABULARY,
};

/// The name of the format.
const NAME: &str = "codex-stream";

/// The output of `codex exec --json`.
pub static STREAM: Format = Format::new(
    NAME,
    'j',
    "the output of codex exec --json",
    Functions {
        detect: detect_stream,
        is_record,
        read: read_stream,
        writer: writer::create,
        checker,
    },
)
.read_only()
.read_more(read_more)
.planner(|_| Box::<plan::Last>::default());

/// The types of lines, besides `error`, which other streams have too.
const KINDS: [&str; 7] = [
    "thread.started",
    "turn.started",
    "turn.completed",
    "turn.failed",
    "item.started",
    "item.updated",
    "item.completed",
];

/// Returns whether a line is of a stream.
///
/// ```
/// let mut scanner = jsonl::Scanner::default();
/// let line = scanner.scan_slice(br#"{"type":"thread.started","thread_id":"t"}"#, 0)?;
/// assert!(format_codex::detect_stream(line));
/// # Ok::<(), jsonl::Error>(())
/// ```
pub fn detect_stream(line: Value<'_>) -> bool {
    let kind = line.get("type").and_then(|kind| kind.text());
    kind.is_some_and(|kind| KINDS.iter().any(|name| kind.is(name)))
}

/// Returns whether an object is a whole line. No inner object of a line has one of the types.
fn is_record(value: Value<'_>) -> bool {
    detect_stream(value)
}

/// Reads the first event of a line.
pub fn read_stream(line: Value<'_>) -> Event<'_> {
    let mut event = Event::other(NAME, line);
    event.vocabulary = &VOCABULARY;
    let Some(kind) = event.kind else { return event };
    match &*kind.decode() {
        "thread.started" => {
            let session_id = text(line, "thread_id");
            event.context = Context { session_id, ..Context::default() };
            event.body = Body::Start(Start::default());
        }
        "turn.completed" => {
            let usage = line.get("usage").map(|usage| Usage::new(usage, tokens));
            event.body = Body::Outcome(Outcome { usage, ..Outcome::new(Status::Success) });
        }
        "turn.failed" => {
            let message = line.get("error").and_then(|error| text(error, "message"));
            event.body = Body::Outcome(Outcome {
                is_error: Field::Value(true),
                result: message.map(Raw::from),
                ..Outcome::new(Status::Error)
            });
        }
        "error" => {
            if let Some(message) = text(line, "message") {
                event.body = error(None, message);
            }
        }
        "item.started" | "item.updated" | "item.completed" => {
            if let Some(item) = Item::decode(line) {
                event.body = read_item(&item);
            }
        }
        _ => {}
    }
    event
}

/// Reads event `n` of a line, for `n` from 1: the result of a call.
fn read_more(line: Value<'_>, n: u32) -> Option<Event<'_>> {
    let item = Item::decode(line).filter(|item| n == 1 && item.is_answered())?;
    let content = Content::one(item.line, read_result);
    let mut event = Event::other(NAME, line);
    event.vocabulary = &VOCABULARY;
    event.body = Body::Message(Message::new(Role::User, content));
    Some(event)
}

fn read_item<'l>(item: &Item<'l>) -> Body<'l> {
    let message =
        |read| Body::Message(Message::new(Role::Assistant, Content::one(item.line, read)));
    match item.kind {
        item::Kind::AgentMessage => message(read_text),
        item::Kind::Reasoning => message(read_thinking),
        item::Kind::Error => match item.text("message") {
            Some(message) => error(Some(item.kind_text), message),
            None => Body::Other,
        },
        item::Kind::Other => Body::Other,
        _ if item.tool_use().is_some() => message(read_call),
        _ => Body::Other,
    }
}

fn error<'l>(subtype: Option<Text<'l>>, message: Text<'l>) -> Body<'l> {
    Body::Notice(Notice {
        kind: NoticeKind::Error,
        subtype,
        about: None,
        text: Some(Raw::from(message)),
        trigger: None,
        pre_tokens: None,
    })
}

fn text<'l>(value: Value<'l>, name: &str) -> Option<Text<'l>> {
    value.get(name)?.text()
}

/// Reads the tokens of a thread so far. The input includes the tokens from the cache.
fn tokens(usage: Value<'_>) -> Tokens {
    let count = |name| usage.get(name).and_then(|count| count.raw().as_u64()).unwrap_or(0);
    let cache_read = count("cached_input_tokens");
    Tokens {
        input: count("input_tokens").saturating_sub(cache_read),
        output: count("output_tokens"),
        cache_read,
        cache_creation: count("cache_write_input_tokens"),
    }
}
