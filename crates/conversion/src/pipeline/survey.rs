//! The first pass over a source: collects the facts that a writer needs before the first line.
//!
//! In: the events of the source. Out: a [`Survey`] with title, model, times, the plan of shown and
//! deferred lines, the sub-agents, and sample lines for the template.

use std::{collections::HashSet, io, sync::Arc};

use core_model::{Answers, Body, Event, FactLog, Facts, Format, LoggedEvent, Plan, Role};
use jsonl::Line;

use crate::{
    carry::{Carry, Member, Template, guard::line_guard},
    pipeline::{
        Conversion,
        agents::Agents,
        engine::CarryMode,
        planners::FilePlanners,
        sidechains::{Attributed, Attribution},
    },
};

/// The results of the first pass.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub(crate) facts: Facts,
    pub(crate) template: Template,
    pub(crate) plan: Plan,
    /// Whether sub-agents' messages are shown: the target has a place for them, or the source has
    /// no other messages.
    pub(crate) shows_agents: bool,
    /// Whether sub-agents' messages with a tool use are shown.
    pub(crate) shows_linked: bool,
    /// The sub-agents among the source's own messages; empty if the target shows them.
    pub(crate) agents: Agents,
    /// The sub-agents of lines that do not name one.
    pub(crate) attribution: Arc<Attribution>,
    /// Whether sub-agents are written to files of their own.
    pub(crate) has_derived: bool,
    /// The first record that names the folder, in a source that is restored.
    pub(crate) start: Option<WrittenStart>,
    /// The record with the title, if a file of lines is restored to a document.
    pub(crate) title: Option<WrittenTitle>,
    /// The guards of all records, in a source with a sidecar.
    pub(crate) guards: HashSet<u64>,
    /// The template of a file that is restored, if another record was moved before the one that has it.
    pub(crate) moved_template: Option<String>,
}

/// The first record of a written file that names the folder of the session.
#[derive(Debug)]
pub(crate) struct WrittenStart {
    /// The folder.
    pub(crate) cwd: String,
    pub(crate) guards: WrittenGuards,
    /// In a file with a sidecar, the guards of the records up to this one, in no order; none if they are many.
    pub(crate) until: Vec<u64>,
}

/// The record of a written file with the title that wins.
#[derive(Debug)]
pub(crate) struct WrittenTitle {
    /// The title, as written.
    pub(crate) text: Arc<str>,
    pub(crate) guards: WrittenGuards,
}

/// The guard of a written record, and the guard in its carry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrittenGuards {
    pub(crate) guard: u64,
    pub(crate) carried: Option<u64>,
}

impl WrittenGuards {
    fn of(format: &Format, line: &Line<'_>, event: &Event<'_>) -> Self {
        let member = Member::find(event.value, format);
        let carried = member.as_ref().and_then(|member| Carry::guard_in(&member.carry));
        let guard = match member {
            Some(member) => member.guard_in(format, line.is_glue()),
            None => line_guard(format, line, Some(event.value)),
        };
        Self { guard, carried }
    }
}

impl WrittenStart {
    fn of(format: &Format, line: &Line<'_>, event: &Event<'_>) -> Option<Self> {
        let cwd = event.context.cwd?.decode().into_owned();
        let guards = WrittenGuards::of(format, line, event);
        Some(Self { cwd, guards, until: Vec::new() })
    }
}

impl Survey {
    /// Returns the name under which a hidden event is counted; `None` if the target shows it.
    pub(crate) fn hides(&self, offset: u64, event: &Event<'_>) -> Option<&'static str> {
        match event.is_sub_agent() && !self.shows_agent(event) {
            true => Some("sub-agent"),
            false => self.plan.hides(offset),
        }
    }

    fn shows_agent(&self, event: &Event<'_>) -> bool {
        // Other events of a sub-agent (its title, its result) describe its own file.
        let is_linked = event.context.parent_tool_use.is_some() && event.message().is_some();
        self.shows_agents || self.shows_linked && is_linked
    }

    /// Returns whether the target shows an event of the log.
    fn shows_logged(&self, event: &LoggedEvent) -> bool {
        let LoggedEvent { offset, is_message, is_sidechain, names_tool_use } = *event;
        let attributed = self.attribution.has_tool_use(offset).filter(|_| is_sidechain);
        let is_linked = is_message && attributed.unwrap_or(names_tool_use);
        let is_agent = is_sidechain || names_tool_use;
        (!is_agent || self.shows_agents || self.shows_linked && is_linked)
            && self.plan.hides(offset).is_none()
    }

    /// Removes and returns the sub-agents that the target hides, with their ids and facts.
    pub(crate) fn take_hidden_agents(&mut self) -> Agents {
        if self.shows_agents {
            return Agents::default();
        }
        let mut agents = std::mem::take(&mut self.agents);
        agents.complete(&self.facts, self.attribution.clone());
        self.has_derived = !agents.is_empty();
        agents
    }

    /// Returns whether a hidden event is written to a file of its own.
    pub(crate) fn is_elsewhere(&self, event: &Event<'_>) -> bool {
        self.has_derived && Agents::names(event)
    }
}

/// Returns a summary as a message of the user. Clients cut off all messages before a summary, but a compaction
/// in [`Plan::keeping`] keeps some.
pub(crate) fn as_prompt(mut event: Event<'_>) -> Event<'_> {
    if let Body::Message(message) = &mut event.body {
        message.is_summary = false;
    }
    event
}

/// Returns a sub-agent's event as an event of a session of its own.
pub(crate) fn as_own(mut event: Event<'_>) -> Event<'_> {
    event.context.is_sidechain = false;
    event.context.parent_tool_use = None;
    event
}

/// The events of a source, which can be read more than once.
pub trait Events {
    /// Calls `each` with every line and its event, until it returns false.
    fn for_each(&mut self, each: &mut EachEvent<'_>) -> io::Result<()>;

    /// Returns whether [`Events::for_each_window`] calls.
    fn has_windows(&self) -> bool {
        false
    }

    /// Calls `each` with one part of the events after the other, until it returns false. A part can be
    /// read more than once.
    fn for_each_window(&mut self, _each: &mut EachWindow<'_>) -> io::Result<()> {
        Ok(())
    }

    /// Frees the memory of long lines, which are read again when they are needed. Called before the writer ends the
    /// target, so that its long lines are not in memory at the same time.
    fn release(&mut self) {}

    /// Returns the size of the source in bytes; very large if it is unknown.
    fn size(&mut self) -> io::Result<u64> {
        Ok(u64::MAX)
    }

    /// Returns the offsets at which the files after the session's own one begin, in ascending order;
    /// none for a source of one file.
    fn other_files(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Returns the offset at which the session's own file ends; `u64::MAX` for a source of one
    /// file.
    fn own_end(&self) -> u64 {
        self.other_files().first().copied().unwrap_or(u64::MAX)
    }
}

/// Receives each line and its event. Returns false to stop.
pub type EachEvent<'e> = dyn FnMut(&Line<'_>, jsonl::Result<&Event<'_>>) -> bool + 'e;

/// Receives a part of the events. Returns false to stop.
pub type EachWindow<'e> = dyn FnMut(&mut dyn Events) -> io::Result<bool> + 'e;

/// Limit on the bytes of a line that go into the template.
const MAX_SAMPLE: usize = 64 * 1024;

/// The search for the carry with the template, which is the first one that was written.
struct FirstCarry {
    /// The format that the carries restore.
    format: &'static Format,
    /// Whether another carry was read.
    is_moved: bool,
}

impl FirstCarry {
    fn new(format: &'static Format) -> Self {
        Self { format, is_moved: false }
    }

    /// Reads a carry. Returns whether it ends the search, and the template if other carries come before it.
    fn read(&mut self, carry: &Carry<'_>) -> (bool, Option<String>) {
        let is_moved = std::mem::replace(&mut self.is_moved, true);
        match carry.ordinal.filter(|_| carry.format.is(self.format)) {
            Some(0) | None => (true, carry.template.filter(|_| is_moved).map(str::to_owned)),
            Some(_) => (false, None),
        }
    }
}

/// Reads a source for the first time. Collects guards if it has a sidecar, and the first folder if
/// it is restored; `restored` is the format that it is restored to.
pub(crate) fn survey(
    source: &mut dyn Events,
    conversion: &Conversion,
    restored: Option<&'static Format>,
    has_sidecar: bool,
) -> io::Result<Survey> {
    let mut surveyor = Surveyor::new(conversion, source.other_files());
    (surveyor.is_restored, surveyor.has_sidecar) = (restored.is_some(), has_sidecar);
    // A sidecar has its first carry first.
    surveyor.first_carry = restored.filter(|_| !has_sidecar).map(FirstCarry::new);
    source.for_each(&mut |line, event| {
        surveyor.observe(line, event);
        true
    })?;
    surveyor.finish(source)
}

/// The state of a first pass.
pub(crate) struct Surveyor<'c> {
    conversion: &'c Conversion,
    is_restored: bool,
    has_sidecar: bool,
    /// `None` once it was found.
    first_carry: Option<FirstCarry>,
    survey: Survey,
    planners: FilePlanners<'c>,
    /// The first line of the user, and of the assistant.
    samples: [Option<String>; 2],
    /// The messages of the session, and of sub-agents.
    n_main: u64,
    n_agents: u64,
    answers: Answers,
    /// The facts of all events, while all messages are a sub-agent's: then these are the
    /// conversation.
    all: Option<Facts>,
    own_end: u64,
    has_sidechains: bool,
    /// The facts of each event, because lines may turn out to be hidden.
    log: FactLog,
}

impl<'c> Surveyor<'c> {
    /// Starts a first pass over a source. `other_files` are the offsets at which the files after the session's own
    /// one begin.
    pub(crate) fn new(conversion: &'c Conversion, other_files: Vec<u64>) -> Self {
        let Conversion { from, to, options, .. } = conversion;
        let own_end = other_files.first().copied().unwrap_or(u64::MAX);
        let survey = Survey { shows_linked: to.has_inline_agents, ..Survey::default() };
        let log = FactLog::new(&survey.facts);
        Self {
            conversion,
            is_restored: false,
            has_sidecar: false,
            first_carry: None,
            survey,
            planners: FilePlanners::new(from, options, other_files),
            samples: [None, None],
            n_main: 0,
            n_agents: 0,
            answers: Answers::default(),
            all: Some(Facts::default()),
            own_end,
            has_sidechains: false,
            log,
        }
    }

    /// Adds a line and its event.
    pub(crate) fn observe(&mut self, line: &Line<'_>, event: jsonl::Result<&Event<'_>>) {
        let Conversion { from, to, carry, .. } = self.conversion;
        let survey = &mut self.survey;
        if self.has_sidecar && self.is_restored {
            let event = event.ok();
            // All events of a record have its guard.
            if event.is_none_or(|event| event.nth == 0) {
                survey.guards.insert(line_guard(from, line, event.map(|event| event.value)));
            }
        }
        let Ok(event) = event else { return };
        if self.is_restored && survey.start.is_none() {
            /// Limit on the records before the start that are kept.
            const MAX_BEFORE: usize = 64;
            survey.start = WrittenStart::of(from, line, event);
            if let Some(start) = &mut survey.start
                && survey.guards.len() <= MAX_BEFORE
            {
                start.until = survey.guards.iter().copied().collect();
            }
        }
        if let Some(first) = &mut self.first_carry
            && event.nth == 0
            && let Some(member) = Member::find(event.value, from)
            && let Ok(carry) = Carry::parse(&member.carry)
            && let (true, template) = first.read(&carry)
        {
            survey.moved_template = template;
            self.first_carry = None;
        }
        self.planners.observe(line.offset(), event);
        if let Some(message) = event.message() {
            let sample = &mut self.samples[usize::from(message.role == Role::Assistant)];
            if sample.is_none() && *carry != CarryMode::None {
                let text = event.value.raw().as_str();
                let length = text.floor_char_boundary(MAX_SAMPLE);
                *sample = text.get(..length).map(str::to_owned);
            }
            *if event.is_sub_agent() { &mut self.n_agents } else { &mut self.n_main } += 1;
        }
        let answer = self.answers.answer_of(event);
        if let Some(answer) = &answer {
            survey.facts.observe(answer);
            self.n_main += 1;
        }
        if self.n_main > 0 {
            self.all = None;
        } else if let Some(all) = &mut self.all {
            all.observe(event);
        }
        let facts = Some(&mut survey.facts).filter(|_| !event.is_sub_agent());
        self.log.observe(line.offset(), event, facts);
        if let (Body::Title(title), true) = (&event.body, self.is_restored)
            && to.title_place.is_some()
            && !from.framing.is_document()
            && survey.facts.has_title(title)
            && let Some((_, text)) = &survey.facts.title
        {
            let text = Arc::clone(text);
            survey.title =
                Some(WrittenTitle { text, guards: WrittenGuards::of(from, line, event) });
        }
        if !event.is_sub_agent() {
            return;
        }
        if event.context.parent_tool_use.is_none() {
            self.has_sidechains |= line.offset() < self.own_end;
        } else if !to.has_inline_agents {
            survey.agents.observe(&survey.facts, event);
        }
    }

    /// Returns the survey of the events so far, in a source that is linear up to here and has no
    /// sub-agents, or messages of one sub-agent only. Its facts share their ids with later ones.
    pub(crate) fn so_far(&mut self) -> Option<Survey> {
        if !self.is_simple() || self.n_main == 0 && self.n_agents == 0 {
            return None;
        }
        let template = self.template();
        let facts = self.shown_facts();
        facts.set_incomplete(true);
        let facts = facts.share();
        let shows_agents = self.n_main == 0;
        let shows_linked = self.survey.shows_linked;
        Some(Survey { facts, template, shows_agents, shows_linked, ..Survey::default() })
    }

    /// Returns whether all messages are the session's own, or all are a sub-agent's.
    pub(crate) fn is_simple(&self) -> bool {
        let has_agents = self.n_agents > 0 || self.has_sidechains;
        (self.n_main == 0 || !has_agents) && self.survey.agents.is_empty()
    }

    /// Returns the plan of the events so far, which are all.
    pub(crate) fn plan(&mut self) -> &Plan {
        if let Some(plan) = self.planners.finish() {
            self.survey.plan = plan;
        }
        &self.survey.plan
    }

    /// Returns the facts of the events so far, if none is hidden.
    pub(crate) fn shown_facts(&mut self) -> &mut Facts {
        let is_agent = self.n_main == 0 && self.n_agents > 0;
        match &mut self.all {
            Some(all) if is_agent => all,
            _ => &mut self.survey.facts,
        }
    }

    /// Returns the number of lines in the template.
    pub(crate) fn n_samples(&self) -> usize {
        self.samples.iter().flatten().count()
    }

    fn template(&self) -> Template {
        if self.conversion.to.rewrites.is_values() {
            // No carry may need another one.
            return Template::default();
        }
        Template::of_lines(self.samples.iter().flatten().map(String::as_str))
    }

    /// Returns the survey. Reads the source again for sub-agents in side chains, and if lines are hidden and there were
    /// too many events for the log.
    pub(crate) fn finish(mut self, source: &mut dyn Events) -> io::Result<Survey> {
        let Conversion { from, to, .. } = self.conversion;
        let template = self.template();
        self.plan();
        let Self { mut survey, n_main, n_agents, has_sidechains, all, log, .. } = self;
        // Without other messages, the sidechain is the conversation.
        let layout = from.layout.filter(|_| has_sidechains && n_main > 0);
        if let Some(layout) = layout {
            survey.attribution = Arc::new(Attribution::find(source, layout)?);
        }
        let attribution = survey.attribution.clone();
        let source = &mut Attributed::new(source, &attribution);
        if layout.is_some() && !to.has_inline_agents {
            source.for_each(&mut |_, event| {
                if let Ok(event) = event
                    && event.context.is_sidechain
                    && event.message().is_some()
                {
                    survey.agents.observe(&survey.facts, event);
                }
                true
            })?;
        }
        survey.template = template;
        let is_family = from.family == to.family;
        survey.shows_agents = n_main == 0 || (is_family && to.has_inline_agents);
        if survey.plan.hidden.is_empty() {
            if n_agents == 0 || !(survey.shows_agents || to.has_inline_agents) {
                return Ok(survey);
            }
            if let (0, Some(all)) = (n_main, all) {
                return Ok(Survey { facts: all, ..survey });
            }
        }
        // Both facts hold the ids of all calls. Dropping the first ones halves the peak.
        survey.facts = Facts::default();
        if let Some(facts) = log.facts(&mut |event| survey.shows_logged(event)) {
            survey.facts = facts;
            return Ok(survey);
        }
        let (mut facts, mut answers) = (Facts::default(), Answers::default());
        source.for_each(&mut |line, event| {
            if let Ok(event) = event
                && survey.hides(line.offset(), event).is_none()
            {
                if let Some(answer) = answers.answer_of(event) {
                    facts.observe(&answer);
                }
                facts.observe(event);
            }
            true
        })?;
        survey.facts = facts;
        Ok(survey)
    }
}
