//! Attributes sub-agents' lines that do not name their tool use, by the other lines of the session.
//!
//! In: a sidechain line with `"agentId":"a1"`, and a result of the tool use `t1` that names the
//! agent `a1`. Out: the event of the line with the tool use `t1`.

use std::io;

use core_model::{Event, Layout, Sidechains};
use jsonl::{Line, Text, json_string};

use super::{
    agents::MAX_AGENTS,
    survey::{EachEvent, Events},
};

/// The sub-agent of each line of the session's own file that does not name one.
#[derive(Debug, Default)]
pub(crate) struct Attribution {
    sidechains: Option<Sidechains>,
    /// The id and the tool use of each sub-agent, as JSON strings. An unknown tool use is empty.
    names: Vec<[String; 2]>,
}

impl Attribution {
    /// Reads a source and links its sub-agents to tool uses. Returns no links if there are more
    /// than [`MAX_AGENTS`].
    pub(crate) fn find(source: &mut dyn Events, layout: Layout) -> io::Result<Self> {
        let mut sidechains = Sidechains::new(layout);
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
            [json_string(&agent.id), agent.tool_use.as_deref().map(json_string).unwrap_or_default()]
        });
        Ok(Self { names: names.collect(), sidechains: Some(sidechains) })
    }

    /// Returns whether the sub-agent of a line is linked to a tool use; `None` if the line is in no side chain.
    pub(crate) fn has_tool_use(&self, offset: u64) -> Option<bool> {
        self.names_of(offset).map(|[_, tool_use]| !tool_use.is_empty())
    }

    /// Sets the sub-agent of an event.
    fn apply<'l>(&'l self, offset: u64, event: &mut Event<'l>) {
        if let Some([id, tool_use]) = self.names_of(offset) {
            event.context.agent_id = Text::new(id);
            event.context.parent_tool_use = Text::new(tool_use);
        }
    }

    fn names_of(&self, offset: u64) -> Option<&[String; 2]> {
        self.names.get(self.sidechains.as_ref()?.place_of(offset)?)
    }
}

/// Events with the sub-agents that they belong to.
pub(crate) struct Attributed<'e> {
    events: &'e mut dyn Events,
    attribution: &'e Attribution,
}

impl<'e> Attributed<'e> {
    /// Creates events that get their sub-agents from an attribution.
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

    fn release(&mut self) {
        self.events.release();
    }

    fn other_files(&self) -> Vec<u64> {
        self.events.other_files()
    }
}
