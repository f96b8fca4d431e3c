//! The response that is being written, and the lines that wait until it is complete.

use core_model::{ByHash, Event, IdHasher, LineId, Message, Output};
use jsonl::Text;

/// What the lines of one response have in common: hashes of it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Key {
    /// The API's id of the response.
    Id(u64),
    /// Of a stream without ids: the model and the sub-agent of lines that follow each other.
    Run(Option<u64>, Option<u64>),
    /// Nothing: a line is a response.
    #[default]
    Alone,
}

impl Key {
    pub(super) fn of(event: &Event<'_>, message: &Message<'_>, hasher: &IdHasher) -> Self {
        let hash = |text: Option<Text<'_>>| text.map(|text| hasher.hash_text(text));
        match message.id {
            Some(id) => Key::Id(hasher.hash_text(id)),
            // Old SDKs dump a response as one line per block and no id; all else without an id
            // (clido, old transcripts) has a line per response.
            None if event.format.starts_with("sdk-stream") => {
                Key::Run(hash(message.model), hash(event.context.parent_tool_use))
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

/// The results whose call is still to come, by the hash of the call's id.
pub(super) type Early = ByHash<Vec<Held>>;

/// The response that is being written.
#[derive(Debug, Default)]
pub(super) struct Response {
    key: Key,
    /// Its line; none if it has none yet, or stood in the output before.
    line: Option<LineId>,
    calls: Vec<Call>,
    /// Where in `calls` the call is, by the hash of its id.
    places: ByHash<usize>,
    results: Vec<(usize, Held)>,
    /// The lines that come after it and its results.
    pub(super) tail: Vec<LineId>,
    /// Whether something in the tail shows that the response itself is complete.
    is_complete: bool,
}

/// A call of the response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// The hash of its id.
    pub(super) id: u64,
    /// The line that repeats it.
    pub(super) line: Option<LineId>,
    /// Its time.
    pub(super) millis: Option<i64>,
    /// Whether a result of it came.
    pub(super) is_answered: bool,
    /// Whether a result of it is anywhere in the source.
    pub(super) has_result: bool,
}

impl Response {
    /// The number of lines that wait for a response to be complete, before it is taken to be.
    pub(super) const MAX_TAIL: usize = 1000;

    /// Starts a response in the place of one that was emitted, through its buffers.
    pub(super) fn start(mut self, key: Key) -> Self {
        self.key = key;
        self.calls.clear();
        self.places.clear();
        self.is_complete = false;
        self
    }

    /// Returns whether a line with this key goes on with the response.
    pub(super) fn takes(&self, key: Key) -> bool {
        match key {
            _ if self.is_complete => false,
            Key::Id(_) => self.key == key,
            Key::Run(..) => self.key == key && self.results.is_empty(),
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

    /// Takes note of a call; of all with its id, the first counts.
    pub(super) fn add_call(&mut self, call: Call) {
        let place = *self.places.entry(call.id).or_insert(self.calls.len());
        self.calls.push(Call { is_answered: false, ..call });
        if let Some(first) = self.calls.get_mut(place) {
            first.is_answered |= call.is_answered;
        }
    }

    /// Returns whether the call is one of this response; it is answered then.
    pub(super) fn answer(&mut self, id: u64) -> bool {
        let place = self.places.get(&id);
        let call = place.and_then(|place| self.calls.get_mut(*place));
        call.map(|call| call.is_answered = true).is_some()
    }

    /// Returns the time of a call.
    pub(super) fn time_of(&self, id: u64) -> Option<i64> {
        self.calls.get(*self.places.get(&id)?)?.millis
    }

    /// Holds a result back until the response is complete.
    pub(super) fn add_result(&mut self, id: u64, held: Held) {
        let place = self.places.get(&id).copied();
        self.results.push((place.unwrap_or(usize::MAX), held));
    }

    /// Returns whether a result of one of the calls is still to come; the response itself is
    /// complete.
    pub(super) fn completes_to_wait(&mut self) -> bool {
        let mut first_of_each = self.places.values().filter_map(|place| self.calls.get(*place));
        let waits = first_of_each.any(|call| !call.is_answered && call.has_result);
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

    /// Emits the response, its calls, their results in the order of the calls, and what waited; all
    /// that is held is forgotten.
    pub(super) fn emit(&mut self, early: &mut Early, out: &mut Output) {
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
        self.results.sort_unstable_by_key(|(place, held)| (*place, held.arrival));
        for (_, held) in self.results.drain(..) {
            out.emit(held.line);
        }
        for line in self.tail.drain(..) {
            out.emit(line);
        }
    }
}
