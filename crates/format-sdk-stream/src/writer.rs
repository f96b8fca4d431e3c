//! Writes events as lines of a stream, in either flavor.

use core_model::{Body, Event, EventWriter, Facts, LossKind, Message, Options, Output, Place};
use jsonl::Style;

use crate::{
    dump, ending, events,
    record::{Flavor, Record, RecordKind},
    session::{Session, respelt},
    speech::{self, Manner},
    wire,
};

/// Creates a writer of dumps of the SDK version in the options.
pub fn writer(options: &Options, facts: Facts) -> Box<dyn EventWriter> {
    Box::new(StreamWriter::new(Flavor::Dump, Style::Python, options, facts))
}

/// Creates a writer of the wire.
pub fn wire_writer(options: &Options, facts: Facts) -> Box<dyn EventWriter> {
    Box::new(StreamWriter::new(Flavor::Wire, Style::Compact, options, facts))
}

/// Writer of streams. Lines of the own family are converted one by one. For other formats,
/// interactions are generated.
#[derive(Debug)]
struct StreamWriter {
    manner: Manner,
    facts: Facts,
    session: Session,
    start: Option<String>,
    is_started: bool,
    /// The place of the session's start, until its time is written or counted as lost.
    start_time: Option<(&'static str, Place)>,
    /// Members of the start that only an `init` line has, with the place of the start.
    unshown: Vec<(&'static str, Place)>,
}

impl StreamWriter {
    fn new(flavor: Flavor, style: Style, options: &Options, facts: Facts) -> Self {
        let start = facts.start.as_deref().filter(|start| start.starts_with('"'));
        Self {
            manner: Manner { flavor, version: options.sdk_version },
            session: Session::new(style, &facts),
            start: start.map(|start| respelt(start, style)),
            facts,
            is_started: false,
            start_time: None,
            unshown: Vec::new(),
        }
    }

    fn write_own(&mut self, event: &Event<'_>, out: &mut Output) {
        self.session.follow(event);
        self.session.release(out);
        let record = Record::new(event.value);
        match (self.manner.flavor, record.flavor) {
            (Flavor::Dump, Flavor::Wire) => dump::write(&record, event, self.manner.version, out),
            (Flavor::Wire, Flavor::Dump) => wire::write(&record, event, &mut self.session, out),
            (_, Flavor::Dump) if record.kind == RecordKind::Unknown => {
                out.lose_record(event);
            }
            _ => {
                let id = out.open();
                out.copy(id, event.value.raw());
                out.emit(id);
            }
        }
        self.session.observe_own(event);
    }

    fn write_message(&mut self, event: &Event<'_>, message: &Message<'_>, out: &mut Output) {
        let is_prompt = event.is_prompt();
        if is_prompt {
            // A prompt that was typed while the agent worked belongs to the current run.
            if !message.is_queued {
                self.end_interaction(out);
            }
            self.session.n_prompts = self.session.n_prompts.saturating_add(1);
            self.count_start_time(Some(event), out);
            let start = self.start.as_deref();
            speech::prompt(self.manner, event, message, start, &self.session, out);
        }
        if self.session.interaction.is_none() {
            self.unshown.clear();
            events::init(self.manner, event, &self.facts, &mut self.session, out);
        }
        if !is_prompt {
            speech::message(self.manner, event, message, &self.session, out);
        }
        self.session.observe(event, message);
        if let Some(interaction) = &mut self.session.interaction {
            interaction.is_written = true;
        }
    }

    /// Counts the time of the session's start as lost, unless a prompt without a time follows, which
    /// gets it.
    fn count_start_time(&mut self, prompt: Option<&Event<'_>>, out: &mut Output) {
        let Some((field, place)) = self.start_time.take() else { return };
        let time = prompt.map(|prompt| prompt.context.time.map(|time| time.as_str()));
        if time.is_none_or(|time| time.is_some() && time != self.facts.start.as_deref()) {
            out.lose_at(LossKind::Dropped, field, place);
        }
    }

    /// Ends the current interaction. If the source marks the starts of its runs, it also has their
    /// outcomes, and no result is generated (FORMAT.md, "Written for other formats").
    fn end_interaction(&mut self, out: &mut Output) {
        if let Some(interaction) = self.session.interaction.take()
            && interaction.is_written
            && !self.facts.has_start
        {
            ending::end(self.manner, &interaction, &self.session, out);
        }
    }
}

impl EventWriter for StreamWriter {
    fn write(&mut self, event: &Event<'_>, out: &mut Output) {
        if event.format == crate::DUMP.name || event.format == crate::WIRE.name {
            return self.write_own(event, out);
        }
        self.session.release(out);
        self.session.end_response();
        match &event.body {
            Body::Message(message) => self.write_message(event, message, out),
            Body::Start(start) => {
                if self.is_started {
                    return out.lose_record(event);
                }
                let first = self.facts.interactions.first_model();
                out.drop_if(start.model.is_some_and(|it| Some(it.as_str()) != first), "model");
                if event.context.time.is_some() {
                    let has_prompt = !self.facts.interactions.is_empty();
                    if self.manner.flavor == Flavor::Dump && has_prompt {
                        self.start_time = Some((event.vocabulary.time, out.place()));
                    } else {
                        out.lose(LossKind::Dropped, event.vocabulary.time);
                    }
                }
                let (context, names) = (&event.context, event.vocabulary);
                for (text, name) in [(context.cwd, names.cwd), (context.version, names.version)] {
                    self.unshown.extend(text.map(|_| (name, out.place())));
                }
                if event.context.git_branch.is_some() {
                    out.lose(LossKind::Dropped, event.vocabulary.git_branch);
                }
                self.is_started = true;
            }
            Body::Notice(notice) => {
                let words = if self.facts.has_start { "message" } else { "content" };
                events::notice(self.manner, event, notice, words, &self.session, out);
            }
            Body::Outcome(outcome) => {
                let interaction = self.session.interaction.take().unwrap_or_default();
                ending::outcome(self.manner, event, outcome, &interaction, &self.session, out);
            }
            // An index entry repeats its block.
            Body::ToolCall(call) if !self.facts.is_called(&call.id.decode()) => {
                return out.lose_record(event);
            }
            Body::ToolCall(_) => {}
            _ => return out.lose_record(event),
        }
        out.lose_members(event);
    }

    fn resume(&mut self, event: &Event<'_>, out: &mut Output) {
        self.session.follow(event);
        self.session.release(out);
        self.session.end_response();
        self.session.observe_own(event);
        if let Some(interaction) = &mut self.session.interaction {
            interaction.is_written = false;
        }
    }

    fn finish(&mut self, out: &mut Output) {
        self.session.release(out);
        self.end_interaction(out);
        self.count_start_time(None, out);
        for (name, place) in self.unshown.drain(..) {
            out.lose_at(LossKind::Dropped, name, place);
        }
    }
}
