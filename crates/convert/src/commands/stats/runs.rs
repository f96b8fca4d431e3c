//! Joins the tool calls of a session with their results, in 16 bytes each.

use std::collections::HashMap;

use core_model::{
    Block, Body, CallId, CallPairs, ErrorPolicy, Hashes, IdHasher, NameRoom, OTHERS, ToolResult,
    Viewed, is_failure,
};

/// A tool call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    /// The duration, or the time of the call until there is a result, in milliseconds.
    millis: i64,
    /// The index of the tool's name.
    name: u32,
    state: State,
    pub(super) is_failed: bool,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum State {
    /// The result came before its call.
    #[default]
    NotCalled,
    /// Called; `true` if the time is known.
    Called(bool),
    Answered,
}

impl Run {
    /// Returns the duration in milliseconds; 0 if unknown.
    pub(super) fn millis(&self) -> i64 {
        if self.state == State::Answered { self.millis } else { 0 }
    }
}

/// Joins calls and results by their ids.
///
/// The result equals that of [`core_model::ToolRuns`].
#[derive(Debug, Default)]
pub(super) struct Runs {
    runs: Vec<Run>,
    pairs: CallPairs,
    /// The hashes of the ids of all runs.
    known: Hashes,
    names: Vec<String>,
    places: HashMap<String, u32>,
    room: NameRoom,
    hasher: IdHasher,
}

impl Runs {
    /// Adds an event; `policy` tells which results are errors.
    pub(super) fn view(&mut self, viewed: &Viewed<'_, '_>, policy: ErrorPolicy) {
        let event = viewed.event;
        self.pairs.start_record(event);
        match &event.body {
            Body::Message(_) => {
                for block in viewed.blocks() {
                    match block {
                        Block::ToolUse(tool) => {
                            let id = CallId::new(event, tool.id, &self.hasher);
                            self.call(id, &tool.name.decode(), viewed.time);
                        }
                        Block::ToolResult(result) => {
                            let id = CallId::new(event, result.tool_use_id, &self.hasher);
                            self.answer(id, &result, viewed.time, is_failure(&result, policy));
                        }
                        _ => {}
                    }
                }
            }
            Body::ToolCall(call) => {
                let id = CallId::new(event, call.id, &self.hasher);
                // An index entry repeats a block, if there is one.
                if !self.known.contains(&id.hash) {
                    self.call(id, &call.name.decode(), viewed.time);
                }
            }
            _ => {}
        }
    }

    /// Returns the calls, in the order of the file.
    pub(super) fn runs(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(|run| run.state != State::NotCalled)
    }

    /// Returns the name of a call's tool.
    pub(super) fn name(&self, run: &Run) -> &str {
        self.names.get(run.name as usize).map_or("", String::as_str)
    }

    fn call(&mut self, id: CallId, name: &str, time: Option<i64>) {
        let name = self.place(name);
        let next = self.next();
        let number = self.pairs.call(id, next);
        if number == next {
            let state = State::Called(time.is_some());
            let millis = time.unwrap_or_default();
            return self.add(id, Run { millis, name, state, ..Run::default() });
        }
        if let Some(run) = self.runs.get_mut(number as usize) {
            (run.name, run.state) = (name, State::Answered);
        }
    }

    fn answer(&mut self, id: CallId, result: &ToolResult<'_>, time: Option<i64>, is_failed: bool) {
        let told =
            result.duration_ms.and_then(|millis| millis.as_f64()).map(|millis| millis as i64);
        let Some(number) = self.pairs.answer(id) else {
            // Clients use the first of two results.
            if !self.known.contains(&id.hash) {
                self.pairs.hold(id, self.next());
                let millis = told.unwrap_or_default();
                self.add(id, Run { millis, is_failed, ..Run::default() });
            }
            return;
        };
        let Some(run) = self.runs.get_mut(number as usize) else { return };
        let State::Called(is_known) = run.state else { return };
        let called = is_known.then_some(run.millis);
        let passed = || time?.checked_sub(called?);
        run.millis = told.or_else(passed).unwrap_or_default();
        (run.state, run.is_failed) = (State::Answered, is_failed);
    }

    fn add(&mut self, id: CallId, run: Run) {
        self.known.insert(id.hash);
        self.runs.push(run);
    }

    /// Returns the number of the next run.
    fn next(&self) -> u32 {
        u32::try_from(self.runs.len()).unwrap_or(u32::MAX)
    }

    fn place(&mut self, name: &str) -> u32 {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        if name != OTHERS && !self.room.add(name) {
            return self.place(OTHERS);
        }
        let place = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.places.insert(name.to_owned(), place);
        place
    }
}
