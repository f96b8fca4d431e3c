//! Holds the current response and the lines after it until the response is complete.
//!
//! In: `text 1 of r`, `result of a`, `call a of r`, `call b of r`, `result of b`. Out: `r with
//! text, a, b`, `result of a`, `result of b`.

use core_model::{ByHash, Facts, LineId, Output, ResponseKey};

/// A tool result that waits for its call.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) line: LineId,
    pub(super) arrival: u64,
}

/// Results whose calls come later, by hashes of the calls' ids.
pub(super) type Early = ByHash<Vec<Held>>;

/// The current response.
#[derive(Debug, Default)]
pub(super) struct Response {
    key: ResponseKey,
    /// The line of the response; `None` if it is not open yet, or was resumed.
    line: Option<LineId>,
    calls: Vec<Call>,
    /// The number of calls whose lines were emitted.
    n_emitted: usize,
    /// Indices into `calls`, by hashes of ids.
    places: ByHash<usize>,
    results: Vec<(usize, Held)>,
    /// The lines after the response and its results.
    pub(super) tail: Vec<LineId>,
    /// Whether a line in the tail shows that the response is complete.
    is_complete: bool,
}

/// A call of the response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// The hash of its id.
    pub(super) id: u64,
    /// The `tool_call` line.
    pub(super) line: Option<LineId>,
    /// The time of the call, in milliseconds since 1970.
    pub(super) millis: Option<i64>,
    /// Whether a result was added.
    pub(super) is_answered: bool,
}

impl Response {
    /// Limit for the lines that wait for a response. Beyond it, the response counts as complete.
    pub(super) const MAX_TAIL: usize = 1000;

    /// Limit for the calls and results that wait for a response. Beyond it, they are emitted before the response is
    /// complete, because each takes several times its size in memory.
    const MAX_WAITING: usize = 4096;

    /// Starts a new response and reuses the buffers of this one, which was emitted.
    pub(super) fn start(mut self, key: ResponseKey) -> Self {
        self.key = key;
        self.calls.clear();
        self.n_emitted = 0;
        self.places.clear();
        self.is_complete = false;
        self
    }

    /// Returns whether a line with a key belongs to the response.
    pub(super) fn takes(&self, key: ResponseKey) -> bool {
        !self.is_complete && key.continues(self.key, self.results.is_empty())
    }

    /// Returns the line of the response, ready for the next block.
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

    /// Adds a call. Of several calls with one id, the first one counts.
    pub(super) fn add_call(&mut self, call: Call) {
        let place = *self.places.entry(call.id).or_insert(self.calls.len());
        self.calls.push(Call { is_answered: false, ..call });
        if let Some(first) = self.calls.get_mut(place) {
            first.is_answered |= call.is_answered;
        }
    }

    /// Marks a call as answered, and returns whether it belongs to the response.
    pub(super) fn answer(&mut self, id: u64) -> bool {
        let place = self.places.get(&id);
        let call = place.and_then(|place| self.calls.get_mut(*place));
        call.map(|call| call.is_answered = true).is_some()
    }

    /// Returns the time of a call in milliseconds since 1970.
    pub(super) fn time_of(&self, id: u64) -> Option<i64> {
        self.calls.get(*self.places.get(&id)?)?.millis
    }

    /// Adds a result, to be written after the response.
    pub(super) fn add_result(&mut self, id: u64, held: Held) {
        let place = self.places.get(&id).copied();
        self.results.push((place.unwrap_or(usize::MAX), held));
    }

    /// Returns whether a result of one of the calls comes later. The response itself is complete.
    pub(super) fn completes_to_wait(&mut self, facts: &Facts) -> bool {
        let mut first_of_each = self.places.values().filter_map(|place| self.calls.get(*place));
        let waits = first_of_each.any(|call| !call.is_answered && facts.is_hash_answered(call.id));
        self.is_complete |= waits;
        waits
    }

    /// Returns whether a line that is added now moves before an earlier one.
    pub(super) fn moves(&self) -> bool {
        self.is_complete
    }

    /// Returns whether a call has no result yet.
    pub(super) fn is_open(&self) -> bool {
        let mut places = self.places.values().filter_map(|place| self.calls.get(*place));
        places.any(|call| !call.is_answered)
    }

    /// Returns whether too many calls and results wait.
    pub(super) fn is_full(&self) -> bool {
        let n_calls = self.calls.len().saturating_sub(self.n_emitted);
        n_calls.saturating_add(self.results.len()) > Self::MAX_WAITING
    }

    /// Emits the response, its calls, their results in the order of the calls, and the lines that
    /// waited. The buffers are empty then.
    pub(super) fn emit(&mut self, early: &mut Early, out: &mut Output) {
        if let Some(line) = self.line.take() {
            out.put(line, "]}");
            out.emit(line);
        }
        let calls = self.calls.iter_mut().skip(self.n_emitted);
        for line in calls.filter_map(|call| call.line.take()) {
            out.emit(line);
        }
        self.n_emitted = self.calls.len();
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
