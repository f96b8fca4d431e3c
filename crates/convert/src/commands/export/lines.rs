//! Reads the lines of a session in reading order.
//!
//! In: a main file and the files of its sub-agents. Out: the lines of the main file, and before the
//! result of each tool use the lines of the sub-agent that it started.

use std::{collections::HashSet, io, ops::ControlFlow};

use conversion::{Events, Source};
use core_model::{Agent, Answers, Context, Event, Format, Missing, Options, Plan, SessionTree};
use jsonl::{Line, Text, json_string};
use sessions::{Folders, Input, Redact, SessionFiles, SessionPlace};
use storage::Limits;

use super::damage::Damage;
use crate::{
    FORMATS,
    hint::io_message,
    terminal::{escape::escape_for_terminal, message::warn},
};

/// Limit on nested sub-agent files. Deeper ones come at the end.
const MAX_DEPTH: usize = 16;

/// The reason to leave out records of other branches than the one that is wanted.
pub(in crate::commands) const BRANCH: &str = "branch";

/// The reason to leave out records of turns that were rolled back.
pub(in crate::commands) const ROLLED_BACK: &str = "rolled_back";

/// A line and its event.
pub(in crate::commands) enum Read<'r> {
    Event(&'r Event<'r>),
    /// A line that is not part of the conversation, and the reason, such as [`BRANCH`].
    LeftOut(&'r Event<'r>, &'static str),
    /// A blank line.
    Hidden,
    Damaged(Damage<'r>),
}

/// Receives each line, and returns whether to stop.
type EachRead<'e> = dyn FnMut(Read<'_>) -> io::Result<ControlFlow<()>> + 'e;

/// The files of a session, and the plan of their lines.
pub(in crate::commands) struct SessionLines {
    place: SessionPlace,
    format: &'static Format,
    redact: Redact,
    plan: Plan,
    /// Whether all lines belong to a sub-agent, whose conversation is then the page.
    is_of_agent: bool,
    agents: Vec<Agent>,
    /// The indices of the sub-agents that a tool use started, sorted by the tool use.
    by_tool_use: Vec<usize>,
    missing: Vec<Missing>,
    unread: Vec<String>,
}

impl SessionLines {
    /// Finds the files that belong to an input. `folders` are the folders that were listed for other inputs.
    pub(in crate::commands) fn new(
        input: &Input,
        format: &'static Format,
        redact: Redact,
        folders: &Folders,
    ) -> io::Result<Self> {
        let unit = SessionFiles::of_input(FORMATS, input.clone(), format, folders, &mut warn)?;
        let place = unit.place(Limits::default());
        let tree = match input {
            Input::File { .. } => unit.tree(format, &place)?,
            _ => SessionTree::default(),
        };
        let SessionTree { agents, missing, .. } = tree;
        let tool_use = |agent_idx: &usize| agents.get(*agent_idx)?.tool_use.as_deref();
        let mut by_tool_use: Vec<usize> =
            (0..agents.len()).filter(|agent_idx| tool_use(agent_idx).is_some()).collect();
        by_tool_use.sort_by_key(|agent_idx| tool_use(agent_idx));
        let (plan, unread) = (Plan::default(), Vec::new());
        let is_of_agent = false;
        Ok(Self { place, format, redact, plan, is_of_agent, agents, by_tool_use, missing, unread })
    }

    /// Plans which lines of the main file are part of the conversation.
    pub(in crate::commands) fn plan(
        &mut self,
        events: &mut dyn Events,
        options: &Options,
    ) -> io::Result<()> {
        let mut planner = self.format.planner.map(|planner| planner(options));
        let (mut has_main, mut has_agents) = (false, false);
        events.for_each(&mut |line, event| {
            if let Ok(event) = event {
                if let Some(planner) = &mut planner {
                    planner.observe(line.offset(), event);
                }
                if event.message().is_some() {
                    *if event.is_sub_agent() { &mut has_agents } else { &mut has_main } = true;
                }
            }
            true
        })?;
        self.is_of_agent = has_agents && !has_main;
        self.plan = planner.map(|planner| planner.finish()).unwrap_or_default();
        Ok(())
    }

    /// Returns the number of records that are left out for a reason.
    pub(in crate::commands) fn n_hidden(&self, reason: &str) -> usize {
        self.plan.hidden.iter().filter(|hidden| hidden.field == reason).count()
    }

    /// Returns the reason why a record of the main file is left out; `None` if it is not.
    pub(in crate::commands) fn hides(&self, offset: u64) -> Option<&'static str> {
        self.plan.hides(offset)
    }

    /// Calls `each` with every line of all files, until it stops.
    pub(in crate::commands) fn each(
        &mut self,
        events: &mut dyn Events,
        each: &mut EachRead<'_>,
    ) -> io::Result<()> {
        let (started, answers) = (HashSet::new(), Answers::default());
        let mut pass = Pass { lines: self, started, answers, unread: Vec::new() };
        let (mut result, mut number) = (Ok(ControlFlow::Continue(())), 0);
        events.for_each(&mut |line, event| {
            number += 1;
            result = pass.main_line(line, number, event, each);
            matches!(result, Ok(ControlFlow::Continue(())))
        })?;
        let mut step = result?;
        for (agent_idx, agent) in pass.lines.agents.iter().enumerate() {
            if step.is_break() {
                return Ok(());
            }
            step = pass.agent(agent_idx, agent.tool_use.as_deref(), 0, each)?;
        }
        // A file may be unreadable in one pass only.
        for what in pass.unread {
            if !self.unread.contains(&what) {
                self.unread.push(what);
            }
        }
        Ok(())
    }

    /// Returns the sub-agents that a tool use or a result names and that have no file.
    pub(in crate::commands) fn missing(&self) -> &[Missing] {
        &self.missing
    }

    /// Returns the indices of the sub-agents that a tool use started.
    fn started_by(&self, tool_use: &str) -> &[usize] {
        let of = |agent_idx: &usize| self.agents.get(*agent_idx)?.tool_use.as_deref();
        let first = self.by_tool_use.partition_point(|agent_idx| of(agent_idx) < Some(tool_use));
        let found = self.by_tool_use.get(first..).unwrap_or_default();
        let n_found = found.partition_point(|agent_idx| of(agent_idx) <= Some(tool_use));
        found.get(..n_found).unwrap_or_default()
    }

    /// Returns messages about files that could not be read.
    pub(in crate::commands) fn unread(&self) -> &[String] {
        &self.unread
    }
}

/// One pass through all files.
struct Pass<'r> {
    lines: &'r SessionLines,
    /// The sub-agents whose files were begun.
    started: HashSet<usize>,
    answers: Answers,
    unread: Vec<String>,
}

impl Pass<'_> {
    fn main_line(
        &mut self,
        line: &Line<'_>,
        number: u64,
        event: jsonl::Result<&Event<'_>>,
        each: &mut EachRead<'_>,
    ) -> io::Result<ControlFlow<()>> {
        let event = match event {
            Ok(event) => match self.lines.plan.hides(line.offset()) {
                None => event,
                Some(reason) => return each(Read::LeftOut(event, reason)),
            },
            Err(error) if line.is_blank() || error.kind == jsonl::ErrorKind::Empty => {
                return each(Read::Hidden);
            }
            Err(error) => return each(Read::Damaged(Damage { file: None, number, error })),
        };
        if let (Some(error), 0) = (event.value.unread(line), event.nth)
            && each(Read::Damaged(Damage { file: None, number, error }))?.is_break()
        {
            return Ok(ControlFlow::Break(()));
        }
        if self.agents_before(event, 0, each)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        if let Some(answer) = self.answers.answer_of(event)
            && each(Read::Event(&answer))?.is_break()
        {
            return Ok(ControlFlow::Break(()));
        }
        if !self.lines.is_of_agent {
            return each(Read::Event(event));
        }
        let context = Context { is_sidechain: false, parent_tool_use: None, ..event.context };
        each(Read::Event(&Event { context, ..*event }))
    }

    /// Reads the files of sub-agents whose tool uses an event answers.
    fn agents_before(
        &mut self,
        event: &Event<'_>,
        depth: usize,
        each: &mut EachRead<'_>,
    ) -> io::Result<ControlFlow<()>> {
        if self.lines.by_tool_use.is_empty() || depth >= MAX_DEPTH {
            return Ok(ControlFlow::Continue(()));
        }
        for result in event.message().into_iter().flat_map(|message| message.tool_results()) {
            let id = result.tool_use_id.decode();
            for &agent_idx in self.lines.started_by(&id) {
                if self.agent(agent_idx, Some(&id), depth + 1, each)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Reads the file of a sub-agent, once.
    fn agent(
        &mut self,
        agent_idx: usize,
        tool_use: Option<&str>,
        depth: usize,
        each: &mut EachRead<'_>,
    ) -> io::Result<ControlFlow<()>> {
        let Some(agent) = self.lines.agents.get(agent_idx) else {
            return Ok(ControlFlow::Continue(()));
        };
        if !self.started.insert(agent_idx) {
            return Ok(ControlFlow::Continue(()));
        }
        let written = json_string(tool_use.unwrap_or_default());
        let parent_tool_use = tool_use.and_then(|_| Text::new(&written));
        let label = escape_for_terminal(&self.lines.place.label(&agent.path));
        let opened = self.lines.place.bytes(&agent.path);
        let file = match opened.and_then(|file| self.lines.redact.bytes(FORMATS, file)) {
            Ok(redacted) => redacted.file,
            Err(error) => {
                self.unread.push(format!("{label}: {}", io_message(&error)));
                return Ok(ControlFlow::Continue(()));
            }
        };
        let (format, mut number, mut result) =
            (self.lines.format, 0, Ok(ControlFlow::Continue(())));
        Source::new(file).for_each_piece(&[format], &mut |line, value| {
            number += 1;
            let damaged = |error: jsonl::Error, each: &mut EachRead<'_>| {
                each(Read::Damaged(Damage { file: Some(&label), number, error }))
            };
            result = match value {
                Ok(value) => {
                    let mut result = match value.unread(line) {
                        Some(error) => damaged(error, each),
                        None => Ok(ControlFlow::Continue(())),
                    };
                    format.for_each_event(value, |event| {
                        if !matches!(result, Ok(ControlFlow::Continue(()))) {
                            return false;
                        }
                        let context =
                            Context { parent_tool_use, is_sidechain: true, ..event.context };
                        let event = Event { context, ..*event };
                        result = match self.agents_before(&event, depth, each) {
                            Ok(ControlFlow::Continue(())) => each(Read::Event(&event)),
                            result => result,
                        };
                        matches!(result, Ok(ControlFlow::Continue(())))
                    });
                    result
                }
                Err(error) if line.is_blank() || error.kind == jsonl::ErrorKind::Empty => {
                    each(Read::Hidden)
                }
                Err(error) => damaged(error, each),
            };
            matches!(result, Ok(ControlFlow::Continue(())))
        })?;
        result
    }
}
