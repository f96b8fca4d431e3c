//! Writes events as a stream. Prompts have no place in it, and are named as lost.
//!
//! ```text
//! in   a response with a text and a call, and its result
//! out  {"type":"thread.started","thread_id":..}
//!      {"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":..}}
//!      {"type":"item.completed","item":{"id":"t1","type":"command_execution",..,"status":"completed"}}
//! ```

mod call;
mod losses;

use std::collections::BTreeSet;

use core_model::{
    Block, Body, ByHash, Event, EventWriter, Facts, IdHasher, IdSet, LineId, LossKind, Message,
    Notice, NoticeKind, Options, Outcome, Output, Role, Status, Tokens,
};
use jsonl::Text;

use self::call::Call;
use super::item::Item;

/// Creates a writer of a stream.
pub(super) fn create(_options: &Options, facts: Facts) -> Box<dyn EventWriter> {
    Box::new(StreamWriter { facts, ..StreamWriter::default() })
}

/// The state between two events: the calls that wait for their results.
#[derive(Debug, Default)]
struct StreamWriter {
    facts: Facts,
    has_start: bool,
    /// The number of the next item that is no call.
    next_item: u64,
    /// The open calls, by the hashes of their ids.
    calls: ByHash<Call>,
    /// The number of calls that waited for their results.
    n_calls: u64,
    /// The numbers of the calls that wait.
    waiting: BTreeSet<u64>,
    /// The ids of calls without a result.
    started: IdSet,
    hasher: IdHasher,
}

impl EventWriter for StreamWriter {
    fn write(&mut self, event: &Event<'_>, out: &mut Output) {
        self.write_start(event, out);
        match &event.body {
            Body::Start(start) => out.drop_start(start),
            Body::Message(message) => self.write_message(event, message, out),
            Body::Notice(notice) if notice.kind == NoticeKind::Error => {
                self.write_error(event, notice, out);
            }
            Body::Outcome(outcome) => write_outcome(event, outcome, out),
            // An index entry repeats the tool use of a message.
            Body::ToolCall(call) if self.facts.is_called(&call.id.decode()) => {}
            _ => return out.lose_record(event),
        }
        losses::count_context(event, &self.facts, out);
        out.lose_members(event);
    }

    fn resume(&mut self, event: &Event<'_>, out: &mut Output) {
        self.has_start = true;
        if event.nth == 0 {
            self.flush_calls(out);
        }
        let Some(item) = Item::decode(event.value) else { return };
        let id = item.id.decode();
        let number = id.strip_prefix("item_").and_then(|number| number.parse::<u64>().ok());
        if let Some(number) = number {
            self.next_item = self.next_item.max(number.saturating_add(1));
        }
        let hash = self.hasher.hash(&*id);
        match item.tool_use().filter(|_| !item.is_completed) {
            Some(tool) => _ = self.calls.insert(hash, Call::of_item(&item, &tool)),
            None => _ = self.calls.remove(&hash),
        }
    }

    fn finish(&mut self, out: &mut Output) {
        self.flush_calls(out);
    }
}

impl StreamWriter {
    /// Writes the start of the thread, unless the output has it.
    fn write_start(&mut self, event: &Event<'_>, out: &mut Output) {
        if std::mem::replace(&mut self.has_start, true) {
            return;
        }
        let is_home = matches!(event.body, Body::Start(_));
        let line = if is_home { out.open() } else { out.open_derived() };
        out.put(line, "{\"type\":\"thread.started\",\"thread_id\":");
        match self.facts.session_id.as_deref().and_then(Text::new) {
            Some(id) => out.put_string(line, &id.decode()),
            None => {
                out.lose(LossKind::Invented, "session_id");
                let id = out.uuid(event, "session", 0);
                out.put_string(line, &id);
            }
        }
        out.put(line, "}");
        out.emit(line);
    }

    fn write_message(&mut self, event: &Event<'_>, message: &Message<'_>, out: &mut Output) {
        if message.block_counts().is_empty() {
            return out.lose_record(event);
        }
        out.drop_message(event, message);
        if !message.blocks().all(|(block, _)| is_writable(message.role, &block)) {
            // A line with a part of the message would say something else than the message.
            message.blocks().for_each(|(block, _)| losses::drop_block(message.role, &block, out));
            return out.lose_record(event);
        }
        for (block, _) in message.blocks() {
            match &block {
                Block::ToolUse(tool) => self.write_call(tool, out),
                Block::ToolResult(result) => self.write_result(result, out),
                Block::Text(text) => self.write_text("agent_message", *text, out),
                Block::Thinking { text, signature } => {
                    if signature.is_some_and(|signature| !signature.is_empty()) {
                        out.lose(LossKind::Dropped, "thinking.signature");
                    }
                    self.write_text("reasoning", *text, out);
                }
                // Such a message is not written.
                _ => {}
            }
        }
    }

    fn write_text(&mut self, kind: &str, text: Text<'_>, out: &mut Output) {
        let line = self.open_item(kind, out);
        out.put(line, ",\"text\":");
        out.copy_text(line, text);
        emit(line, out);
    }

    fn write_error(&mut self, event: &Event<'_>, notice: &Notice<'_>, out: &mut Output) {
        let Some(text) = notice.text.and_then(|text| text.as_text()) else {
            return out.lose_record(event);
        };
        losses::count_notice(notice, out);
        let line = self.open_item("error", out);
        out.put(line, ",\"message\":");
        out.copy_text(line, text);
        emit(line, out);
    }

    /// Opens the only line of an item that is no call, up to its type.
    fn open_item(&mut self, kind: &str, out: &mut Output) -> LineId {
        let line = out.open();
        let id = loop {
            let id = format!("item_{}", self.next_item);
            self.next_item = self.next_item.saturating_add(1);
            // A line with the id of an open call would end the call.
            if !self.calls.contains_key(&self.hasher.hash(&id)) && !self.started.contains(&id) {
                break id;
            }
        };
        out.lose(LossKind::Invented, "item.id");
        let head = "{\"type\":\"item.completed\",\"item\":{\"id\":\"";
        out.put_args(line, format_args!("{head}{id}\",\"type\":\"{kind}\""));
        line
    }
}

/// Returns whether a stream has a place for all of a block.
fn is_writable(role: Role, block: &Block<'_>) -> bool {
    match block {
        Block::Text(text) => role == Role::Assistant && !text.is_empty(),
        Block::Thinking { text, .. } => !text.is_empty(),
        Block::ToolUse(tool) => !tool.is_server,
        Block::ToolResult(result) => {
            result.content.blocks().all(|(block, _)| matches!(block, Block::Text(_)))
        }
        _ => false,
    }
}

/// Ends an item and emits its line.
fn emit(line: LineId, out: &mut Output) {
    out.put(line, "}}");
    out.emit(line);
}

fn write_outcome(event: &Event<'_>, outcome: &Outcome<'_>, out: &mut Output) {
    losses::count_outcome(outcome, out);
    let line = out.open();
    if outcome.status == Status::Success {
        out.put(line, "{\"type\":\"turn.completed\"");
        if let Some(usage) = outcome.usage.filter(|usage| usage.is_object()) {
            out.put(line, ",\"usage\":");
            if event.format == super::NAME {
                out.copy(line, usage.raw());
            } else {
                put_tokens(line, usage.tokens(), out);
            }
        }
        if outcome.result.is_some_and(|result| !result.is_null()) {
            out.lose(LossKind::Dropped, "result");
        }
    } else {
        if outcome.status != Status::Error {
            out.lose(LossKind::Flattened, event.vocabulary.status);
        }
        out.drop_if(outcome.usage.is_some_and(|usage| !usage.is_null()), "usage");
        out.put(line, "{\"type\":\"turn.failed\",\"error\":{\"message\":");
        match outcome.result.and_then(|result| result.as_text()) {
            Some(text) => out.copy_text(line, text),
            None => {
                out.touch(line);
                out.put(line, "\"\"");
            }
        }
        out.put(line, "}");
    }
    out.touch(line);
    out.put(line, "}");
    out.emit(line);
}

/// Writes tokens with the names of the stream, whose input includes the cache.
fn put_tokens(line: LineId, tokens: Tokens, out: &mut Output) {
    out.lose(LossKind::Flattened, "usage");
    let Tokens { input, output, cache_read, cache_creation } = tokens;
    let input = input.saturating_add(cache_read);
    out.put_args(
        line,
        format_args!(
            "{{\"input_tokens\":{input},\"cached_input_tokens\":{cache_read},\
             \"cache_write_input_tokens\":{cache_creation},\"output_tokens\":{output}}}"
        ),
    );
}
