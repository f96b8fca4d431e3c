//! Sub-agents of which a source tells among its own messages: what is known of each.

use std::{
    collections::{BTreeSet, HashMap},
    io,
};

use core_model::{Block, Description, Event, Facts, uuid_of_name};
use jsonl::{Scanner, Text};

use super::survey::{Events, as_own};

/// The digits of a sub-agent's id, as client 2.0 has them.
const ID_LENGTH: usize = 7;

/// The sub-agents of a source, in the order of their first lines.
#[derive(Debug, Default)]
pub(crate) struct Agents {
    list: Vec<SubAgent>,
    /// Where each stands in the list, by its tool use.
    places: HashMap<String, usize>,
}

/// What is known of a sub-agent.
#[derive(Debug)]
pub(crate) struct SubAgent {
    /// Its id, made of its tool use; empty until all sub-agents are known.
    pub(crate) id: String,
    pub(crate) facts: Facts,
    /// What the tool use that started it says of it.
    pub(crate) description: Description,
}

impl SubAgent {
    /// Returns the tool use that started it; empty if nobody knows.
    pub(crate) fn tool_use(&self) -> &str {
        self.description.tool_use.as_deref().unwrap_or_default()
    }
}

impl Agents {
    /// Returns whether an event says which sub-agent it belongs to.
    pub(crate) fn names(event: &Event<'_>) -> bool {
        key(event).is_some()
    }

    /// Takes note of a sub-agent's event as one of a session of its own; `session` is what is known
    /// of the session that it belongs to.
    pub(crate) fn observe(&mut self, session: &Facts, event: &Event<'_>) {
        let Some(key) = key(event).map(|key| key.decode()) else { return };
        let place = self.place(&key).unwrap_or_else(|| {
            let tool_use = Some(key.clone().into_owned());
            let description = Description { tool_use, ..Description::default() };
            let facts = Facts::of_session(session.session_id.clone());
            self.list.push(SubAgent { id: String::new(), facts, description });
            self.places.insert(key.into_owned(), self.list.len() - 1);
            self.list.len() - 1
        });
        self.list[place].facts.observe(&as_own(*event));
    }

    /// Gives each sub-agent an id, and what only their session says.
    pub(crate) fn complete(&mut self, session: &Facts) {
        let mut taken = BTreeSet::new();
        for agent in &mut self.list {
            agent.id = id_of(agent.tool_use(), &mut taken);
            let own = &mut agent.facts;
            own.agent = Some(agent.id.clone());
            own.start = own.start.take().or_else(|| session.start.clone());
            own.cwd = own.cwd.take().or_else(|| session.cwd.clone());
            own.version = own.version.take().or_else(|| session.version.clone());
        }
    }

    /// Takes note of what the tool uses say of the sub-agents that they started.
    pub(crate) fn describe(&mut self, events: &mut dyn Events) -> io::Result<()> {
        let mut scanner = Scanner::default();
        events.for_each(&mut |_, event| {
            let message = event.ok().and_then(Event::message);
            for (block, _) in message.into_iter().flat_map(|message| message.blocks()) {
                let Block::ToolUse(tool) = block else { continue };
                let Some(place) = self.place(&tool.id.decode()) else { continue };
                let Ok(input) = scanner.scan_raw(tool.input) else { continue };
                let text = |name| Some(input.get(name)?.text()?.decode().into_owned());
                let description = &mut self.list[place].description;
                description.kind = text("subagent_type");
                description.description = text("description");
            }
            true
        })
    }

    /// Returns whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the sub-agents.
    pub(crate) fn list(&self) -> &[SubAgent] {
        &self.list
    }

    /// Returns the sub-agents, to take what is known of them.
    pub(crate) fn list_mut(&mut self) -> &mut [SubAgent] {
        &mut self.list
    }

    /// Returns the place in the list of the sub-agent that a tool use started.
    pub(crate) fn place(&self, tool_use: &str) -> Option<usize> {
        self.places.get(tool_use).copied()
    }

    /// Returns the place in the list of the sub-agent that an event belongs to.
    pub(crate) fn place_of(&self, event: &Event<'_>) -> Option<usize> {
        self.place(&key(event)?.decode())
    }
}

/// Returns what an event says of the sub-agent that it belongs to.
fn key<'l>(event: &Event<'l>) -> Option<Text<'l>> {
    event.context.parent_tool_use
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_name;

    /// A list that is searched for each line would take ten billion steps here.
    #[test]
    fn as_many_sub_agents_as_lines_take_linear_time() {
        let format = by_name("sdk-stream:wire").expect("a format");
        let (mut agents, mut scanner) = (Agents::default(), Scanner::default());
        let n_agents = 100_000;
        for n in 0..n_agents {
            let line = format!(
                r#"{{"type":"user","session_id":"s","parent_tool_use_id":"toolu_{n}","message":{{"role":"user","content":"Go."}}}}"#
            );
            let value = scanner.scan_slice(line.as_bytes(), 0).expect("JSON");
            let event = (format.read)(value);
            agents.observe(&Facts::default(), &event);
            assert_eq!(agents.place_of(&event), Some(n));
        }
        agents.complete(&Facts::default());
        let ids: BTreeSet<&str> = agents.list().iter().map(|agent| &*agent.id).collect();
        assert_eq!(ids.len(), n_agents);
    }
}
