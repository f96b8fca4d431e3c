//! Collects links between tool uses and sub-agents from the events of a session, and chooses the
//! best.
//!
//! In: `toolu_1` links to `a1` by its prompt, `toolu_2` links to `a1` by its result. Out:
//! `toolu_2`, because a result is stronger evidence.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::{Agent, Evidence, Layout, Link, Linked, Missing, SessionTree};
use crate::{Block, Content, Event, IdHasher, Role};

/// The links to sub-agents in the events of a session.
#[derive(Debug)]
pub(super) struct Search {
    layout: Layout,
    /// Links, the strongest evidence first, each with the sub-agent whose events contain it first.
    links: BTreeMap<Link, Option<usize>>,
    /// The prompts of sub-agents, from their first messages.
    asked: BTreeMap<usize, Option<String>>,
}

impl Search {
    /// Creates an empty search.
    pub(super) fn new(layout: Layout) -> Self {
        Self { layout, links: BTreeMap::new(), asked: BTreeMap::new() }
    }

    /// Adds an event of the session itself or of a sub-agent.
    pub(super) fn observe(&mut self, of: Option<usize>, event: &Event<'_>) {
        let Self { layout, links, asked } = self;
        (layout.links)(event, &mut |link| {
            links.entry(link).or_insert(of);
        });
        let Some(agent_idx) = of.filter(|_| event.message().is_some()) else { return };
        asked.entry(agent_idx).or_insert_with(|| prompt(event));
    }

    /// Adds a link that is in no event.
    pub(super) fn add(&mut self, of: Option<usize>, link: Link) {
        self.links.entry(link).or_insert(of);
    }

    /// Assigns each sub-agent the tool use with the strongest evidence.
    pub(super) fn resolve(&self, tree: &mut SessionTree) {
        let mut names = Names::new(&tree.agents, &self.asked);
        let mut missing = HashSet::new();
        let mut parents = BTreeMap::new();
        for (link, of) in &self.links {
            let found = names.of(link, *of);
            for &agent_idx in &found {
                let Some(agent) = tree.agents.get_mut(agent_idx) else { continue };
                if agent.tool_use.is_none() {
                    agent.tool_use = Some(link.tool_use.clone());
                    names.take(agent_idx, &link.tool_use);
                }
                if agent.tool_use.as_ref() == Some(&link.tool_use) {
                    agent.evidence.push(link.evidence);
                    agent.evidence.dedup();
                    if let Some(of) = of {
                        parents.entry(agent_idx).or_insert(*of);
                    }
                }
            }
            // Texts may mention any sub-agent; the client's own records do not.
            if let (true, Linked::Agent(id)) = (found.is_empty(), &link.agent)
                && matches!(link.evidence, Evidence::Result | Evidence::Progress)
                && !names.has_id(id)
                && missing.insert(id)
            {
                let Link { evidence, tool_use, .. } = link.clone();
                tree.missing.push(Missing { id: id.clone(), tool_use, evidence });
            }
        }
        let ids: Vec<String> = tree.agents.iter().map(|agent| agent.id.clone()).collect();
        for (agent_idx, agent) in tree.agents.iter_mut().enumerate() {
            agent.parent = parents.get(&agent_idx).and_then(|of| ids.get(*of)).cloned();
        }
    }
}

/// The indices of sub-agents, by the ways in which links name them.
struct Names<'s> {
    hasher: IdHasher,
    /// The hashes of ids, and the indices, sorted.
    by_id: Vec<(u64, usize)>,
    by_folder: Vec<(u64, usize)>,
    asked: &'s BTreeMap<usize, Option<String>>,
    /// Sub-agents without a tool use, by their prompts.
    free: HashMap<&'s str, BTreeSet<usize>>,
    /// Sub-agents with a tool use: the tool use, the prompt, and the index. A sub-agent without a prompt has none.
    taken: BTreeSet<(&'s str, Option<&'s str>, usize)>,
}

impl<'s> Names<'s> {
    fn new(agents: &[Agent], asked: &'s BTreeMap<usize, Option<String>>) -> Self {
        let hasher = IdHasher::default();
        let (mut by_id, mut by_folder) = (Vec::new(), Vec::new());
        let mut free = HashMap::<_, BTreeSet<_>>::new();
        for (agent_idx, agent) in agents.iter().enumerate() {
            by_id.push((hasher.hash(&agent.id), agent_idx));
            let folder = agent.path.parent().and_then(|folder| folder.file_name()?.to_str());
            by_folder.extend(folder.map(|folder| (hasher.hash(folder), agent_idx)));
            if let Some(Some(prompt)) = asked.get(&agent_idx) {
                free.entry(prompt.as_str()).or_default().insert(agent_idx);
            }
        }
        by_id.sort_unstable();
        by_folder.sort_unstable();
        Self { hasher, by_id, by_folder, asked, free, taken: BTreeSet::new() }
    }

    /// Returns whether a sub-agent has an id.
    fn has_id(&self, id: &str) -> bool {
        self.all(&self.by_id, id).next().is_some()
    }

    /// Returns the indices of a name in a sorted list, in order.
    fn all<'n>(&self, names: &'n [(u64, usize)], name: &str) -> impl Iterator<Item = usize> + 'n {
        let hash = self.hasher.hash(name);
        let start = names.partition_point(|(other, _)| *other < hash);
        let found = names.get(start..).unwrap_or_default().iter();
        found.take_while(move |(other, _)| *other == hash).map(|(_, agent_idx)| *agent_idx)
    }

    /// Returns the sub-agents that a link in the events of another one names.
    fn of(&self, link: &Link, of: Option<usize>) -> Vec<usize> {
        let is_other = |agent_idx: &usize| of != Some(*agent_idx);
        match &link.agent {
            Linked::Agent(id) => self.all(&self.by_id, id).filter(is_other).collect(),
            Linked::Folder(name) => self.all(&self.by_folder, name).filter(is_other).collect(),
            // A tool use starts one sub-agent, even if two have the same prompt.
            Linked::Prompt(prompt) => {
                let tool_use = &*link.tool_use;
                let mut of_tool_use = self.taken.range((tool_use, None, 0)..);
                if of_tool_use.next().is_some_and(|(first, ..)| *first == tool_use) {
                    let first = (tool_use, Some(&**prompt), 0);
                    let last = (tool_use, Some(&**prompt), usize::MAX);
                    let mut with_prompt = self.taken.range(first..=last);
                    let found = with_prompt.find(|(.., agent_idx)| is_other(agent_idx));
                    return found.map(|(.., agent_idx)| *agent_idx).into_iter().collect();
                }
                let found = self.free.get(&**prompt);
                found.into_iter().flatten().copied().find(is_other).into_iter().collect()
            }
        }
    }

    /// Records the tool use of a sub-agent.
    fn take(&mut self, agent_idx: usize, tool_use: &'s str) {
        let prompt = self.asked.get(&agent_idx).and_then(Option::as_deref);
        self.taken.insert((tool_use, prompt, agent_idx));
        if let Some(free) = prompt.and_then(|prompt| self.free.get_mut(prompt)) {
            free.remove(&agent_idx);
        }
    }
}

/// Returns the prompt of a sub-agent, if its first message is one.
fn prompt(event: &Event<'_>) -> Option<String> {
    let message = event.message().filter(|message| message.role == Role::User)?;
    match message.content {
        Content::Text(text) => Some(text.decode().into_owned()),
        _ => message.blocks().find_map(|(block, _)| match block {
            Block::Text(text) => Some(text.decode().into_owned()),
            _ => None,
        }),
    }
}
