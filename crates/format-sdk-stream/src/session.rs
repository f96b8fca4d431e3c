//! The state of a writer: the session id, the current response, and the current interaction.

use std::collections::HashMap;

use core_model::{
    Block, Body, Event, Facts, LineId, LossKind, Message, Output, Role, Tokens, Turn, Usage,
    millis, uuid_of_name,
};
use jsonl::{Raw, Style, Text, Value, respell_str};

use crate::compose::Composer;

/// The state of a session.
#[derive(Debug)]
pub(crate) struct Session {
    /// The spelling of the output.
    style: Style,
    /// The session id in the output's spelling; empty until it is known.
    id: String,
    /// A prompt that is held until the session id is known.
    held: Option<LineId>,
    /// The model of the last response, in the output's spelling.
    model: Option<String>,
    /// Parent, model and generated id of the current response.
    response: Option<(String, String, String)>,
    /// The number of prompts.
    pub(crate) n_prompts: usize,
    /// The current interaction.
    pub(crate) interaction: Option<Interaction>,
    /// The folder in the last init line, in the source's spelling.
    pub(crate) cwd: Option<String>,
    /// The version in the last init line, in the source's spelling.
    pub(crate) version: Option<String>,
}

/// The state of an interaction.
#[derive(Debug, Default)]
pub(crate) struct Interaction {
    /// Whether a line of it was written, rather than restored.
    pub(crate) is_written: bool,
    /// The first and the last time, in milliseconds since 1970.
    times: Option<(i64, i64)>,
    /// The state after its last message.
    pub(crate) turn: Turn,
    /// The last text of the assistant, in the output's spelling.
    pub(crate) result: Option<String>,
    /// The reason why the model stopped, in the output's spelling.
    pub(crate) stop_reason: Option<String>,
    /// The tokens of each response, from its last line.
    responses: HashMap<String, [u64; 4]>,
    n_anonymous: u64,
    anonymous: [u64; 4],
}

/// The members of `usage` that are added up.
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

    /// Stores the session id of a line of the own family.
    pub(crate) fn follow(&mut self, event: &Event<'_>) {
        if let Some(id) = event.context.session_id {
            self.id = respelt(id.as_str(), self.style);
        }
    }

    /// Appends the session id: the line's own, else the last known one.
    pub(crate) fn put_id(&self, line: &mut Composer<'_>, event: &Event<'_>) {
        match event.context.session_id {
            Some(id) if event.format == crate::DUMP.name || event.format == crate::WIRE.name => {
                line.raw("session_id", Raw::from(id));
            }
            _ => self.put_known_id(line),
        }
    }

    /// Returns the model of the last response, in the output's spelling.
    pub(crate) fn last_model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Returns whether an id differs from the session's, in any spelling.
    pub(crate) fn is_other(&self, id: Text<'_>) -> bool {
        id.as_str() != self.id && respelt(id.as_str(), self.style) != self.id
    }

    /// Appends the last known session id.
    pub(crate) fn put_known_id(&self, line: &mut Composer<'_>) {
        if self.id.is_empty() {
            line.string("session_id", &uuid_of_name("session", ""));
            line.lose(LossKind::Invented, "session_id");
        } else {
            line.put("session_id", &self.id);
        }
    }

    /// Holds a prompt until the session id is known.
    pub(crate) fn hold(&mut self, id: LineId) {
        self.held = Some(id);
    }

    /// Emits the held prompt.
    pub(crate) fn release(&mut self, out: &mut Output) {
        if let Some(id) = self.held.take() {
            let mut line = Composer::held(out, id);
            self.put_known_id(&mut line);
            line.emit();
        }
    }

    /// Returns the id of the response that a dumped line without an id belongs to. Consecutive
    /// lines with one parent and one model are one response (FORMAT.md, "Dump").
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

    /// Ends the current response.
    pub(crate) fn end_response(&mut self) {
        self.response = None;
    }

    /// Updates the state with an event of the own family.
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

    /// Updates the state with a message. It starts an interaction if there is none.
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
    /// Returns the time from the first to the last message, in milliseconds.
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

/// Returns the counts of a usage, in the order of [`TOKENS`].
pub(crate) fn tokens(usage: Usage<'_>) -> [u64; 4] {
    let Tokens { input, output, cache_read, cache_creation } = usage.tokens();
    [input, cache_creation, cache_read, output]
}

/// Returns a value in the spelling of a style.
pub(crate) fn respelt(written: &str, style: Style) -> String {
    let mut bytes = Vec::with_capacity(written.len());
    respell_str(&mut bytes, written, style);
    String::from_utf8(bytes).unwrap_or_default()
}
