//! Writes events as a session that Codex loads, lists and continues: a legacy file whose first line
//! is a `session_meta`.
//!
//! ```text
//! in   a prompt, and a response with a text
//! out  {"timestamp":..,"type":"session_meta","payload":{"id":..,"cwd":..,"source":"cli",..}}
//!      {"timestamp":..,"type":"event_msg","payload":{"type":"task_started","turn_id":..}}
//!      {"timestamp":..,"type":"response_item","payload":{"type":"message","role":"user",..}}
//!      {"timestamp":..,"type":"event_msg","payload":{"type":"user_message",..}}
//!      {"timestamp":..,"type":"event_msg","payload":{"type":"agent_message",..}}
//!      {"timestamp":..,"type":"response_item","payload":{"type":"message","role":"assistant",..}}
//!      {"timestamp":..,"type":"event_msg","payload":{"type":"task_complete","turn_id":..}}
//! ```

mod assistant;
mod calls;
mod compaction;
mod header;
mod lines;
mod losses;
mod notice;
mod part;
mod usage;
mod user;

use core_model::{
    Block, Body, Event, EventWriter, Facts, IdHasher, KnownTitle, LineId, Message, Options, Output,
    Role, Title, uuid_of_name,
};
use jsonl::Text;

use self::{calls::Calls, compaction::Boundary, lines::Clock, usage::Tally};
use crate::record::{Entry, Record};

/// Creates a writer of a session.
pub(crate) fn create(_options: &Options, facts: Facts) -> Box<dyn EventWriter> {
    Box::new(SessionWriter { facts, ..SessionWriter::default() })
}

/// The state between two events.
#[derive(Debug, Default)]
struct SessionWriter {
    facts: Facts,
    has_meta: bool,
    /// The id of the session in the output.
    thread_id: String,
    /// The git branch in the first line, a JSON string.
    git_branch: Option<String>,
    clock: Clock,
    /// The turn that is open.
    turn: Option<Turn>,
    /// The number of prompts so far.
    n_turns: usize,
    calls: Calls,
    tally: Tally,
    /// The boundary of a compaction whose summary follows.
    boundary: Option<Boundary>,
    /// The last title in the output.
    title: KnownTitle,
    /// Whether a title was read.
    has_new_title: bool,
    hasher: IdHasher,
    /// The number of lines before the first prompt.
    n_head: usize,
    has_prompt: bool,
    /// The number of the next line in a paginated output: 0.169 refuses a session whose last line
    /// has none.
    next_ordinal: Option<u64>,
    /// Whether a line was written since the last resumed line.
    is_dirty: bool,
}

/// A turn: a prompt with all that answers it.
#[derive(Debug)]
struct Turn {
    id: String,
    /// The text of the last response, a JSON string.
    last_text: Option<String>,
}

impl EventWriter for SessionWriter {
    fn write(&mut self, event: &Event<'_>, out: &mut Output) {
        self.write_meta(event, out);
        match &event.body {
            Body::Start(start) => losses::count_start(event, start, out),
            Body::Message(message) => self.write_message(event, message, out),
            Body::Notice(notice) => self.write_notice(event, notice, out),
            Body::Outcome(outcome) => self.write_outcome(event, outcome, out),
            Body::Title(title) => {
                self.has_new_title = true;
                if !self.facts.has_title_text(title.text) {
                    return out.lose_record(event);
                }
                self.write_title(event, title, out);
            }
            // An index entry repeats the tool use of a message.
            Body::ToolCall(call) if self.facts.is_called(&call.id.decode()) => {}
            // An event without words has no line, and is kept in the carry.
            _ => return out.lose_record(event),
        }
        self.count_context(event, out);
        out.lose_members(event);
    }

    fn learn(&mut self, facts: &Facts) -> bool {
        let is_same = self.facts.has_head_of(facts)
            && (!self.has_new_title || self.facts.title == facts.title);
        self.facts.title.clone_from(&facts.title);
        is_same
    }

    fn resume(&mut self, event: &Event<'_>, out: &mut Output) {
        self.flush(out);
        self.is_dirty = false;
        self.turn = None;
        self.clock.resume(&event.context);
        let record = Record::decode(event.value);
        if let (false, Entry::SessionMeta(meta)) = (self.has_meta, &record.entry) {
            self.next_ordinal = meta.is_paginated.then_some(0);
        }
        if let (Some(next), Some(ordinal)) = (&mut self.next_ordinal, record.ordinal) {
            *next = ordinal.saturating_add(1);
        }
        match &event.body {
            Body::Start(_) => {
                if let Some(id) = event.context.session_id.filter(|_| !self.has_meta) {
                    self.thread_id = id.decode().into_owned();
                }
                self.has_meta = true;
            }
            Body::Title(title) => self.title.set(title.text.as_str()),
            Body::Message(message) => {
                self.n_turns = self.n_turns.saturating_add(usize::from(message.is_prompt()));
                self.has_prompt |= message.is_prompt();
                for (block, _) in message.blocks() {
                    if let Block::ToolUse(tool) = block {
                        self.calls.resume(event, &tool.id.decode());
                    }
                }
            }
            Body::Usage(usage) => self.tally.resume(usage),
            _ => {}
        }
        if let Entry::Event(Some(kind), _) = &record.entry {
            self.has_prompt |= kind.is("user_message");
        }
    }

    fn finish(&mut self, out: &mut Output) {
        self.flush(out);
        self.end_turn(out);
        let title = self.facts.title.take();
        if let (true, Some((_, title))) = (self.is_dirty, &title)
            && !self.title.is(title)
            && let Some(title) = Text::new(title)
        {
            self.put_title(title, out);
        }
        self.facts.title = title;
        self.is_dirty = false;
    }
}

impl SessionWriter {
    fn write_message(&mut self, event: &Event<'_>, message: &Message<'_>, out: &mut Output) {
        if message.block_counts().is_empty() {
            return out.lose_record(event);
        }
        losses::count_message(event, message, out);
        self.is_dirty = true;
        if message.role == Role::Assistant && !self.has_prompt && !self.facts.has_prompt() {
            self.put_placeholder_prompt(out);
        }
        match message.role {
            Role::Assistant if message.is_by_client() => {
                self.write_failed(event, message, out);
            }
            Role::Assistant => self.write_assistant(event, message, out),
            Role::User => self.write_user(event, message, out),
        }
    }

    /// Writes the title of the session, unless the output has it.
    fn write_title(&mut self, event: &Event<'_>, title: &Title<'_>, out: &mut Output) {
        out.drop_time(event);
        if !self.title.is(title.text.as_str()) {
            self.is_dirty = true;
            self.put_title(title.text, out);
        }
    }

    fn put_title(&mut self, title: Text<'_>, out: &mut Output) {
        self.title.set(title.as_str());
        let line = self.open_derived("event_msg", out);
        out.put(line, "\"type\":\"thread_name_updated\",\"thread_id\":");
        out.put_string(line, &self.thread_id);
        out.put(line, ",\"thread_name\":");
        out.put_string(line, &title.decode());
        self.close(line, out);
    }

    /// Starts a turn.
    fn start_turn(&mut self, out: &mut Output) {
        self.end_turn(out);
        self.n_turns = self.n_turns.saturating_add(1);
        // The id must be the same if the session is converted again after a restored part.
        let id = uuid_of_name("turn", &format!("{}\0{}", self.thread_id, self.n_turns));
        let line = self.open_derived("event_msg", out);
        out.put_args(line, format_args!("\"type\":\"task_started\",\"turn_id\":\"{id}\""));
        out.put(line, ",\"model_context_window\":null");
        self.close(line, out);
        self.turn = Some(Turn { id, last_text: None });
    }

    /// Ends the open turn.
    fn end_turn(&mut self, out: &mut Output) {
        let Some(Turn { id, last_text }) = self.turn.take() else { return };
        let line = self.open_derived("event_msg", out);
        out.put_args(line, format_args!("\"type\":\"task_complete\",\"turn_id\":\"{id}\""));
        out.put(line, ",\"last_agent_message\":");
        out.put(line, last_text.as_deref().unwrap_or("null"));
        self.close(line, out);
    }

    /// Writes the lines that wait for a later event.
    fn flush(&mut self, out: &mut Output) {
        self.flush_boundary(out);
        self.flush_usage(out);
    }

    /// Writes the end of a line's payload, and emits the line.
    fn close(&mut self, line: LineId, out: &mut Output) {
        out.put(line, "}");
        if let Some(ordinal) = self.next_ordinal {
            out.put_args(line, format_args!(",\"ordinal\":{ordinal}"));
            self.next_ordinal = Some(ordinal.saturating_add(1));
        }
        out.put(line, "}");
        out.emit(line);
        if !self.has_prompt {
            self.n_head = self.n_head.saturating_add(1);
        }
    }
}
