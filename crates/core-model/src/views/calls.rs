//! Joins the tool calls of a session with their results.
//!
//! In: a call of `toolu_1` on line 3, its result on line 5. Out: one [`ToolRun`] with both places.

use jsonl::Text;

use super::{Viewed, thread};
use crate::{
    Block, Body, CallId, CallPairs, Event, Hashes, IdHasher, Place, ToolName, ToolResult, ToolUse,
};

/// The line and the time of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Moment {
    /// The line.
    pub place: Place,
    /// The time in milliseconds since 1970.
    pub time: Option<i64>,
}

/// A tool call and its result.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ToolRun {
    /// The id of the tool use.
    pub id: String,
    /// The name of the tool; empty if only the result is in the session.
    pub name: String,
    /// The input as written, if contents are kept.
    pub input: Option<String>,
    /// The place of the call; `None` if only the result is in the session.
    pub called: Option<Moment>,
    /// The place of its result; `None` if it has none.
    pub answered: Option<Moment>,
    /// The text of the result, if contents are kept.
    pub result: Option<String>,
    /// Whether the tool failed; `None` if the result does not say.
    pub is_error: Option<bool>,
    /// The run time of the tool in milliseconds: from the result, or from the times of call and
    /// result.
    pub duration_ms: Option<i64>,
    /// The sub-agent that called it, as [`thread`] returns it.
    pub thread: Option<String>,
}

impl ToolRun {
    /// Returns the exit code of a command, as its result states it in the first lines: `Exit code 3` in
    /// Claude Code and clido, `Exit code: 3` or `Process exited with code 3` in Codex. `None` if it
    /// states none or contents are not kept.
    ///
    /// Claude Code states a code only if the command failed: without one, [`is_error`](Self::is_error)
    /// tells whether it was denied or interrupted.
    ///
    /// ```
    /// use core_model::ToolRun;
    ///
    /// let run = |result: &str| ToolRun { result: Some(result.to_owned()), ..ToolRun::default() };
    /// assert_eq!(run("Exit code 3\nno such file").exit_code(), Some(3));
    /// assert_eq!(run("Wall time: 1 seconds\nProcess exited with code 0\nOutput:\n").exit_code(), Some(0));
    /// assert_eq!(run("done\n").exit_code(), None);
    /// ```
    pub fn exit_code(&self) -> Option<i32> {
        let code_in = |line: &str| {
            let code = EXITS.iter().find_map(|words| line.strip_prefix(words))?;
            code.trim().parse().ok()
        };
        let lines = self.result.as_deref()?.lines().take(EXIT_LINES);
        lines.take_while(|line| *line != "Output:").find_map(code_in)
    }
}

/// The words before the exit code of a command.
const EXITS: [&str; 3] = ["Exit code ", "Exit code: ", "Process exited with code "];

/// The lines of a result that may have the exit code. Codex writes at most five before the output.
const EXIT_LINES: usize = 6;

/// View that joins tool calls with their results, over any distance.
#[derive(Clone, Debug, Default)]
pub struct ToolRuns {
    keeps_contents: bool,
    runs: Vec<ToolRun>,
    pairs: CallPairs,
    /// The hashes of the ids of all runs.
    known: Hashes,
    hasher: IdHasher,
}

impl ToolRuns {
    /// Creates a view that also keeps inputs and results, with their memory.
    pub fn with_contents() -> Self {
        Self { keeps_contents: true, ..Self::default() }
    }

    /// Adds an event.
    pub fn push(&mut self, place: Place, event: &Event<'_>) {
        self.view(place, &Viewed::passing(event));
    }

    /// Adds an event that other views also use.
    pub fn view(&mut self, place: Place, viewed: &Viewed<'_, '_>) {
        let event = viewed.event;
        let moment = Moment { place, time: viewed.time };
        self.pairs.start_record(event);
        match &event.body {
            Body::Message(_) => {
                for block in viewed.blocks() {
                    match block {
                        Block::ToolUse(ToolUse { id, name, input, .. }) => {
                            self.call((id, name), input.json().raw().as_str(), moment, event);
                        }
                        Block::ToolResult(result) => self.answer(&result, moment, event),
                        _ => {}
                    }
                }
            }
            // An index entry repeats a block, if there is one.
            Body::ToolCall(call) if !self.known.contains(&self.hasher.hash_text(call.id)) => {
                self.call((call.id, call.name.into()), call.input.as_str(), moment, event);
            }
            _ => {}
        }
    }

    fn call(
        &mut self,
        (id, name): (Text<'_>, ToolName<'_>),
        input: &str,
        moment: Moment,
        event: &Event<'_>,
    ) {
        let call = CallId::new(event, id, &self.hasher);
        let number = self.pairs.call(call, self.next());
        if number == self.next() {
            self.add(call, id, event);
        }
        let Some(run) = self.runs.get_mut(number as usize) else { return };
        run.called = Some(moment);
        run.name = name.decode().into_owned();
        run.input = self.keeps_contents.then(|| input.to_owned());
    }

    fn answer(&mut self, result: &ToolResult<'_>, moment: Moment, event: &Event<'_>) {
        let id = CallId::new(event, result.tool_use_id, &self.hasher);
        let number = match self.pairs.answer(id) {
            Some(number) => number,
            // Clients use the first of two results.
            None if self.known.contains(&id.hash) => return,
            None => {
                self.pairs.hold(id, self.next());
                self.add(id, result.tool_use_id, event)
            }
        };
        let Some(run) = self.runs.get_mut(number as usize) else { return };
        run.answered = Some(moment);
        run.result = self.keeps_contents.then(|| result.content.joined().into_owned());
        run.is_error = result.is_error.value();
        let told = result.duration_ms.and_then(|millis| millis.as_f64());
        let called = run.called.and_then(|called| called.time);
        let passed = || moment.time?.checked_sub(called?);
        run.duration_ms = told.map(|millis| millis as i64).or_else(passed);
    }

    /// Returns the number of the next run.
    fn next(&self) -> u32 {
        u32::try_from(self.runs.len()).unwrap_or(u32::MAX)
    }

    /// Adds a run with an id and returns its number.
    fn add(&mut self, call: CallId, id: Text<'_>, event: &Event<'_>) -> u32 {
        let number = self.next();
        self.known.insert(call.hash);
        let (id, thread) = (id.decode().into_owned(), thread(event));
        self.runs.push(ToolRun { id, thread, ..ToolRun::default() });
        number
    }

    /// Returns the runs so far, in the order of their first lines.
    pub fn runs(&self) -> &[ToolRun] {
        &self.runs
    }

    /// Returns the runs, in the order of their first lines.
    pub fn finish(self) -> Vec<ToolRun> {
        self.runs
    }
}
