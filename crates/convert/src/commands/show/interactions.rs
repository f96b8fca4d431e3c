//! Prints a session as pairs: each prompt with the final answer.
//!
//! In: a prompt, a text, two calls with their results, and a text. Out: the prompt, the number of calls,
//! and the last text.

use std::{
    collections::VecDeque,
    io::{self, Write},
    ops::ControlFlow,
};

use core_model::{Block, ErrorPolicy, Event, Format, Role, is_failure};
use sessions::{Filter, Matcher, PartKind};

use super::{Args, Nesting, Page, Wanted, new_page};
use crate::terminal::figures::{count, grouped};

/// A printer of prompts with their answers.
pub(super) struct Interactions<'s> {
    page: Box<dyn Page + 's>,
    matcher: Matcher<'s>,
    is_all_wanted: bool,
    open: Option<Interaction>,
    /// The number of interactions to skip, and the number to print.
    n_left_out: u64,
    n_left: u64,
    /// The last interactions, if only these are wanted, and their number.
    last: Option<(VecDeque<Interaction>, usize)>,
    /// Whether anything was printed.
    pub(super) has_shown: bool,
}

/// A prompt and what follows it.
#[derive(Debug, Default)]
struct Interaction {
    /// The printed prompt.
    prompt: Vec<u8>,
    /// The printed last text of the assistant, and the id of its response.
    answer: Vec<u8>,
    response: Option<String>,
    n_calls: u64,
    n_failed: u64,
    /// Whether a part of it matches the filter.
    is_wanted: bool,
}

impl<'s> Interactions<'s> {
    /// Creates a printer.
    pub(super) fn new(args: &'s Args, filter: &'s Filter, format: &'static Format) -> Self {
        let last = args.tail.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        Self {
            page: new_page(args, format),
            matcher: Matcher::new(filter),
            is_all_wanted: args.filter.is_empty(),
            open: None,
            n_left_out: args.offset,
            n_left: args.limit.unwrap_or(u64::MAX),
            last: last.map(|n| (VecDeque::new(), n)),
            has_shown: false,
        }
    }

    /// Adds an event, and prints the interaction that it ends. Returns whether to stop.
    pub(super) fn event(
        &mut self,
        event: &Event<'_>,
        out: &mut dyn Write,
    ) -> io::Result<ControlFlow<()>> {
        let Some(message) = event.message() else { return Ok(ControlFlow::Continue(())) };
        let is_prompt = event.is_prompt() && !event.is_sub_agent();
        if is_prompt && let Some(ended) = self.open.take() {
            self.end(ended, out)?;
        }
        if self.n_left == 0 {
            return Ok(ControlFlow::Break(()));
        }
        let mut open = self.open.take().unwrap_or_default();
        open.is_wanted = open.is_wanted || self.is_all_wanted || {
            let parts = Wanted::new(event, &mut self.matcher);
            !parts.is_empty()
        };
        for result in message.tool_results() {
            open.n_failed += u64::from(is_failure(&result, ErrorPolicy::Flag));
        }
        let is_call = |block: &Block<'_>| matches!(block, Block::ToolUse(_));
        open.n_calls += message.blocks().filter(|(block, _)| is_call(block)).count() as u64;
        if is_prompt {
            let is_asked = |kind| !matches!(kind, PartKind::ToolResult);
            self.print(event, &is_asked, &mut open.prompt)?;
        } else if message.role == Role::Assistant && !event.is_sub_agent() {
            let response = message.id.map(|id| id.decode().into_owned());
            let mut answer = Vec::new();
            self.print(event, &|kind| kind == PartKind::Assistant, &mut answer)?;
            if !answer.is_empty() {
                if response.is_none() || response != open.response {
                    open.answer.clear();
                }
                open.answer.append(&mut answer);
                open.response = response;
            }
        }
        self.open = Some(open);
        Ok(ControlFlow::Continue(()))
    }

    /// Prints the last interactions.
    pub(super) fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(ended) = self.open.take() {
            self.end(ended, out)?;
        }
        for interaction in self.last.take().map(|(last, _)| last).unwrap_or_default() {
            self.put(&interaction, out)?;
        }
        self.page.finish(out)
    }

    /// Prints an interaction, unless it is skipped or may not be among the last ones.
    fn end(&mut self, ended: Interaction, out: &mut dyn Write) -> io::Result<()> {
        let is_empty = ended.prompt.is_empty() && ended.answer.is_empty();
        if is_empty || !ended.is_wanted {
            return Ok(());
        }
        if let Some((last, n)) = &mut self.last {
            last.push_back(ended);
            if last.len() > *n {
                last.pop_front();
            }
            return Ok(());
        }
        if self.n_left_out > 0 {
            self.n_left_out -= 1;
            return Ok(());
        }
        self.n_left = self.n_left.saturating_sub(1);
        self.put(&ended, out)
    }

    fn put(&mut self, interaction: &Interaction, out: &mut dyn Write) -> io::Result<()> {
        self.has_shown = true;
        let Interaction { prompt, answer, n_calls, n_failed, .. } = interaction;
        out.write_all(prompt)?;
        let calls = match (n_calls, n_failed) {
            (0, _) => String::new(),
            (_, 0) => count(*n_calls, "call"),
            _ => format!("{}, {} failed", count(*n_calls, "call"), grouped(*n_failed)),
        };
        match (calls.as_str(), answer.is_empty()) {
            ("", false) => {}
            (calls, false) => self.page.note(calls, out)?,
            ("", true) => self.page.note("no answer", out)?,
            (calls, true) => self.page.note(&format!("no answer; {calls}"), out)?,
        }
        out.write_all(answer)
    }

    /// Prints the parts of an event that are of wanted kinds; nothing if there are none.
    fn print(
        &mut self,
        event: &Event<'_>,
        is_wanted: &dyn Fn(PartKind) -> bool,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        let filter = self.matcher.filter();
        let are_wanted: Vec<bool> =
            filter.parts(event).map(|part| is_wanted(part.kind())).collect();
        if !are_wanted.contains(&true) {
            return Ok(());
        }
        let wanted = Wanted { event, filter, are_wanted };
        if !self.page.has(event, &wanted) {
            return Ok(());
        }
        self.page.event(event, &wanted, &Nesting::default(), out)
    }
}
