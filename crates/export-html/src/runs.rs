//! Joins the tool calls of a session with their results, in 64 bytes each.
//!
//! In: a call of `toolu_1` on line 3, its result on line 5. Out: a [`Run`] with the lines 3 and 5.

use core_model::{Block, Body, ByHash, CallId, CallPairs, Event, IdHasher, ToolResult};

use crate::input::{Family, family};

/// A tool call and its result, as the page shows them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// The number of the line with the call; 0 if the result came first.
    pub(crate) line: u64,
    /// The time of the call.
    pub(crate) time: Option<i64>,
    /// The number of the line with the result; 0 if there is none.
    answered: u64,
    pub(crate) duration_ms: Option<i64>,
    /// The hash of the sub-agent's name that called it; 0 for the main conversation.
    pub(crate) thread: u64,
    /// The index of the next call with the same id; 0 if there is none.
    next: u32,
    pub(crate) family: Family,
    pub(crate) is_error: bool,
}

impl Run {
    /// Returns the number of the line with the result.
    pub(crate) fn answered(&self) -> Option<u64> {
        (self.answered > 0).then_some(self.answered)
    }
}

/// The calls of a session with their results.
///
/// The result equals that of [`core_model::ToolRuns`].
#[derive(Debug, Default)]
pub(crate) struct Runs {
    runs: Pieces,
    pairs: CallPairs,
    by_id: ByHash<Ends>,
}

/// Runs in chunks of one size, because a growing vector leaves as much free memory behind as it
/// has.
#[derive(Debug, Default)]
struct Pieces(Vec<Vec<Run>>);

/// Number of runs in a chunk of 256 KiB.
const PIECE: usize = 4 * 1024;

impl Pieces {
    fn push(&mut self, run: Run) {
        match self.0.last_mut().filter(|piece| piece.len() < PIECE) {
            Some(piece) => piece.push(run),
            None => self.0.push(vec![run]),
        }
    }

    fn len(&self) -> u32 {
        let last = self.0.last().map_or(0, Vec::len);
        (self.0.len().saturating_sub(1) * PIECE + last) as u32
    }

    fn get(&self, place: u32) -> Option<&Run> {
        self.0.get(place as usize / PIECE)?.get(place as usize % PIECE)
    }

    fn get_mut(&mut self, place: u32) -> Option<&mut Run> {
        self.0.get_mut(place as usize / PIECE)?.get_mut(place as usize % PIECE)
    }
}

/// Indices of the first and the last call with an id. While the page is written, the first is the
/// next one.
#[derive(Clone, Copy, Debug)]
struct Ends {
    first: u32,
    last: u32,
}

impl Runs {
    /// Adds an event with its line and time. `hasher` computes the hashes of ids.
    pub(crate) fn push(
        &mut self,
        line: u64,
        time: Option<i64>,
        event: &Event<'_>,
        hasher: &IdHasher,
    ) {
        let at = At { line, time, thread: thread_hash(event, hasher) };
        self.pairs.start_record(event);
        match &event.body {
            Body::Message(message) => {
                for (block, _) in message.blocks() {
                    match block {
                        Block::ToolUse(tool) => {
                            self.call(CallId::new(event, tool.id, hasher), &tool.name.decode(), at);
                        }
                        Block::ToolResult(result) => {
                            let id = CallId::new(event, result.tool_use_id, hasher);
                            self.answer(id, &result, at);
                        }
                        _ => {}
                    }
                }
            }
            Body::ToolCall(call) => {
                let id = CallId::new(event, call.id, hasher);
                // An index entry repeats a block, if there is one.
                if !self.by_id.contains_key(&id.hash) {
                    self.call(id, &call.name.decode(), at);
                }
            }
            _ => {}
        }
    }

    fn call(&mut self, id: CallId, name: &str, at: At) {
        let next = self.runs.len();
        let number = self.pairs.call(id, next);
        if number == next {
            self.add(id, at.thread);
        }
        let Some(run) = self.runs.get_mut(number) else { return };
        (run.line, run.time, run.family) = (at.line, at.time, family(name));
    }

    /// Adds a run after the other ones with its id, and returns its number.
    fn add(&mut self, id: CallId, thread: u64) -> u32 {
        let number = self.runs.len();
        let ends = self.by_id.entry(id.hash).or_insert(Ends { first: number, last: number });
        let previous = std::mem::replace(&mut ends.last, number);
        if let Some(run) = self.runs.get_mut(previous) {
            run.next = number;
        }
        self.runs.push(Run::new(thread));
        number
    }

    fn answer(&mut self, id: CallId, result: &ToolResult<'_>, at: At) {
        let number = match self.pairs.answer(id) {
            Some(number) => number,
            // Clients use the first of two results.
            None if self.by_id.contains_key(&id.hash) => return,
            None => {
                self.pairs.hold(id, self.runs.len());
                self.add(id, at.thread)
            }
        };
        let Some(run) = self.runs.get_mut(number) else { return };
        run.answered = at.line;
        run.is_error = result.is_error.value() == Some(true);
        let told = result.duration_ms.and_then(|millis| millis.as_f64());
        let called = run.time.filter(|_| run.line > 0);
        let passed = || at.time?.checked_sub(called?);
        run.duration_ms = told.map(|millis| millis as i64).or_else(passed);
    }

    /// Returns the calls, in the order of their first lines.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &Run> {
        self.runs.0.iter().flatten().filter(|run| run.line > 0)
    }

    /// Returns the next call with an id. It is the same one until it is removed.
    pub(crate) fn next(&self, id: u64) -> Option<&Run> {
        let place = self.by_id.get(&id)?.first;
        self.runs.get(place).filter(|run| run.line > 0)
    }

    /// Removes and returns the next call with an id.
    pub(crate) fn take_next(&mut self, id: u64) -> Option<Run> {
        let run = self.next(id).copied()?;
        match run.next {
            0 => _ = self.by_id.remove(&id),
            next => self.by_id.get_mut(&id)?.first = next,
        }
        Some(run)
    }
}

impl Run {
    /// Creates a run with only a thread.
    fn new(thread: u64) -> Self {
        Self {
            line: 0,
            time: None,
            answered: 0,
            duration_ms: None,
            thread,
            next: 0,
            family: Family::Other,
            is_error: false,
        }
    }
}

/// The line and the time of an event.
#[derive(Clone, Copy)]
struct At {
    line: u64,
    time: Option<i64>,
    thread: u64,
}

/// Returns the hash of [`core_model::thread`]; 0 for the main conversation.
fn thread_hash(event: &Event<'_>, hasher: &IdHasher) -> u64 {
    let context = &event.context;
    if !event.is_sub_agent() {
        return 0;
    }
    let name = context.agent_id.or(context.parent_tool_use);
    name.map_or_else(|| hasher.hash(""), |name| hasher.hash_text(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_takes_64_bytes() {
        assert_eq!(size_of::<Run>(), 64);
        let mut pieces = Pieces::default();
        for n in 0..2 * PIECE as u64 + 1 {
            assert_eq!(u64::from(pieces.len()), n);
            pieces.push(Run { line: n, ..Run::new(0) });
        }
        for place in [0, 1, PIECE - 1, PIECE, 2 * PIECE] {
            assert_eq!(pieces.get(place as u32).map(|run| run.line), Some(place as u64));
        }
        assert!(pieces.get(pieces.len()).is_none());
    }
}
