//! Sub-agents of which a source tells among its own messages, each as a session of its own.
//!
//! The main file carries all of the source: what is written here is shown, and leads nowhere back.

use std::{
    collections::{BTreeSet, HashMap},
    io::{self, Read, Seek, Write},
};

use core_model::{Block, Description, Event, uuid_of_name};
use jsonl::Scanner;

use super::Conversion;
use crate::{
    CarryMode,
    carry::{Contents, Volume, VolumeKind},
    pipeline::{
        engine::{Engine, Written},
        source::Source,
        survey::{SubAgent, Survey, as_own, survey},
    },
};

/// The digits of a sub-agent's id, as client 2.0 has them.
const ID_LENGTH: usize = 7;

/// A sub-agent that is to be written.
#[derive(Debug)]
pub(crate) struct DerivedAgent {
    /// Its id, made of its tool use.
    pub(crate) id: String,
    /// What the tool use says of it.
    pub(crate) description: Description,
    known: SubAgent,
}

impl Conversion {
    /// Finds the sub-agents that a source tells of and the target does not show, if it shows
    /// anything else.
    pub(crate) fn derived_agents<R: Read + Seek + Send>(
        &self,
        source: &mut Source<R>,
    ) -> io::Result<Vec<DerivedAgent>> {
        let Survey { facts, agents, shows_agents, .. } = source
            .with_events(self.from, |events| survey(events, self.from, self.to, &self.options))?;
        if shows_agents || agents.is_empty() {
            return Ok(Vec::new());
        }
        let mut taken = BTreeSet::new();
        let mut derived = Vec::new();
        for mut known in agents {
            let own = &mut known.facts;
            own.start = own.start.take().or_else(|| facts.start.clone());
            own.cwd = own.cwd.take().or_else(|| facts.cwd.clone());
            own.version = own.version.take().or_else(|| facts.version.clone());
            let id = id_of(&known.tool_use, &mut taken);
            own.agent = Some(id.clone());
            let description =
                Description { tool_use: Some(known.tool_use.clone()), ..Description::default() };
            derived.push(DerivedAgent { id, description, known });
        }
        self.describe(source, &mut derived)?;
        Ok(derived)
    }

    /// Takes note of what the tool uses say of the sub-agents that they started.
    fn describe<R: Read + Seek + Send>(
        &self,
        source: &mut Source<R>,
        agents: &mut [DerivedAgent],
    ) -> io::Result<()> {
        let places: HashMap<String, usize> = places_of(agents);
        let mut scanner = Scanner::default();
        source.with_events(self.from, |events| {
            events.for_each(&mut |_, event| {
                let message = event.ok().and_then(Event::message);
                for (block, _) in message.into_iter().flat_map(|message| message.blocks()) {
                    let Block::ToolUse(tool) = block else { continue };
                    let Some(&place) = places.get(&*tool.id.decode()) else { continue };
                    let Ok(input) = scanner.scan_raw(tool.input) else { continue };
                    let text = |name| Some(input.get(name)?.text()?.decode().into_owned());
                    let description = &mut agents[place].description;
                    description.kind = text("subagent_type");
                    description.description = text("description");
                }
                true
            })
        })
    }

    /// Writes each sub-agent to its sink.
    pub(crate) fn run_derived<R: Read + Seek + Send>(
        &self,
        source: &mut Source<R>,
        agents: &[DerivedAgent],
        sinks: Vec<&mut dyn Write>,
    ) -> io::Result<Vec<Written>> {
        let mode = match self.carry {
            CarryMode::None => CarryMode::None,
            CarryMode::Inline | CarryMode::Sidecar => CarryMode::Inline,
        };
        let mut engines = Vec::new();
        for (agent, sink) in agents.iter().zip(sinks) {
            let mut survey = Survey { facts: agent.known.facts.clone(), ..Survey::default() };
            let engine = Engine::new(self.from, self.to, &self.options, mode, &mut survey, sink)?;
            let mut engine = engine.derived();
            engine.set_contents(&contents_of(&agent.known.tool_use));
            engines.push(engine);
        }
        let places = places_of(agents);
        let (mut n_lines, mut result) = (0, Ok(()));
        source.with_events(self.from, |events| {
            events.for_each(&mut |line, event| {
                n_lines += 1;
                let Ok(event) = event else { return true };
                let tool_use = event.context.parent_tool_use.map(|id| id.decode());
                let place = tool_use.and_then(|id| places.get(&*id).copied());
                if let Some(place) = place.filter(|_| event.message().is_some()) {
                    let engine = &mut engines[place];
                    engine.set_line_number(n_lines);
                    result = engine.write(line, &as_own(*event), self.from);
                }
                result.is_ok()
            })
        })?;
        result?;
        engines.into_iter().map(Engine::finish).collect()
    }
}

fn places_of(agents: &[DerivedAgent]) -> HashMap<String, usize> {
    let tool_use = |agent: &DerivedAgent| agent.known.tool_use.clone();
    agents.iter().enumerate().map(|(place, agent)| (tool_use(agent), place)).collect()
}

fn contents_of(tool_use: &str) -> Contents {
    let (kind, tool_use) = (VolumeKind::Derived, tool_use.to_owned());
    Contents { volumes: vec![Volume { kind, size: 0, name: String::new(), tool_use }] }
}

/// Returns an id for the sub-agent of a tool use that no other has.
fn id_of(tool_use: &str, taken: &mut BTreeSet<String>) -> String {
    let digits: String =
        uuid_of_name("agent", tool_use).chars().filter(char::is_ascii_hexdigit).collect();
    let ids = (ID_LENGTH..=digits.len()).filter_map(|length| digits.get(..length));
    let id = ids.into_iter().find(|id| !taken.contains(*id)).unwrap_or(&digits).to_owned();
    taken.insert(id.clone());
    id
}
