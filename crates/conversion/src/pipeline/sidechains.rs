//! Sub-agents' lines that do not say which tool use started the sub-agent: what the others say of it.

use std::io;

use core_model::{Bundles, Event, Sidechains};
use jsonl::{Line, Style, Text, push_string};

use super::{
    agents::MAX_AGENTS,
    survey::{EachEvent, Events},
};

/// Which sub-agents lines belong to that stand in the session's own file; of other lines, nothing.
#[derive(Debug, Default)]
pub(crate) struct Attribution {
    sidechains: Option<Sidechains>,
    /// The id and the tool use of each sub-agent, as JSON strings; a tool use that nobody knows is
    /// empty.
    names: Vec<[String; 2]>,
}

impl Attribution {
    /// Reads a source for what links its sub-agents; of more than [`MAX_AGENTS`] nothing is said.
    pub(crate) fn find(source: &mut dyn Events, bundles: Bundles) -> io::Result<Self> {
        let mut sidechains = Sidechains::new(bundles);
        let end = source.own_end();
        source.for_each(&mut |line, event| {
            if let Ok(event) = event
                && line.offset() < end
            {
                sidechains.observe(line.offset(), event);
            }
            sidechains.agents().len() <= MAX_AGENTS
        })?;
        if sidechains.agents().len() > MAX_AGENTS {
            return Ok(Self::default());
        }
        sidechains.link();
        let agents = sidechains.agents().iter();
        let names = agents.map(|agent| {
            [json(&agent.id), agent.tool_use.as_deref().map(json).unwrap_or_default()]
        });
        Ok(Self { names: names.collect(), sidechains: Some(sidechains) })
    }

    /// Lets an event say which sub-agent it belongs to.
    fn apply<'l>(&'l self, offset: u64, event: &mut Event<'l>) {
        let place = self.sidechains.as_ref().and_then(|sidechains| sidechains.place_of(offset));
        if let Some([id, tool_use]) = place.and_then(|place| self.names.get(place)) {
            event.context.agent_id = Text::new(id);
            event.context.parent_tool_use = Text::new(tool_use);
        }
    }
}

fn json(text: &str) -> String {
    let mut json = Vec::new();
    push_string(&mut json, text, Style::Compact);
    String::from_utf8(json).unwrap_or_default()
}

/// Events that say which sub-agents they belong to.
pub(crate) struct Attributed<'e> {
    events: &'e mut dyn Events,
    attribution: &'e Attribution,
}

impl<'e> Attributed<'e> {
    /// Lets events say what is known of them.
    pub(crate) fn new(events: &'e mut dyn Events, attribution: &'e Attribution) -> Self {
        Self { events, attribution }
    }
}

impl Events for Attributed<'_> {
    fn for_each(&mut self, each: &mut EachEvent<'_>) -> io::Result<()> {
        let Self { events, attribution } = self;
        if attribution.sidechains.is_none() {
            return events.for_each(each);
        }
        events.for_each(&mut |line: &Line<'_>, event| match event {
            Ok(event) if event.context.is_sidechain => {
                let mut event = *event;
                attribution.apply(line.offset(), &mut event);
                each(line, Ok(&event))
            }
            event => each(line, event),
        })
    }

    fn own_end(&self) -> u64 {
        self.events.own_end()
    }
}
