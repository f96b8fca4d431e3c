//! Sub-agents whose lines stand in the session's own file, as old clients had them.

use std::collections::{BTreeSet, HashMap};

use super::{Agent, Bundle, Bundles, search::Search};
use crate::{ByHash, Event, Field, IdHasher, SafeName, uuid_of_name};

/// The digits of an id that is made up, as those of client 2.0 have them.
const ID_LENGTH: usize = 7;

/// The sub-agents whose lines stand in a session's own file, and which lines are whose.
///
/// A line says it by its `agentId`; where it has none (clients up to 1.0), by the line that it
/// follows: the first line of a sub-agent follows none, or one of the session itself.
#[derive(Debug)]
pub struct Sidechains {
    search: Search,
    hasher: IdHasher,
    agents: Vec<Sidechain>,
    /// Where each line starts and whose it is, in the order of the file.
    lines: Vec<(u64, usize)>,
    /// Whose the lines with an id are: the number of a sub-agent, or [`OWN`].
    by_uuid: ByHash<u32>,
    by_id: HashMap<String, usize>,
    ids: AgentIds,
}

/// Stands for the session itself, where others are sub-agents.
const OWN: u32 = u32::MAX;

/// A sub-agent whose lines stand in the session's own file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Sidechain {
    /// Its id, fit for the name of a file; made of its first line's, if the lines say none.
    pub id: String,
    /// The tool use that started it, if anything says so.
    pub tool_use: Option<String>,
}

/// The ids of a session's sub-agents, each fit for the name of a file and no two of them equal.
#[derive(Debug, Default)]
pub struct AgentIds(BTreeSet<String>);

impl AgentIds {
    /// Returns the id of a sub-agent of which a log says one.
    pub fn known(&mut self, id: &str) -> String {
        let name = SafeName::of(id).as_str().to_owned();
        if self.0.insert(name.clone()) { name } else { self.made_of(id) }
    }

    /// Returns the id of a sub-agent that is known by something else, such as its tool use.
    ///
    /// ```
    /// let mut ids = core_model::AgentIds::default();
    /// assert_eq!(ids.made_of("toolu_01T"), "deebaa5");
    /// ```
    pub fn made_of(&mut self, name: &str) -> String {
        let mut digits = uuid_of_name("agent", name).replace('-', "");
        if self.0.contains(&digits) {
            digits = uuid_of_name("agent", &format!("{name}\0{}", self.0.len())).replace('-', "");
        }
        let ids = (ID_LENGTH..digits.len()).filter_map(|length| digits.get(..length));
        let id = ids.into_iter().find(|id| !self.0.contains(*id)).unwrap_or(&digits).to_owned();
        self.0.insert(id.clone());
        id
    }
}

impl Sidechains {
    /// Creates the sub-agents of a file of which nothing has been read yet.
    pub fn new(bundles: Bundles) -> Self {
        Self {
            search: Search::new(bundles),
            hasher: IdHasher::default(),
            agents: Vec::new(),
            lines: Vec::new(),
            by_uuid: ByHash::default(),
            by_id: HashMap::new(),
            ids: AgentIds::default(),
        }
    }

    /// Takes note of the next event and of where its line starts.
    pub fn observe(&mut self, offset: u64, event: &Event<'_>) {
        let context = &event.context;
        let agent_idx = context.is_sidechain.then(|| self.agent_of(offset, event));
        if let Some(uuid) = context.uuid {
            let of = agent_idx.and_then(|agent_idx| u32::try_from(agent_idx).ok()).unwrap_or(OWN);
            self.by_uuid.insert(self.hasher.hash_text(uuid), of);
        }
        self.lines.extend(agent_idx.map(|agent_idx| (offset, agent_idx)));
        self.search.observe(agent_idx, event);
    }

    /// Finds the tool uses that started the sub-agents, once all events have been seen.
    pub fn link(&mut self) {
        let agent = |agent: &Sidechain| Agent { id: agent.id.clone(), ..Agent::default() };
        let agents = self.agents.iter().map(agent).collect();
        let mut bundle = Bundle { agents, ..Bundle::default() };
        self.search.resolve(&mut bundle);
        for (agent, found) in self.agents.iter_mut().zip(bundle.agents) {
            agent.tool_use = found.tool_use;
        }
    }

    /// Returns the sub-agents, in the order of their first lines.
    pub fn agents(&self) -> &[Sidechain] {
        &self.agents
    }

    /// Returns the place among the sub-agents of the one whose line starts at an offset.
    pub fn place_of(&self, offset: u64) -> Option<usize> {
        let found = self.lines.binary_search_by_key(&offset, |(start, _)| *start).ok()?;
        self.lines.get(found).map(|(_, agent_idx)| *agent_idx)
    }

    /// Returns the sub-agent that a line of a sidechain belongs to: perhaps one that begins here.
    fn agent_of(&mut self, offset: u64, event: &Event<'_>) -> usize {
        let context = &event.context;
        if let Some(id) = context.agent_id.map(|id| id.decode()) {
            if let Some(agent_idx) = self.by_id.get(&*id) {
                return *agent_idx;
            }
            self.by_id.insert(id.clone().into_owned(), self.agents.len());
            let id = self.ids.known(&id);
            return self.begin(id);
        }
        let last = self.lines.last().map(|(_, agent_idx)| *agent_idx);
        let known = match context.parent {
            Field::Null => None,
            Field::Absent => last,
            // A line that follows one which is not there goes on with what stands before it.
            Field::Value(parent) => match self.by_uuid.get(&self.hasher.hash_text(parent)) {
                Some(&OWN) => None,
                Some(&of) => Some(of as usize),
                None => last,
            },
        };
        known.unwrap_or_else(|| {
            let name = context.uuid.map(|uuid| uuid.decode().into_owned());
            let name = name.unwrap_or_else(|| offset.to_string());
            let id = self.ids.made_of(&name);
            self.begin(id)
        })
    }

    /// Adds a sub-agent.
    fn begin(&mut self, id: String) -> usize {
        self.agents.push(Sidechain { id, tool_use: None });
        self.agents.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_fit_for_names_and_no_two_are_equal() {
        let mut ids = AgentIds::default();
        assert_eq!(ids.known("b1f5d80e"), "b1f5d80e");
        let others = [ids.known("b1f5d80e"), ids.known("../b1f5d80e"), ids.made_of("toolu_1")];
        let again = [ids.made_of("toolu_1"), ids.known("../b1f5d80e")];
        let all: BTreeSet<&String> = others.iter().chain(&again).collect();
        assert_eq!(all.len(), 5, "{all:?}");
        assert!(all.iter().all(|id| SafeName::new(id).is_some() && *id != "b1f5d80e"), "{all:?}");
        assert_eq!(others[2].len(), ID_LENGTH);
    }
}
