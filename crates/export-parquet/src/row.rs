//! Writes the rows of a line.
//!
//! In: a line with a text and a tool use. Out: two rows with the same offset, and the blocks 0 and
//! 1.

use core_model::{Body, Context, Event, Role, Tokens, iso_millis, millis, millis_as_printed};
use jsonl::{Line, Raw, Text, TextBuf};

use crate::{
    Selection, SessionFile,
    block::{BlockType, MAX_TEXT, Words},
    columns::{Cell, Columns},
    schema::{Place, TOKENS},
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
    /// The tokens that the message of the event says it used, if they are known, so that they are not read again.
    pub tokens: Option<Tokens>,
}

/// The columns whose values cost something to find.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    /// Tokens or cost, which depend on later lines.
    pub(crate) tokens: bool,
    pub(crate) tool_name: bool,
    event_type: bool,
    time: bool,
    tool_input: bool,
    text: bool,
}

impl Needs {
    /// Returns the needs of a selection of columns of `events`.
    pub(crate) fn of(selection: &Selection) -> Self {
        let has_any = |places: &[Place]| places.iter().any(|place| selection.has(*place));
        Self {
            tokens: has_any(&TOKENS) || selection.has(Place::Cost),
            tool_name: selection.has(Place::ToolName),
            event_type: selection.has(Place::EventType),
            time: has_any(&[Place::Ts, Place::TsText]),
            tool_input: selection.has(Place::ToolInput),
            text: selection.has(Place::Text),
        }
    }
}

/// The values that all rows of a line share, and the number of the next row.
pub(crate) struct Row<'l> {
    pub(crate) block: u64,
    offset: u64,
    length: usize,
    event_type: EventType<'l>,
    needs: Needs,
    context: Context<'l>,
    is_sub_agent: Option<bool>,
    role: Option<Role>,
    message_id: Option<Text<'l>>,
    request_id: Option<Text<'l>>,
    model: Option<Text<'l>>,
    stop_reason: Option<Raw<'l>>,
    /// The time in milliseconds since 1970.
    time: Option<i64>,
    /// Whether the line has the time as [`iso_millis`] prints it.
    is_printed: bool,
    /// The tokens of the response, if this is its last line.
    tokens: Option<Tokens>,
    response_key: Option<&'l str>,
    /// The cost of the response, if this is its last line or the outcome of its run.
    cost: Option<f64>,
}

impl<'l> Row<'l> {
    /// Reads the members of a line that its columns need. Its first row will be the row `row_idx` of the columns.
    pub(crate) fn new(
        needs: Needs,
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
        let tokens = event.filter(|_| needs.tokens);
        let tokens =
            tokens.and_then(|event| file.tokens(event, response.tokens, line.offset(), row_idx));
        let is_outcome = event.is_some_and(|event| matches!(event.body, Body::Outcome(_)));
        let cost = response.cost.filter(|_| is_outcome || tokens.is_some());
        if cost.is_some() && !is_outcome {
            file.note_cost(line.offset(), row_idx);
        }
        let time = context.time.filter(|_| needs.time);
        let printed = time.and_then(|time| time.as_text()).and_then(millis_as_printed);
        let event_type = match event {
            _ if !needs.event_type => EventType::Unread,
            Some(event) => EventType::of(event),
            None if line.is_blank() => EventType::Blank,
            None => EventType::Unread,
        };
        Self {
            needs,
            block: 0,
            offset: line.offset(),
            length: line.bytes().len(),
            event_type,
            context,
            is_sub_agent: event.map(Event::is_sub_agent),
            role: message.map(|message| message.role),
            message_id,
            request_id: message.and_then(|message| message.request_id),
            model,
            stop_reason: message.and_then(|message| message.stop_reason),
            time: printed.or_else(|| time.and_then(millis)),
            is_printed: printed.is_some(),
            cost,
            response_key: response.key.as_deref(),
            tokens,
        }
    }

    /// Adds the next row of the line. Returns whether a text was cut, or an input left out.
    pub(crate) fn push(
        &mut self,
        file: &SessionFile,
        words: &Words<'_>,
        raw: Option<Cell<'_>>,
        columns: &mut Columns,
        buf: &mut TextBuf,
    ) -> bool {
        let context = &self.context;
        let mut set = |place: Place, cell: Cell<'_>| columns.set(place as usize, cell);
        set(Place::SourceFormat, Cell::Text(file.format()));
        set(Place::File, Cell::Text(file.name()));
        set(Place::Offset, Cell::count(self.offset));
        set(Place::Length, Cell::count(self.length as u64));
        set(Place::Block, Cell::count(self.block));
        set(Place::EventType, Cell::Text(self.event_type.read(buf)));
        let role = self.role.map(|role| match role {
            Role::User => "user",
            Role::Assistant => "assistant",
        });
        set(Place::Role, Cell::text(role));
        for (place, text) in [
            (Place::SessionId, context.session_id),
            (Place::AgentId, context.agent_id),
            (Place::Uuid, context.uuid),
            (Place::ParentUuid, context.parent.value()),
            (Place::MessageId, self.message_id),
            (Place::RequestId, self.request_id),
            (Place::Model, self.model),
            (Place::ToolUseId, words.tool_use_id),
            (Place::StopReason, self.stop_reason.and_then(|reason| reason.as_text())),
            (Place::Cwd, context.cwd),
            (Place::GitBranch, context.git_branch),
            (Place::ClientVersion, context.version),
        ] {
            if let Some(text) = text
                && columns.has(place as usize)
            {
                columns.set(place as usize, Cell::Text(buf.decode(text)));
            }
        }
        let mut set = |place: Place, cell: Cell<'_>| columns.set(place as usize, cell);
        match words.block_type {
            Some(BlockType::Common(kind)) => set(Place::BlockType, Cell::Text(kind)),
            Some(BlockType::Own(kind)) => set(Place::BlockType, Cell::Text(buf.decode(kind))),
            None => {}
        }
        set(Place::Ts, Cell::time(self.time));
        if let Some(time) = context.time.filter(|_| self.needs.time && !self.is_printed) {
            let exact = self.time.map(iso_millis);
            match time.as_text() {
                Some(text) if Some(text.body()) == exact.as_deref() => {}
                Some(text) => set(Place::TsText, Cell::Text(buf.decode(text))),
                None => set(Place::TsText, Cell::Text(time.as_str())),
            }
        }
        if self.needs.tool_name {
            match (words.tool_name, words.tool_use_id) {
                (Some(name), _) => set(Place::ToolName, Cell::Text(&name.decode())),
                (None, id) => set(Place::ToolName, Cell::text(id.and_then(|id| file.tool_of(id)))),
            }
        }
        let mut is_cut = false;
        if let Some(input) = words.tool_input.filter(|_| self.needs.tool_input) {
            let json = input.json();
            let json = json.raw().as_str();
            is_cut = json.len() > MAX_TEXT;
            set(Place::ToolInput, Cell::text(Some(json).filter(|_| !is_cut)));
        }
        if self.needs.text {
            let (text, is_text_cut) = words.text.read(buf);
            is_cut |= is_text_cut;
            set(Place::Text, Cell::text(text));
        }
        set(Place::IsError, words.is_error.map_or(Cell::Null, Cell::Bool));
        set(Place::DurationMs, words.duration_ms.map_or(Cell::Null, Cell::Int));
        // Only the first row of a line has the tokens and the cost.
        if let Some(tokens) = self.tokens.take() {
            set(Place::InputTokens, Cell::count(tokens.input));
            set(Place::OutputTokens, Cell::count(tokens.output));
            set(Place::CacheReadTokens, Cell::count(tokens.cache_read));
            set(Place::CacheCreationTokens, Cell::count(tokens.cache_creation));
        }
        set(Place::CostUsd, words.cost_usd.map_or(Cell::Null, Cell::Float));
        set(Place::ResponseKey, Cell::text(self.response_key));
        set(Place::Cost, self.cost.take().map_or(Cell::Null, Cell::Float));
        set(Place::IsSidechain, self.is_sub_agent.map_or(Cell::Null, Cell::Bool));
        set(Place::Raw, raw.unwrap_or(Cell::Null));
        columns.end_row();
        self.block += 1;
        is_cut
    }
}

/// The type of a line.
#[derive(Clone, Copy, Debug)]
enum EventType<'l> {
    /// The line's own type.
    Own(Text<'l>),
    /// The kind of the event of a line without a type.
    Kind(&'static str),
    Blank,
    /// The line cannot be read.
    Unread,
}

impl<'l> EventType<'l> {
    fn of(event: &Event<'l>) -> Self {
        // Not `event.kind`, which is the type of a payload in some formats.
        if let Some(own) = event.value.get("type").and_then(|value| value.text()) {
            return EventType::Own(own);
        }
        EventType::Kind(match &event.body {
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

    fn read<'b>(&self, buf: &'b mut TextBuf) -> &'b str
    where
        'l: 'b,
    {
        match self {
            EventType::Own(text) => buf.decode(*text),
            EventType::Kind(kind) => kind,
            EventType::Blank => "blank",
            EventType::Unread => "unreadable",
        }
    }
}
