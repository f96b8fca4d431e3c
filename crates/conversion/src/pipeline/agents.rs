//! Collects the sub-agents of a source and the facts of each, from the source's own messages.
//!
//! In: a tool use `Task` with `"description":"Review"`, and sidechain lines that name the tool use.
//! Out: a [`SubAgent`] with an id, the description, and facts such as its model.

use std::{collections::HashMap, io, sync::Arc};

use core_model::{AgentIds, Block, Description, Event, Facts};
use jsonl::{Scanner, Text};

use super::{
    sidechains::Attribution,
    survey::{Events, as_own},
};

/// Limit on sub-agents that get files of their own. With more, no sub-agent gets a file: all stay
/// in the carry of the main file, and the report counts their lines. A real session has a few dozen
/// sub-agents. Each takes some kilobytes of memory while it is written.
pub(crate) const MAX_AGENTS: usize = 1_000;

/// The sub-agents of a source, in the order of their first lines.
#[derive(Debug, Default)]
pub struct Agents {
    list: Vec<SubAgent>,
    /// Index in the list by agent id or tool use, as the sub-agent's events name it.
    places: HashMap<String, usize>,
    attribution: Arc<Attribution>,
    /// Whether there were more than [`MAX_AGENTS`]; then the list is empty.
    is_too_many: bool,
}

/// The id, facts and description of a sub-agent.
#[derive(Debug)]
pub struct SubAgent {
    /// The agent id. Derived from the tool use if no line has an id, and empty until
    /// [`Agents::complete`].
    pub id: String,
    /// The facts of its transcript.
    pub facts: Facts,
    /// The description in the tool use that started it.
    pub description: Description,
}

impl SubAgent {
    /// Returns the id of the tool use that started the sub-agent; empty if unknown.
    pub fn tool_use(&self) -> &str {
        self.description.tool_use.as_deref().unwrap_or_default()
    }
}

impl Agents {
    /// Returns whether an event names the sub-agent that it belongs to.
    pub fn names(event: &Event<'_>) -> bool {
        key(event).is_some()
    }

    /// Adds the facts of a sub-agent's event. `session` has the facts of the main session.
    pub fn observe(&mut self, session: &Facts, event: &Event<'_>) {
        let Some(key) = key(event).map(|key| key.decode()) else { return };
        let known = self.place(&key);
        if self.is_too_many || known.is_none() && self.list.len() == MAX_AGENTS {
            *self = Self { is_too_many: true, ..Self::default() };
            return;
        }
        let place = known.unwrap_or_else(|| {
            let meaning = |text: Text<'_>| text.decode().into_owned();
            let tool_use = event.context.parent_tool_use.map(meaning);
            let description = Description { tool_use, ..Description::default() };
            let facts = Facts::of_session(session.session_id.clone());
            let id = event.context.agent_id.map(meaning).unwrap_or_default();
            self.list.push(SubAgent { id, facts, description });
            self.places.insert(key.into_owned(), self.list.len() - 1);
            self.list.len() - 1
        });
        self.list[place].facts.observe(&as_own(*event));
    }

    /// Gives each sub-agent an id and the facts of its session. `attribution` names the sub-agents
    /// of lines that do not name one.
    pub(crate) fn complete(&mut self, session: &Facts, attribution: Arc<Attribution>) {
        self.attribution = attribution;
        let mut ids = AgentIds::default();
        for agent in &mut self.list {
            agent.id = match &*agent.id {
                "" => ids.made_of(agent.tool_use()),
                id => ids.known(id),
            };
            let own = &mut agent.facts;
            own.agent = Some(agent.id.clone());
            own.session_start = session.start.clone();
            own.start = own.start.take().or_else(|| session.start.clone());
            own.cwd = own.cwd.take().or_else(|| session.cwd.clone());
            own.version = own.version.take().or_else(|| session.version.clone());
        }
    }

    /// Reads the descriptions of sub-agents from the tool uses that started them.
    ///
    /// # Errors
    ///
    /// Returns an error if the events cannot be read.
    pub fn describe(&mut self, events: &mut dyn Events) -> io::Result<()> {
        let tool_use = |(place, agent): (usize, &SubAgent)| (agent.tool_use().to_owned(), place);
        let places: HashMap<String, usize> = self.list.iter().enumerate().map(tool_use).collect();
        let mut scanner = Scanner::default();
        events.for_each(&mut |_, event| {
            let message = event.ok().and_then(Event::message);
            for (block, _) in message.into_iter().flat_map(|message| message.blocks()) {
                let Block::ToolUse(tool) = block else { continue };
                let Some(&place) = places.get(&*tool.id.decode()) else { continue };
                let json = tool.input.json();
                let Ok(input) = scanner.scan_raw(json.raw()) else { continue };
                let text = |name| Some(input.get(name)?.text()?.decode().into_owned());
                let description = &mut self.list[place].description;
                description.kind = text("subagent_type");
                description.description = text("description");
            }
            true
        })
    }

    /// Returns whether there are no sub-agents.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the sub-agents.
    pub fn list(&self) -> &[SubAgent] {
        &self.list
    }

    /// Returns the sub-agents for changes.
    pub fn list_mut(&mut self) -> &mut [SubAgent] {
        &mut self.list
    }

    /// Returns the attribution of lines that do not name their sub-agent.
    pub(crate) fn attribution(&self) -> &Arc<Attribution> {
        &self.attribution
    }

    /// Returns the index of the sub-agent that a tool use started; `None` if no event names the
    /// tool use.
    pub fn place(&self, tool_use: &str) -> Option<usize> {
        self.places.get(tool_use).copied()
    }

    /// Returns the index of the sub-agent that an event belongs to.
    pub fn place_of(&self, event: &Event<'_>) -> Option<usize> {
        self.place(&key(event)?.decode())
    }
}

/// Returns the agent id or tool use by which an event names its sub-agent.
fn key<'l>(event: &Event<'l>) -> Option<Text<'l>> {
    let context = &event.context;
    if context.is_sidechain { context.agent_id } else { context.parent_tool_use }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn more_sub_agents_than_anybody_starts_get_no_files() {
        let format = &format_sdk_stream::WIRE;
        let (mut agents, mut scanner) = (Agents::default(), Scanner::default());
        let n_agents = MAX_AGENTS;
        for n in 0..n_agents {
            let line = format!(
                r#"{{"type":"user","session_id":"s","parent_tool_use_id":"toolu_{n}","message":{{"role":"user","content":"Go."}}}}"#
            );
            let value = scanner.scan_slice(line.as_bytes(), 0).expect("JSON");
            let event = format.first_event(value);
            agents.observe(&Facts::default(), &event);
            assert_eq!(agents.place_of(&event), Some(n));
        }
        agents.complete(&Facts::default(), Arc::default());
        let ids: BTreeSet<&str> = agents.list().iter().map(|agent| &*agent.id).collect();
        assert_eq!(ids.len(), n_agents);
        let line = br#"{"type":"user","session_id":"s","parent_tool_use_id":"toolu_x","message":{"role":"user","content":"Go."}}"#;
        for _ in 0..2 {
            let event = format.first_event(scanner.scan_slice(line, 0).expect("JSON"));
            agents.observe(&Facts::default(), &event);
            assert!(agents.is_empty() && agents.place_of(&event).is_none());
        }
    }
}
