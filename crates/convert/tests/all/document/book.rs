//! Two formats whose files are one JSON document each. They are in the tests alone.
//!
//! ```json
//! {
//!   "info": {"book": 1, "id": "s1", "cwd": "/home/ada"},
//!   "messages": [
//!     {"id": "m1", "role": "user", "time": "..", "content": [{"kind": "text", "text": "Hi"}]}
//!   ],
//!   "total": {"messages": 1}
//! }
//! ```
//!
//! `BOOK`'s client appends. `SHELF`'s client writes values anew, and keeps members that it does not
//! know in `meta` of texts, results and the head alone. So the carry is there.

use core_model::{
    Block, Body, Checker, Content, Context, CostPolicy, DocumentPart, Event, EventWriter, Facts,
    Field, Findings, Format, Formats, Framing, Functions, Input, LineId, LossKind, Message,
    Options, Output, Rewrites, Role, Start, ToolResult, ToolUse,
};
use jsonl::{Line, Value};

pub(super) static BOOK: Format = Format::new(
    "book",
    'B',
    "one JSON document, for tests",
    Functions {
        detect: |value| is_of(value, "book"),
        is_record: |value| is_of(value, "book"),
        read: |value| read(value, "book"),
        writer: |_: &Options, facts: Facts| Box::new(BookWriter { name: "book", facts, n: 0 }),
        checker: || Box::new(NoChecker),
    },
)
.framing(Framing::Document(&["messages", "agents[].messages"]))
.cost(CostPolicy::Cumulative);

pub(super) static SHELF: Format = Format::new(
    "shelf",
    'S',
    "one JSON document that its client rewrites, for tests",
    Functions {
        detect: |value| is_of(value, "shelf"),
        is_record: |value| is_of(value, "shelf"),
        read: |value| read(value, "shelf"),
        writer: |_: &Options, facts: Facts| Box::new(BookWriter { name: "shelf", facts, n: 0 }),
        checker: || Box::new(NoChecker),
    },
)
.framing(Framing::Document(&["messages", "agents[].messages"]))
.rewrites(Rewrites::Values { volatile: &["total", "info.seen", "info.updated"], mark: None })
.carry_places(&["content[].meta.convert", "info.meta.convert"])
.cost(CostPolicy::Cumulative);

pub(super) static FORMATS: Formats = Formats::new(&[
    &format_claude_code::FORMAT,
    &format_clido::FORMAT,
    &format_pi::FORMAT,
    &format_sdk_stream::DUMP,
    &format_sdk_stream::WIRE,
    &BOOK,
    &SHELF,
]);

fn is_of(value: Value<'_>, name: &str) -> bool {
    let info = value.get("info").unwrap_or(value);
    info.get(name).is_some_and(|version| version.raw().as_u64() == Some(1))
}

fn read<'l>(value: Value<'l>, name: &'static str) -> Event<'l> {
    let mut event = Event::other(name, value);
    if let Some(info) = value.get("info") {
        let [id, cwd, time] = info.get_all(["id", "cwd", "created"]);
        event.context = Context {
            session_id: id.and_then(|id| id.text()),
            cwd: cwd.and_then(|cwd| cwd.text()),
            time: time.map(|time| time.raw()),
            ..Context::default()
        };
        event.body = Body::Start(Start::default());
        return event;
    }
    let [id, role, time, content] = value.get_all(["id", "role", "time", "content"]);
    let role = match role.and_then(|role| role.text()).map(|role| role.decode()).as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        _ => return event,
    };
    event.context = Context {
        uuid: id.and_then(|id| id.text()),
        time: time.map(|time| time.raw()),
        ..Context::default()
    };
    event.body = Body::Message(Message::new(role, Content::new(content, block)));
    event
}

fn block(value: Value<'_>) -> Block<'_> {
    let [kind, text, id, name, input] = value.get_all(["kind", "text", "id", "name", "input"]);
    let kind = kind.and_then(|kind| kind.text());
    let other = Block::Other { kind, raw: value.raw() };
    let [text, id, name] = [text, id, name].map(|value| value.and_then(|value| value.text()));
    match (kind.map(|kind| kind.decode()).as_deref(), text, id, name, input) {
        (Some("text"), Some(text), ..) => Block::Text(text),
        (Some("thought"), Some(text), ..) => Block::Thinking { text, signature: None },
        (Some("call"), _, Some(id), Some(name), Some(input)) => Block::ToolUse(ToolUse {
            id,
            name: name.into(),
            input: Input::Json(input.raw()),
            is_server: false,
        }),
        (Some("result"), _, Some(id), ..) => {
            let output = Content::new(value.get("output"), block);
            Block::ToolResult(ToolResult::new(id, output, Field::Absent))
        }
        _ => other,
    }
}

/// Writes a head, a record for each message, and a tail with their number.
struct BookWriter {
    name: &'static str,
    facts: Facts,
    n: usize,
}

impl BookWriter {
    fn write_head(&mut self, out: &mut Output) {
        let line = out.open();
        let id = self.facts.session_id.as_deref().unwrap_or("null");
        let cwd = self.facts.cwd.as_deref().unwrap_or("null");
        let name = self.name;
        out.put_args(line, format_args!(r#"{{"info":{{"{name}":1,"id":{id},"cwd":{cwd}"#));
        self.mark(line, out);
        out.put(line, "}}");
        out.emit_as(line, DocumentPart::Head);
    }
}

impl BookWriter {
    /// Marks the end of an inner object as the place of the carry.
    fn mark(&self, line: LineId, out: &mut Output) {
        if self.name == "shelf" {
            out.mark_carry(line, r#","meta":{"convert":{"#, "}}");
        }
    }
}

impl EventWriter for BookWriter {
    fn write(&mut self, event: &Event<'_>, out: &mut Output) {
        if self.n == 0 {
            self.write_head(out);
        }
        let Some(message) = event.message() else {
            self.n = self.n.max(1);
            return out.lose_record(event);
        };
        self.n += 1;
        let line = out.open();
        let id = format!("m{}", self.n);
        let role = if message.role == Role::User { "user" } else { "assistant" };
        let name = self.name;
        out.put_args(line, format_args!(r#"{{"{name}":1,"id":"{id}","role":"{role}","#));
        if let Some(time) = event.context.time {
            out.put(line, r#""time":"#);
            out.put_raw(line, time);
            out.put(line, ",");
        }
        out.put(line, r#""content":["#);
        let mut comma = "";
        for (block, _) in message.blocks() {
            out.put(line, comma);
            comma = ",";
            match block {
                Block::Text(text) => {
                    out.put(line, r#"{"kind":"text","text":"#);
                    out.copy_text(line, text);
                    self.mark(line, out);
                    out.put(line, "}");
                }
                Block::Thinking { text, .. } => {
                    out.put(line, r#"{"kind":"thought","text":"#);
                    out.copy_text(line, text);
                    out.put(line, "}");
                }
                Block::ToolUse(call) => {
                    out.put(line, r#"{"kind":"call","id":"#);
                    out.put_raw(line, call.id.into());
                    out.put(line, r#","name":"#);
                    out.copy_tool_name(line, call.name);
                    out.put(line, r#","input":"#);
                    out.copy_input(line, call.input);
                    out.put(line, "}");
                }
                Block::ToolResult(result) => {
                    out.put(line, r#"{"kind":"result","id":"#);
                    out.put_raw(line, result.tool_use_id.into());
                    out.put(line, r#","output":"#);
                    match result.content {
                        Content::Text(text) => out.copy_text(line, text),
                        Content::Blocks(blocks) => out.put_string(line, blocks.raw().as_str()),
                        _ => out.put(line, "\"\""),
                    }
                    self.mark(line, out);
                    out.put(line, "}");
                }
                _ => {
                    out.lose(LossKind::Dropped, "block");
                    out.put(line, "null");
                }
            }
        }
        out.put(line, "]}");
        out.emit(line);
    }

    fn resume(&mut self, event: &Event<'_>, _: &mut Output) {
        self.n = self.n.max(1) + usize::from(event.message().is_some());
    }

    fn finish(&mut self, out: &mut Output) {
        if self.n > 0 {
            let line = out.open();
            out.put_args(line, format_args!(r#"{{"total":{{"messages":{}}}}}"#, self.n));
            out.emit_as(line, DocumentPart::Tail);
        }
    }
}

struct NoChecker;

impl Checker for NoChecker {
    fn line(&mut self, _: &Line<'_>, _: jsonl::Result<Value<'_>>, _: &mut Findings<'_>) {}

    fn finish(&mut self, _: &mut Findings<'_>) {}
}
