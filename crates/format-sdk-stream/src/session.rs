//! What a writer remembers: the session's id, the open response, and the open interaction.

use std::collections::HashMap;

use core_model::{
    Block, Body, Event, Facts, LineId, LossKind, Message, Output, Role, Turn, millis, uuid_of_name,
};
use jsonl::{Raw, Style, Text, Value, respell_str};

use crate::compose::Composer;

/// What a writer remembers of a session.
#[derive(Debug)]
pub(crate) struct Session {
    /// How the output spells JSON.
    style: Style,
    /// The id as the output spells it; empty until it is known.
    id: String,
    /// A prompt that waits for the session's id.
    held: Option<LineId>,
    /// The model of the last response, as the output spells it.
    model: Option<String>,
    /// Parent, model and made-up id of the response that is going on.
    response: Option<(String, String, String)>,
    /// The number of prompts so far.
    pub(crate) n_prompts: usize,
    /// The interaction that is going on.
    pub(crate) interaction: Option<Interaction>,
    /// The folder that the last init line names, as the source spells it.
    pub(crate) cwd: Option<String>,
    /// The version that the last init line names, as the source spells it.
    pub(crate) version: Option<String>,
}

/// What a writer remembers of an interaction.
#[derive(Debug, Default)]
pub(crate) struct Interaction {
    /// Whether any line of it was written, and not only restored.
    pub(crate) is_written: bool,
    /// The first and the last time, in milliseconds.
    times: Option<(i64, i64)>,
    /// How it stands after its last message.
    pub(crate) turn: Turn,
    /// The last text of the assistant, as the output spells it.
    pub(crate) result: Option<String>,
    /// Why the model stopped, as the output spells it.
    pub(crate) stop_reason: Option<String>,
    /// The tokens of each response, as its last line has them.
    responses: HashMap<String, [u64; 4]>,
    n_anonymous: u64,
    anonymous: [u64; 4],
}

/// The members of a usage that are summed up.
pub(crate) const TOKENS: [&str; 4] =
    ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"];

impl Session {
    pub(crate) fn new(style: Style, facts: &Facts) -> Self {
        let id = facts.session_id.as_deref().map(|id| respelt(id, style)).unwrap_or_default();
        Self {
            style,
            id,
            held: None,
            model: None,
            response: None,
            n_prompts: 0,
            interaction: None,
            cwd: None,
            version: None,
        }
    }

    /// Takes note of the session's id that a line of the own family has.
    pub(crate) fn follow(&mut self, event: &Event<'_>) {
        if let Some(id) = event.context.session_id {
            self.id = respelt(id.as_str(), self.style);
        }
    }

    /// Appends the session's id: the line's own, else the last known.
    pub(crate) fn put_id(&self, line: &mut Composer<'_>, event: &Event<'_>) {
        match event.context.session_id {
            Some(id) if event.format == crate::DUMP.name || event.format == crate::WIRE.name => {
                line.raw("session_id", Raw::from(id));
            }
            _ => self.put_known_id(line),
        }
    }

    /// Returns the model of the last response, as the output spells it.
    pub(crate) fn last_model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Returns whether an id is not the one that lines name, as far as both spell it alike.
    pub(crate) fn is_other(&self, id: Text<'_>) -> bool {
        id.as_str() != self.id && respelt(id.as_str(), self.style) != self.id
    }

    /// Appends the last known id of the session.
    pub(crate) fn put_known_id(&self, line: &mut Composer<'_>) {
        if self.id.is_empty() {
            line.string("session_id", &uuid_of_name("session", ""));
            line.lose(LossKind::Invented, "session_id");
        } else {
            line.put("session_id", &self.id);
        }
    }

    /// Holds a prompt back until the session's id is known.
    pub(crate) fn hold(&mut self, id: LineId) {
        self.held = Some(id);
    }

    /// Emits the prompt that was held back.
    pub(crate) fn release(&mut self, out: &mut Output) {
        if let Some(id) = self.held.take() {
            let mut line = Composer::held(out, id);
            self.put_known_id(&mut line);
            line.emit();
        }
    }

    /// Returns the id of the response that a dumped line without one belongs to: lines that follow
    /// each other with one parent and one model are one response (FORMAT.md, "Dump").
    pub(crate) fn response_id(
        &mut self,
        value: Value<'_>,
        event: &Event<'_>,
        out: &mut Output,
    ) -> String {
        let member = |name| value.get(name).map_or("null", |member| member.raw().as_str());
        let (parent, model) = (member("parent_tool_use_id"), member("model"));
        if let Some((of_parent, of_model, id)) = &self.response
            && of_parent == parent
            && of_model == model
        {
            return id.clone();
        }
        let id = out.message_id(event, 0);
        self.response = Some((parent.to_owned(), model.to_owned(), id.clone()));
        id
    }

    /// Ends the response that is going on.
    pub(crate) fn end_response(&mut self) {
        self.response = None;
    }

    /// Takes note of an event of the own family.
    pub(crate) fn observe_own(&mut self, event: &Event<'_>) {
        if event.is_prompt() {
            self.n_prompts = self.n_prompts.saturating_add(1);
            self.interaction = None;
        }
        match &event.body {
            Body::Message(message) => self.observe(event, message),
            Body::Outcome(_) => self.interaction = None,
            _ => {}
        }
    }

    /// Takes note of a message; it begins an interaction if none is going on.
    pub(crate) fn observe(&mut self, event: &Event<'_>, message: &Message<'_>) {
        let style = self.style;
        let interaction = self.interaction.get_or_insert_default();
        if let Some(time) = event.context.time.and_then(millis) {
            let (first, last) = interaction.times.unwrap_or((time, time));
            interaction.times = Some((first.min(time), last.max(time)));
        }
        if event.is_sub_agent() {
            return;
        }
        interaction.turn.push(message, message.block_counts());
        let is_by_client = message.is_meta && !message.is_api_error;
        if message.role != Role::Assistant || is_by_client {
            return;
        }
        if let Some(model) = message.model.filter(|_| !message.is_by_client()) {
            self.model = Some(respelt(model.as_str(), style));
        }
        if let Some((Block::Text(text), _)) =
            message.blocks().filter(|(block, _)| matches!(block, Block::Text(_))).last()
        {
            interaction.result = Some(respelt(text.as_str(), style));
        }
        interaction.stop_reason = message.stop_reason.map(|reason| respelt(reason.as_str(), style));
        let usage = message.usage.map(tokens);
        match message.id {
            Some(id) => {
                let of_response = interaction.responses.entry(id.as_str().to_owned()).or_default();
                *of_response = usage.unwrap_or(*of_response);
            }
            None => {
                interaction.n_anonymous = interaction.n_anonymous.saturating_add(1);
                add(&mut interaction.anonymous, &usage.unwrap_or_default());
            }
        }
    }
}

impl Interaction {
    /// Returns the milliseconds from the first to the last time.
    pub(crate) fn duration(&self) -> i64 {
        self.times.map_or(0, |(first, last)| last.saturating_sub(first))
    }

    /// Returns the number of responses.
    pub(crate) fn n_turns(&self) -> u64 {
        self.n_anonymous.saturating_add(self.responses.len() as u64)
    }

    /// Returns the tokens of all responses, in the order of [`TOKENS`].
    pub(crate) fn tokens(&self) -> [u64; 4] {
        let mut sum = self.anonymous;
        for tokens in self.responses.values() {
            add(&mut sum, tokens);
        }
        sum
    }
}

fn add(sum: &mut [u64; 4], tokens: &[u64; 4]) {
    for (sum, tokens) in sum.iter_mut().zip(tokens) {
        *sum = sum.saturating_add(*tokens);
    }
}

fn tokens(usage: Value<'_>) -> [u64; 4] {
    TOKENS.map(|name| usage.get(name).and_then(|tokens| tokens.raw().as_u64()).unwrap_or(0))
}

/// Returns a value as a style spells it.
pub(crate) fn respelt(written: &str, style: Style) -> String {
    let mut bytes = Vec::with_capacity(written.len());
    respell_str(&mut bytes, written, style);
    String::from_utf8(bytes).unwrap_or_default()
}
