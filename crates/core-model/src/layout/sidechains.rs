//! Finds the sub-agents in the session's own file, where clients up to 2.0.28 wrote them.
//!
//! ```text
//! {"uuid":"1","parentUuid":null,"isSidechain":false,..}  the session: calls a sub-agent
//! {"uuid":"2","parentUuid":null,"isSidechain":true,..}   sub-agent 0: its prompt
//! {"uuid":"3","parentUuid":"2","isSidechain":true,..}    sub-agent 0: its parent is line 2
//! {"uuid":"4","parentUuid":"1","isSidechain":false,..}   the session: the result
//! {"uuid":"5","parentUuid":null,"isSidechain":true,..}   sub-agent 1: another prompt
//! ```

use std::collections::{BTreeSet, HashMap};

use super::{Agent, Layout, SessionTree, search::Search};
use crate::{ByHash, Event, Field, IdHasher, SafeName, uuid_of_name};

/// Number of digits of a derived id, as in client 2.0.
const ID_LENGTH: usize = 7;

/// The sub-agents in a session's own file, and the owner of each line.
///
/// A line belongs to its `agentId`. Without one (clients up to 1.0), it belongs to the sub-agent of
/// its parent line. The first line of a sub-agent has no parent, or one in the session itself.
#[derive(Debug)]
pub struct Sidechains {
    search: Search,
    hasher: IdHasher,
    agents: Vec<Sidechain>,
    /// The offset and the owner of each line, in the order of the file.
    lines: Vec<(u64, usize)>,
    /// The owner of each id: the index of a sub-agent, or [`OWN`].
    by_uuid: ByHash<u32>,
    by_id: HashMap<String, usize>,
    ids: AgentIds,
}

/// The owner of the session's own lines.
const OWN: u32 = u32::MAX;

/// A sub-agent in the session's own file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Sidechain {
    /// Its id, usable in a file name. Derived from its first line if the lines have none.
    pub id: String,
    /// The tool use that started it, if known.
    pub tool_use: Option<String>,
}

/// The ids of a session's sub-agents, unique and usable in file names.
#[derive(Debug, Default)]
pub struct AgentIds(BTreeSet<String>);

impl AgentIds {
    /// Returns the id of a sub-agent that has an id in the log.
    pub fn known(&mut self, id: &str) -> String {
        let name = SafeName::of(id).as_str().to_owned();
        if self.0.insert(name.clone()) { name } else { self.made_of(id) }
    }

    /// Returns the id of a sub-agent that is identified by another value, such as its tool use.
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
    /// Creates an empty set of sub-agents.
    pub fn new(layout: Layout) -> Self {
        Self {
            search: Search::new(layout),
            hasher: IdHasher::default(),
            agents: Vec::new(),
            lines: Vec::new(),
            by_uuid: ByHash::default(),
            by_id: HashMap::new(),
            ids: AgentIds::default(),
        }
    }

    /// Adds the next event with the offset of its line.
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

    /// Finds the tool uses that started the sub-agents, after all events were added.
    pub fn link(&mut self) {
        let agent = |agent: &Sidechain| Agent { id: agent.id.clone(), ..Agent::default() };
        let agents = self.agents.iter().map(agent).collect();
        let mut tree = SessionTree { agents, ..SessionTree::default() };
        self.search.resolve(&mut tree);
        for (agent, found) in self.agents.iter_mut().zip(tree.agents) {
            agent.tool_use = found.tool_use;
        }
    }

    /// Returns the sub-agents, in the order of their first lines.
    pub fn agents(&self) -> &[Sidechain] {
        &self.agents
    }

    /// Returns the index of the sub-agent whose line starts at an offset.
    pub fn place_of(&self, offset: u64) -> Option<usize> {
        let found = self.lines.binary_search_by_key(&offset, |(start, _)| *start).ok()?;
        self.lines.get(found).map(|(_, agent_idx)| *agent_idx)
    }

    /// Returns the sub-agent of a sidechain line, which may begin a new one.
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
            // A line with a missing parent belongs to the sub-agent of the line before it.
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
