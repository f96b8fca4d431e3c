//! Writes events as the steps of a document: a step for each prompt, response and notice.
//!
//! ```text
//! in   a response in two lines: a text, then a tool use; and its result
//! out  {"schema_version":"ATIF-v1.8","session_id":..,"agent":{..},"steps":[
//!      {"step_id":1,..,"source":"agent","message":..,"tool_calls":[..],"observation":{"results":[..]},..}
//!      ],"final_metrics":{..}}
//! ```

mod assistant;
mod head;
mod json;
mod losses;
mod notice;
mod queue;
mod step;
mod user;

use core_model::{
    Body, Event, EventWriter, Facts, IdHasher, KnownTitle, Message, Options, Output, ResponseUsage,
    Role, Tokens,
};

use jsonl::{Text, json_string};

use self::{head::Totals, queue::Queue};
use crate::record::{Entry, Record};

/// Creates a writer of a document.
pub(crate) fn create(_options: &Options, facts: Facts) -> Box<dyn EventWriter> {
    Box::new(DocumentWriter { facts, ..DocumentWriter::default() })
}

/// The state between two events: the steps that are not complete, and the totals of all steps.
#[derive(Debug, Default)]
struct DocumentWriter {
    facts: Facts,
    has_head: bool,
    /// The titles in a restored head, as written; `None` if the head is not restored.
    restored_titles: Option<Vec<KnownTitle>>,
    /// The name of the format that the session was read from.
    agent: &'static str,
    /// The model of the first start that names one, a JSON string.
    model: Option<String>,
    /// The first git branch, a JSON string.
    git_branch: Option<String>,
    queue: Queue,
    totals: Totals,
    hasher: IdHasher,
    /// The total of the last record of tokens.
    last_total: Option<Tokens>,
    /// Whether a step was written since the last resumed record.
    is_dirty: bool,
}

impl EventWriter for DocumentWriter {
    fn write(&mut self, event: &Event<'_>, out: &mut Output) {
        if self.agent.is_empty() {
            self.agent = event.format;
        }
        if let (None, Some(branch), false) =
            (&self.git_branch, event.context.git_branch, self.has_head)
        {
            self.git_branch = Some(json_string(&branch.decode()));
        }
        match &event.body {
            Body::Start(start) => {
                let model = || start.model.map(|model| json_string(&model.decode()));
                if !self.has_head {
                    self.model = self.model.take().or_else(model);
                }
                self.count_start(event, start, out);
            }
            Body::Message(message) => self.write_message(event, message, out),
            Body::Notice(notice) => self.write_notice(event, notice, out),
            Body::Outcome(outcome) => self.write_outcome(event, outcome, out),
            Body::Usage(usage) => {
                if !self.write_usage(usage, out) {
                    return out.lose_record(event);
                }
                out.drop_ids(event);
                out.drop_time(event);
            }
            Body::Title(title) => {
                // The head has the title, unless it was restored with another one.
                let text = title.text.as_str();
                let wins = self.facts.has_title_text(title.text);
                let titles = self.restored_titles.as_ref();
                let is_in_head = titles.is_none_or(|titles| titles.iter().any(|it| it.is(text)));
                if !wins || !is_in_head {
                    return out.lose_record(event);
                }
                out.drop_ids(event);
                out.drop_time(event);
            }
            // An index entry repeats the tool use of a message.
            Body::ToolCall(call) if self.facts.is_called(&call.id.decode()) => {
                out.drop_ids(event);
                out.drop_time(event);
            }
            // An event without words has no step, and is kept in the carry.
            _ => return out.lose_record(event),
        }
        self.count_context(event, out);
        out.lose_members(event);
        self.emit_complete(out);
    }

    fn resume(&mut self, event: &Event<'_>, out: &mut Output) {
        self.emit_all(out);
        self.is_dirty = false;
        match Record::decode(event.value).entry {
            Entry::Document(_) => {
                let string = |text: Text<'_>| json_string(&text.decode());
                if let Body::Start(start) = &event.body {
                    self.model = start.model.map(string);
                }
                self.git_branch = event.context.git_branch.map(string);
                self.has_head = true;
                let titles = self.restored_titles.get_or_insert_default();
                if let Body::Title(title) = &event.body {
                    titles.push(KnownTitle::of(title.text.as_str()));
                }
            }
            Entry::Step(_) if event.nth == 0 => {
                self.has_head = true;
                let tokens = event.message().and_then(|message| message.usage);
                self.totals.add_step(tokens.map(|usage| usage.tokens()));
            }
            _ => {}
        }
    }

    fn finish(&mut self, out: &mut Output) {
        self.emit_all(out);
        if self.has_head && self.is_dirty {
            self.write_tail(out);
        }
        self.is_dirty = false;
    }
}

impl DocumentWriter {
    fn write_message(&mut self, event: &Event<'_>, message: &Message<'_>, out: &mut Output) {
        if !message.has_content() {
            return out.lose_record(event);
        }
        losses::count_message(event, message, out);
        match message.role {
            Role::Assistant => self.write_assistant(event, message, out),
            Role::User => self.write_user(event, message, out),
        }
    }

    /// Adds the tokens of the last response. Returns false if there is none, or if it has tokens.
    fn write_usage(&mut self, usage: &ResponseUsage<'_>, out: &mut Output) -> bool {
        let Some(tokens) = usage.since(&mut self.last_total) else { return false };
        if usage.message_id.is_some() {
            return false;
        }
        match self.queue.last_response() {
            Some(step) if step.metrics.is_none() => {
                step.metrics = Some(json::metrics(tokens));
                step.tokens = Some(tokens);
                out.touch(step.line);
                true
            }
            _ => false,
        }
    }
}
