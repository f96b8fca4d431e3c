//! Searches the events of one file.
//!
//! In: a call at 10:00:00 and its result at 10:00:12, and `--min-duration 10s`. Out: the call, with
//! `12.0 s`.

use std::{
    collections::HashMap,
    io::{self, Write},
};

use core_model::{Event, Place, event_millis};
use jsonl::Scanner;
use sessions::{Input, Matcher, Part};

use super::{
    Output, Search,
    hit::{FILE, Form, Hit, inserted},
    lines::{FileLines, Out, PartLine, PartState},
    sink::Mark,
};
use crate::{
    commands::list::title,
    terminal::{escape::escape_for_terminal, painted},
};

/// Limit on the characters of a title in a heading.
const MAX_TITLE: usize = 100;

const BOLD: &str = "1";

/// A call that was read.
struct Call {
    name: String,
    /// The time in milliseconds since 1970.
    time: Option<i64>,
    /// Whether it waits for its result to be a hit.
    is_waiting: bool,
}

/// The search in one file.
pub(super) struct FileSearch<'s> {
    search: &'s Search,
    pub(super) input: &'s Input,
    label: String,
    output: Output,
    matcher: Matcher<'s>,
    calls: HashMap<String, Call>,
    scanner: Scanner,
    lines: FileLines,
}

impl<'s> FileSearch<'s> {
    /// Creates a search.
    pub(super) fn new(search: &'s Search, input: &'s Input, output: Output) -> Self {
        let n_context = if output == Output::Parts { search.n_context } else { 0 };
        Self {
            search,
            input,
            label: input.label(),
            output,
            matcher: Matcher::new(&search.filter),
            calls: HashMap::new(),
            scanner: Scanner::default(),
            lines: FileLines::new(n_context),
        }
    }

    /// Returns the number of hits.
    pub(super) fn n_hits(&self) -> u64 {
        self.lines.n_hits
    }

    /// Searches an event. Returns whether the search goes on.
    pub(super) fn event(
        &mut self,
        place: Place,
        event: &Event<'_>,
        out: &mut dyn Write,
    ) -> io::Result<bool> {
        let is_wanted = self.matcher.wants_event(event);
        let has_context = self.output == Output::Parts && self.search.n_context > 0;
        // The result of a wanted call may come after the last wanted time.
        if !is_wanted && !has_context && self.search.min_duration.is_none() {
            return Ok(true);
        }
        for (block_idx, part) in self.search.filter.parts(event).enumerate() {
            let is_match = is_wanted && self.matcher.wants(&part);
            let (state, duration) = self.state(&part, event, is_match, out)?;
            if state == PartState::Context && !has_context {
                continue;
            }
            let mut line = PartLine::default();
            if self.output == Output::Parts {
                let id = part.result().map(|result| result.tool_use_id.decode());
                let tool = id.and_then(|id| self.calls.get(&*id)).map(|call| &call.name);
                let hit = Hit { label: &self.label, place, block_idx, event, part: &part, tool };
                let (form, filter) = (self.search.form, &self.search.filter);
                line = hit.print(form, filter, state != PartState::Context, &mut self.scanner);
                if let Some(duration) = duration {
                    line.head.extend_from_slice(&inserted(form, duration));
                }
            }
            self.with_out(out, |lines, out| lines.push(state, line, out))?;
            if self.output == Output::Files && self.n_hits() > 0 {
                return Ok(false);
            }
        }
        // The result of a call may have made it a hit.
        Ok(self.output != Output::Files || self.n_hits() == 0)
    }

    /// Ends the file.
    pub(super) fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.with_out(out, FileLines::finish)
    }

    /// Returns whether a part is a hit, context of a hit, or neither. For the result of a slow call, it
    /// also returns the duration of the call.
    fn state(
        &mut self,
        part: &Part<'_>,
        event: &Event<'_>,
        is_match: bool,
        out: &mut dyn Write,
    ) -> io::Result<(PartState, Option<i64>)> {
        let min_duration = self.search.min_duration;
        match part {
            Part::ToolUse(tool) => {
                let id = tool.id.decode().into_owned();
                let is_waiting = is_match && min_duration.is_some();
                let call = Call {
                    name: tool.name.decode().into_owned(),
                    time: event_millis(event),
                    is_waiting,
                };
                self.calls.insert(id.clone(), call);
                if is_waiting {
                    return Ok((PartState::Waiting(id), None));
                }
            }
            Part::ToolResult(result) if let Some(min_duration) = min_duration => {
                let id = result.tool_use_id.decode();
                let call = self.calls.get_mut(&*id);
                let is_waiting =
                    call.map(|call| std::mem::take(&mut call.is_waiting)).unwrap_or_default();
                let start = self.calls.get(&*id).and_then(|call| call.time);
                let times = start.zip(event_millis(event));
                let duration = times.map(|(start, end)| end.saturating_sub(start));
                let duration = duration.filter(|duration| *duration >= min_duration);
                if is_waiting {
                    let text = inserted(self.search.form, duration.unwrap_or_default());
                    self.with_out(out, |lines, out| {
                        lines.decide(&id, duration.is_some(), &text, out)
                    })?;
                }
                let is_hit = is_match && self.search.wants_results && duration.is_some();
                return Ok((state_of(is_hit), duration.filter(|_| is_hit)));
            }
            _ => {}
        }
        Ok((state_of(is_match && min_duration.is_none()), None))
    }

    fn with_out<T>(
        &mut self,
        out: &mut dyn Write,
        act: impl FnOnce(&mut FileLines, &mut Out<'_>) -> io::Result<T>,
    ) -> io::Result<T> {
        let (search, input, label) = (self.search, self.input, &self.label);
        let heading = || match search.form.has_heading {
            true => Some(heading(search.form, label, title_of(search, input))),
            false => {
                (search.n_context > 0).then(|| vec![Mark::Separator.byte(), b'-', b'-', b'\n'])
            }
        };
        let is_printed = self.output == Output::Parts;
        act(&mut self.lines, &mut Out { out, is_printed, heading: &heading })
    }
}

fn state_of(is_hit: bool) -> PartState {
    if is_hit { PartState::Hit } else { PartState::Context }
}

/// Returns the title of a session; `None` for standard input, which cannot be read again.
fn title_of(search: &Search, input: &Input) -> Option<String> {
    if *input == Input::Stdin {
        return None;
    }
    title(input, search.format)
}

/// Returns the line before the hits of a file.
fn heading(form: Form, label: &str, title: Option<String>) -> Vec<u8> {
    let mut line = String::from(char::from(Mark::Heading.byte()));
    if let Some(title) = title {
        let short: String = title.chars().take(MAX_TITLE).collect();
        let end = if short.len() < title.len() { "…" } else { "" };
        let title = escape_for_terminal(&format!("{short}{end}"));
        line.push_str(&painted(form.has_color, BOLD, &title));
        line.push_str("  ");
    }
    line.push_str(&painted(form.has_color, FILE, &escape_for_terminal(label)));
    line.push('\n');
    line.into_bytes()
}
