//! The first pass over a source: collects the facts that a writer needs before the first line.
//!
//! In: the events of the source. Out: a [`Survey`] with title, model, times, the plan of shown and
//! deferred lines, the sub-agents, and sample lines for the template.

use std::{collections::HashSet, io, sync::Arc};

use core_model::{Answers, Event, Facts, Format, Plan, Role};
use jsonl::Line;

use crate::{
    carry::{Carry, Member, Template, guard::line_guard},
    pipeline::{
        Conversion,
        agents::Agents,
        engine::CarryMode,
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
    /// The guards of all records, in a source with a sidecar.
    pub(crate) guards: HashSet<u64>,
}

/// The first record of a written file that names the folder of the session.
#[derive(Debug)]
pub(crate) struct WrittenStart {
    /// The folder.
    pub(crate) cwd: String,
    /// The guard of the record, and the guard in its carry.
    pub(crate) guard: u64,
    pub(crate) carried: Option<u64>,
}

impl WrittenStart {
    fn of(format: &Format, line: &Line<'_>, event: &Event<'_>) -> Option<Self> {
        let cwd = event.context.cwd?.decode().into_owned();
        let member = Member::find(event.value, format);
        let carried = member.as_ref().and_then(|member| Carry::guard_in(&member.carry));
        let guard = match member {
            Some(member) => member.guard_in(format, line.is_glue()),
            None => line_guard(format, line, Some(event.value)),
        };
        Some(Self { cwd, guard, carried })
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

    /// Returns the offset at which the session's own file ends; `u64::MAX` for a source of one
    /// file.
    fn own_end(&self) -> u64 {
        u64::MAX
    }
}

/// Receives each line and its event. Returns false to stop.
pub type EachEvent<'e> = dyn FnMut(&Line<'_>, jsonl::Result<&Event<'_>>) -> bool + 'e;

/// Limit on the bytes of a line that go into the template.
const MAX_SAMPLE: usize = 64 * 1024;

/// Reads a source for the first time. Collects guards if it has a sidecar, and the first folder if
/// it is restored.
pub(crate) fn survey(
    source: &mut dyn Events,
    conversion: &Conversion,
    is_restored: bool,
    has_sidecar: bool,
) -> io::Result<Survey> {
    let Conversion { from, to, carry, options, .. } = conversion;
    let has_carry = *carry != CarryMode::None;
    let mut survey = Survey::default();
    let mut planner = from.planner.map(|planner| planner(options));
    let mut samples: [Option<String>; 2] = [None, None];
    let (mut n_main, mut n_agents) = (0u64, 0u64);
    let mut answers = Answers::default();
    let (own_end, mut has_sidechains) = (source.own_end(), false);
    survey.shows_linked = to.has_inline_agents;
    source.for_each(&mut |line, event| {
        if has_sidecar && is_restored {
            let value = event.ok().map(|event| event.value);
            survey.guards.insert(line_guard(from, line, value));
        }
        let Ok(event) = event else { return true };
        if is_restored && survey.start.is_none() {
            survey.start = WrittenStart::of(from, line, event);
        }
        if let Some(planner) = &mut planner {
            planner.observe(line.offset(), event);
        }
        if let Some(message) = event.message() {
            let sample = &mut samples[usize::from(message.role == Role::Assistant)];
            if sample.is_none() && has_carry {
                let text = event.value.raw().as_str();
                let length = text.floor_char_boundary(MAX_SAMPLE);
                *sample = text.get(..length).map(str::to_owned);
            }
            *if event.is_sub_agent() { &mut n_agents } else { &mut n_main } += 1;
        }
        if let Some(answer) = answers.answer_of(event) {
            survey.facts.observe(&answer);
            n_main += 1;
        }
        if !event.is_sub_agent() {
            survey.facts.observe(event);
        } else if event.context.parent_tool_use.is_none() {
            has_sidechains |= line.offset() < own_end;
        } else if !to.has_inline_agents {
            survey.agents.observe(&survey.facts, event);
        }
        true
    })?;
    // Without other messages, the sidechain is the conversation.
    let bundles = from.bundles.filter(|_| has_sidechains && n_main > 0);
    if let Some(bundles) = bundles {
        survey.attribution = Arc::new(Attribution::find(source, bundles)?);
    }
    let attribution = survey.attribution.clone();
    let source = &mut Attributed::new(source, &attribution);
    if bundles.is_some() && !to.has_inline_agents {
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
    if to.rewrites.is_values() {
        // No carry may need another one.
        samples = [None, None];
    }
    survey.template = Template::of_lines(samples.iter().flatten().map(String::as_str));
    survey.plan = planner.map(|planner| planner.finish()).unwrap_or_default();
    let is_family = from.family == to.family;
    survey.shows_agents = n_main == 0 || (is_family && to.has_inline_agents);
    if survey.plan.hidden.is_empty()
        && (n_agents == 0 || !(survey.shows_agents || to.has_inline_agents))
    {
        return Ok(survey);
    }
    // Both facts hold the ids of all calls. Dropping the first ones halves the peak.
    survey.facts = Facts::default();
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
