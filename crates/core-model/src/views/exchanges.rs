//! Splits a session into interactions: a prompt and the events that follow it.
//!
//! In: prompt, answer, outcome, prompt. Out: two [`Exchange`]s, of which the first has an ending.

use super::event_millis;
use crate::{Body, Event, Place, Status};

/// A prompt and the events that follow it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exchange {
    /// The prompt; `None` if the session does not have it.
    pub prompt: Option<String>,
    /// The line of the prompt.
    pub prompt_place: Option<Place>,
    /// The line of the start event (clido's meta, an SDK's init).
    pub start: Option<Place>,
    /// The session, which may change between interactions of one file.
    pub session_id: Option<String>,
    /// The first line.
    pub first: Place,
    /// The last line.
    pub last: Place,
    /// The number of events, of any kind.
    pub n_events: u64,
    /// The number of messages beside the prompt.
    pub n_messages: u64,
    /// The number of tool uses.
    pub n_tool_uses: u64,
    /// The first time, in milliseconds since 1970.
    pub start_time: Option<i64>,
    /// The last time, in milliseconds since 1970.
    pub end_time: Option<i64>,
    /// The outcome, if the session has one. A background agent has two; the last one wins.
    pub ending: Option<Ending>,
}

/// The end of an interaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    /// The line.
    pub place: Place,
    /// The status.
    pub status: Status,
    /// The format's own name for it.
    pub status_text: Option<String>,
    /// The cost in US dollars.
    pub cost: Option<f64>,
    /// The number of turns.
    pub turns: Option<u64>,
    /// The wall time in milliseconds.
    pub duration_ms: Option<u64>,
    /// The last text of the assistant.
    pub result: Option<String>,
}

/// View that splits a session into interactions. Its memory is that of the prompts and the final
/// texts.
#[derive(Clone, Debug, Default)]
pub struct Exchanges {
    exchanges: Vec<Exchange>,
}

impl Exchanges {
    /// Adds an event.
    ///
    /// A prompt opens an interaction. A start event opens one if the previous interaction has
    /// ended. Events before the first prompt belong to its interaction, if none of them is a
    /// message or an outcome.
    pub fn push(&mut self, place: Place, event: &Event<'_>) {
        let is_prompt = event.is_prompt();
        let opens = match self.exchanges.last() {
            None => true,
            Some(open) if is_prompt => {
                open.prompt.is_some() || open.n_messages > 0 || open.ending.is_some()
            }
            Some(open) => matches!(event.body, Body::Start(_)) && open.ending.is_some(),
        };
        if opens {
            self.exchanges.push(Exchange { first: place, ..Exchange::default() });
        }
        let Some(open) = self.exchanges.last_mut() else { return };
        open.last = place;
        open.n_events += 1;
        let time = event_millis(event);
        open.start_time = open.start_time.or(time);
        open.end_time = time.or(open.end_time);
        if open.session_id.is_none() {
            open.session_id = event.context.session_id.map(|id| id.decode().into_owned());
        }
        match &event.body {
            Body::Start(_) => open.start = open.start.or(Some(place)),
            Body::Message(message) if is_prompt => {
                open.prompt = Some(message.content.joined().into_owned());
                open.prompt_place = Some(place);
            }
            Body::Message(message) => {
                open.n_messages += 1;
                let is_use = |block: &crate::Block<'_>| matches!(block, crate::Block::ToolUse(_));
                let uses = message.blocks().filter(|(block, _)| is_use(block));
                open.n_tool_uses += uses.count() as u64;
            }
            Body::Outcome(outcome) => {
                let result = outcome.result.and_then(|result| result.as_text());
                open.ending = Some(Ending {
                    place,
                    status: outcome.status,
                    status_text: outcome.status_text.map(|text| text.decode().into_owned()),
                    cost: outcome.cost.and_then(|cost| cost.as_f64()),
                    turns: outcome.turns.and_then(|turns| turns.as_u64()),
                    duration_ms: outcome.duration_ms.and_then(|millis| millis.as_u64()),
                    result: result.map(|text| text.decode().into_owned()),
                });
            }
            _ => {}
        }
    }

    /// Returns the interactions, in the order of the file.
    pub fn finish(self) -> Vec<Exchange> {
        self.exchanges
    }
}
