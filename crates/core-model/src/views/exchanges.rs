//! The interactions of a session: a prompt and what came of it.

use super::event_millis;
use crate::{Body, Event, Place, Status};

/// A prompt and what came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exchange {
    /// What was asked; `None` if the session does not say.
    pub prompt: Option<String>,
    /// The line of the prompt.
    pub prompt_place: Option<Place>,
    /// The line on which the client says that it starts (clido's meta, an SDK's init).
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
    /// How it ended, if the session says: the last one, where a background agent makes two.
    pub ending: Option<Ending>,
}

/// How an interaction ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    /// The line.
    pub place: Place,
    /// How.
    pub status: Status,
    /// The format's own word for it.
    pub status_text: Option<String>,
    /// The cost in US dollars.
    pub cost: Option<f64>,
    /// The number of turns.
    pub turns: Option<u64>,
    /// The wall time in milliseconds.
    pub duration_ms: Option<u64>,
    /// The last words of the assistant.
    pub result: Option<String>,
}

/// Splits a session into interactions: its memory is that of the prompts and the last words.
#[derive(Clone, Debug, Default)]
pub struct Exchanges {
    exchanges: Vec<Exchange>,
}

impl Exchanges {
    /// Takes note of an event.
    ///
    /// A prompt opens an interaction; a start does, if the one before has ended. What comes before
    /// the first prompt and says nothing belongs to it.
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
                open.prompt = Some(message.content.joined());
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
