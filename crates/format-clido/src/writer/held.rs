//! The response that is being written, and the lines that wait until it is complete.

use std::collections::{BTreeMap, HashMap};

use core_model::{Event, Facts, LineId, Message, Output};
use jsonl::Text;

/// What the lines of one response have in common.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Key {
    /// The API's id of the response.
    Id(String),
    /// Of a stream without ids: the model and the sub-agent of lines that follow each other.
    Run(Option<String>, Option<String>),
    /// Nothing: a line is a response.
    Alone,
}

impl Key {
    pub(super) fn of(event: &Event<'_>, message: &Message<'_>) -> Self {
        let owned = |text: Option<Text<'_>>| text.map(|text| text.decode().into_owned());
        match message.id {
            Some(id) => Key::Id(id.decode().into_owned()),
            // Old SDKs dump a response as one line per block and no id; all else without an id
            // (clido, old transcripts) has a line per response.
            None if event.format.starts_with("sdk-stream") => {
                Key::Run(owned(message.model), owned(event.context.parent_tool_use))
            }
            None => Key::Alone,
        }
    }
}

/// A tool result that waits for its call.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) line: LineId,
    pub(super) arrival: u64,
}

/// The response that is being written.
#[derive(Debug)]
pub(super) struct Response {
    key: Key,
    /// Its line; none if it has none yet, or stood in the output before.
    line: Option<LineId>,
    calls: Vec<Call>,
    /// Where in `calls` the call with an id is.
    places: HashMap<String, usize>,
    results: Vec<(usize, Held)>,
    /// The lines that come after it and its results.
    pub(super) tail: Vec<LineId>,
    /// Whether something in the tail shows that the response itself is complete.
    is_complete: bool,
}

#[derive(Debug)]
struct Call {
    line: Option<LineId>,
    millis: Option<i64>,
    is_answered: bool,
}

impl Response {
    /// The number of lines that wait for a response to be complete, before it is taken to be.
    pub(super) const MAX_TAIL: usize = 1000;

    pub(super) fn new(key: Key) -> Self {
        Self {
            key,
            line: None,
            calls: Vec::new(),
            places: HashMap::new(),
            results: Vec::new(),
            tail: Vec::new(),
            is_complete: false,
        }
    }

    /// Returns whether a line with this key goes on with the response.
    pub(super) fn takes(&self, key: &Key) -> bool {
        match key {
            _ if self.is_complete => false,
            Key::Id(_) => self.key == *key,
            Key::Run(..) => self.key == *key && self.results.is_empty(),
            Key::Alone => false,
        }
    }

    /// Returns the line, ready for the next block.
    pub(super) fn line_for_block(&mut self, out: &mut Output) -> LineId {
        match self.line {
            Some(line) => {
                out.put(line, ",");
                line
            }
            None => {
                let line = out.open();
                out.put(line, "{\"type\":\"assistant_message\",\"content\":[");
                *self.line.insert(line)
            }
        }
    }

    /// Takes note of a call, its time, and the line that repeats it.
    pub(super) fn add_call(&mut self, id: String, line: Option<LineId>, millis: Option<i64>) {
        self.places.entry(id).or_insert(self.calls.len());
        self.calls.push(Call { line, millis, is_answered: false });
    }

    /// Returns whether the call is one of this response; it is answered then.
    pub(super) fn answer(&mut self, id: &str) -> bool {
        let place = self.places.get(id);
        let call = place.and_then(|place| self.calls.get_mut(*place));
        call.map(|call| call.is_answered = true).is_some()
    }

    /// Returns the time of a call.
    pub(super) fn time_of(&self, id: &str) -> Option<i64> {
        self.calls.get(*self.places.get(id)?)?.millis
    }

    /// Holds a result back until the response is complete.
    pub(super) fn add_result(&mut self, id: &str, held: Held) {
        let place = self.places.get(id).copied();
        self.results.push((place.unwrap_or(usize::MAX), held));
    }

    /// Returns whether a result of one of the calls is still to come; the response itself is
    /// complete.
    pub(super) fn completes_to_wait(&mut self, facts: &Facts) -> bool {
        let is_open = |place: usize| self.calls.get(place).is_some_and(|call| !call.is_answered);
        let mut places = self.places.iter();
        let waits = places.any(|(id, place)| is_open(*place) && facts.is_answered(id));
        self.is_complete |= waits;
        waits
    }

    /// Returns whether what is added now has moved before something that came earlier.
    pub(super) fn moves(&self) -> bool {
        self.is_complete
    }

    /// Returns whether a call has no result yet, of all with its id.
    pub(super) fn is_open(&self) -> bool {
        let mut places = self.places.values().filter_map(|place| self.calls.get(*place));
        places.any(|call| !call.is_answered)
    }

    /// Emits the response, its calls, their results in the order of the calls, and what waited.
    pub(super) fn emit(mut self, early: &mut BTreeMap<String, Vec<Held>>, out: &mut Output) {
        self.emit_held(early, out);
    }

    /// Emits all that is held, and forgets it.
    pub(super) fn emit_held(&mut self, early: &mut BTreeMap<String, Vec<Held>>, out: &mut Output) {
        if let Some(line) = self.line.take() {
            out.put(line, "]}");
            out.emit(line);
        }
        for line in self.calls.iter_mut().filter_map(|call| call.line.take()) {
            out.emit(line);
        }
        if !early.is_empty() {
            for (id, place) in &self.places {
                let results = early.remove(id).unwrap_or_default();
                self.results.extend(results.into_iter().map(|held| (*place, held)));
            }
        }
        self.results.sort_by_key(|(place, held)| (*place, held.arrival));
        for (_, held) in self.results.drain(..) {
            out.emit(held.line);
        }
        for line in self.tail.drain(..) {
            out.emit(line);
        }
    }
}
