//! Joins the tool calls of a session with their results, in forty bytes each.

use std::collections::HashMap;

use core_model::{Block, Body, ByHash, IdSet, NameRoom, OTHERS, ToolResult, Viewed};

/// A tool call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    /// The hash of its id.
    pub(super) id: u64,
    /// The duration, or the time of the call until there is a result, in milliseconds.
    millis: i64,
    /// The index of the tool's name.
    name: u32,
    state: State,
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
/// It has the rules of [`core_model::ToolRuns`]: the second of two calls with one id is a call of
/// its own, and the first of two results counts.
#[derive(Debug, Default)]
pub(super) struct Runs {
    runs: Vec<Run>,
    by_id: ByHash<u32>,
    names: Vec<String>,
    places: HashMap<String, u32>,
    room: NameRoom,
}

impl Runs {
    /// Adds an event; `ids` hashes the ids.
    pub(super) fn view(&mut self, viewed: &Viewed<'_, '_>, ids: &IdSet) {
        match &viewed.event.body {
            Body::Message(_) => {
                for block in viewed.blocks() {
                    match block {
                        Block::ToolUse(tool) => {
                            let id = ids.hash(&tool.id.decode());
                            self.call(id, &tool.name.decode(), viewed.time);
                        }
                        Block::ToolResult(result) => {
                            let id = ids.hash(&result.tool_use_id.decode());
                            self.answer(id, &result, viewed.time);
                        }
                        _ => {}
                    }
                }
            }
            Body::ToolCall(call) => {
                let id = ids.hash(&call.id.decode());
                // An index entry repeats a block, if there is one.
                if !self.by_id.contains_key(&id) {
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

    fn call(&mut self, id: u64, name: &str, time: Option<i64>) {
        let name = self.place(name);
        let known = self.by_id.get(&id).and_then(|&at| self.runs.get_mut(at as usize));
        // The result came before its call.
        if let Some(run) = known.filter(|run| run.state == State::NotCalled) {
            (run.name, run.state) = (name, State::Answered);
            return;
        }
        self.by_id.insert(id, self.runs.len() as u32);
        let state = State::Called(time.is_some());
        self.runs.push(Run { id, millis: time.unwrap_or_default(), name, state });
    }

    fn answer(&mut self, id: u64, result: &ToolResult<'_>, time: Option<i64>) {
        let told =
            result.duration_ms.and_then(|millis| millis.as_f64()).map(|millis| millis as i64);
        let Some(&at) = self.by_id.get(&id) else {
            self.by_id.insert(id, self.runs.len() as u32);
            self.runs.push(Run { id, millis: told.unwrap_or_default(), ..Run::default() });
            return;
        };
        let Some(run) = self.runs.get_mut(at as usize) else { return };
        let State::Called(is_known) = run.state else { return };
        let called = is_known.then_some(run.millis);
        let passed = || time?.checked_sub(called?);
        (run.millis, run.state) = (told.or_else(passed).unwrap_or_default(), State::Answered);
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
