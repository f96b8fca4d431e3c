//! Writes the rows of a line.
//!
//! In: a line with a text and a tool use. Out: two rows with the same offset, and the blocks 0 and
//! 1.

use std::borrow::Cow;

use core_model::{Body, Context, Event, Role, Tokens, iso_millis, millis};
use jsonl::{Line, Raw, Text};

use crate::{
    SessionFile,
    block::Words,
    columns::{Cell, Columns},
};

/// The key and the cost of a response, for the rows of its lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Response {
    /// A key that all copies of the response have, in the column `response_key`.
    pub key: Option<String>,
    /// The cost in US dollars, in the column `cost` of the response's last line.
    pub cost: Option<f64>,
    /// The offsets, ascending, of the earlier lines whose cost this outcome of a run has instead.
    pub covered: Vec<u64>,
}

/// The values that all rows of a line share, and the number of the next row.
pub(crate) struct Row<'l> {
    pub(crate) block: u64,
    offset: u64,
    length: usize,
    event_type: Cow<'l, str>,
    context: Context<'l>,
    is_sub_agent: Option<bool>,
    role: Option<Role>,
    message_id: Option<Text<'l>>,
    request_id: Option<Text<'l>>,
    model: Option<Text<'l>>,
    stop_reason: Option<Raw<'l>>,
    /// The time in milliseconds since 1970.
    time: Option<i64>,
    /// The tokens of the response, if this is its last line.
    tokens: Option<Tokens>,
    response_key: Option<&'l str>,
    /// The cost of the response, if this is its last line or the outcome of its run.
    cost: Option<f64>,
}

impl<'l> Row<'l> {
    /// Reads a line whose first row will be the row `row_idx` of its columns.
    pub(crate) fn new(
        file: &mut SessionFile,
        line: &Line<'l>,
        event: Option<&Event<'l>>,
        response: &'l Response,
        row_idx: usize,
    ) -> Self {
        let message = event.and_then(Event::message);
        let context = event.map(|event| event.context).unwrap_or_default();
        let model = match event.map(|event| &event.body) {
            Some(Body::Start(start)) => start.model,
            _ => message.and_then(|message| message.model),
        };
        let message_id = match event.map(|event| &event.body) {
            Some(Body::Usage(usage)) => usage.message_id,
            _ => message.and_then(|message| message.id),
        };
        let tokens = event.and_then(|event| file.tokens(event, line.offset(), row_idx));
        let is_outcome = event.is_some_and(|event| matches!(event.body, Body::Outcome(_)));
        let cost = response.cost.filter(|_| is_outcome || tokens.is_some());
        if cost.is_some() && !is_outcome {
            file.note_cost(line.offset(), row_idx);
        }
        Self {
            block: 0,
            offset: line.offset(),
            length: line.bytes().len(),
            event_type: event.map_or_else(|| unread(line), event_type),
            context,
            is_sub_agent: event.map(Event::is_sub_agent),
            role: message.map(|message| message.role),
            message_id,
            request_id: message.and_then(|message| message.request_id),
            model,
            stop_reason: message.and_then(|message| message.stop_reason),
            time: context.time.and_then(millis),
            cost,
            response_key: response.key.as_deref(),
            tokens,
        }
    }

    /// Adds the next row of the line.
    pub(crate) fn push(
        &mut self,
        file: &SessionFile,
        words: &Words<'_>,
        raw: Option<Cell<'_>>,
        columns: &mut Columns,
    ) {
        let context = &self.context;
        let texts = [
            context.session_id,
            context.agent_id,
            context.uuid,
            context.parent.value(),
            self.message_id,
            self.request_id,
            self.model,
            self.stop_reason.and_then(|reason| reason.as_text()),
            context.cwd,
            context.git_branch,
            context.version,
        ]
        .map(|text| text.map(|text| text.decode()));
        let [
            session_id,
            agent_id,
            uuid,
            parent,
            message_id,
            request_id,
            model,
            stop,
            cwd,
            branch,
            version,
        ] = texts.each_ref().map(|text| Cell::text(text.as_deref()));
        let exact = self.time.map(iso_millis);
        let time_text = context
            .time
            .filter(|time| time.as_text().is_none_or(|text| Some(text.body()) != exact.as_deref()));
        let time_text = time_text
            .map(|time| time.as_text().map_or(Cow::Borrowed(time.as_str()), |text| text.decode()));
        // Only the first row of a line has the tokens and the cost.
        let tokens = self.tokens.take();
        let cost = self.cost.take();
        let token =
            |of: fn(Tokens) -> u64| tokens.map_or(Cell::Null, |tokens| Cell::count(of(tokens)));
        columns.push(&[
            Cell::Text(file.format()),
            Cell::Text(file.name()),
            Cell::count(self.offset),
            Cell::count(self.length as u64),
            Cell::count(self.block),
            Cell::Text(&self.event_type),
            session_id,
            agent_id,
            self.role.map_or(Cell::Null, |role| match role {
                Role::User => Cell::Text("user"),
                Role::Assistant => Cell::Text("assistant"),
            }),
            Cell::text(words.block_type.as_deref()),
            Cell::time(self.time),
            Cell::text(time_text.as_deref()),
            uuid,
            parent,
            message_id,
            request_id,
            model,
            Cell::text(words.tool_use_id.as_deref()),
            Cell::text(words.tool_name.as_deref()),
            Cell::text(words.tool_input.as_deref()),
            Cell::text(words.text.as_deref()),
            words.is_error.map_or(Cell::Null, Cell::Bool),
            words.duration_ms.map_or(Cell::Null, Cell::Int),
            stop,
            token(|tokens| tokens.input),
            token(|tokens| tokens.output),
            token(|tokens| tokens.cache_read),
            token(|tokens| tokens.cache_creation),
            words.cost_usd.map_or(Cell::Null, Cell::Float),
            Cell::text(self.response_key),
            cost.map_or(Cell::Null, Cell::Float),
            cwd,
            branch,
            version,
            self.is_sub_agent.map_or(Cell::Null, Cell::Bool),
            raw.unwrap_or(Cell::Null),
        ]);
        self.block += 1;
    }
}

/// Returns the type of a line that cannot be read.
fn unread<'l>(line: &Line<'_>) -> Cow<'l, str> {
    Cow::Borrowed(if line.is_blank() { "blank" } else { "unreadable" })
}

/// Returns the type of a line; for a line without one, the kind of its event.
fn event_type<'l>(event: &Event<'l>) -> Cow<'l, str> {
    if let Some(own) = event.value.get("type").and_then(|value| value.text()) {
        return own.decode();
    }
    Cow::Borrowed(match &event.body {
        Body::Start(_) => "start",
        Body::Message(message) if message.role == Role::User => "user",
        Body::Message(_) => "assistant",
        Body::ToolCall(_) => "tool_call",
        Body::Notice(_) => "notice",
        Body::Outcome(_) => "result",
        Body::Title(_) => "title",
        _ => "other",
    })
}
