//! Computes the depth of events among sub-agents.

use std::collections::HashMap;

use core_model::{Block, Event};
use jsonl::Scanner;

use super::Nesting;

/// Limit on the depth.
const MAX_DEPTH: usize = 10;

/// The depths of sub-agents, from the tool uses so far.
#[derive(Debug, Default)]
pub(super) struct Depths {
    /// For each tool use that starts a sub-agent, the sub-agent's position.
    started: HashMap<String, Nesting>,
    scanner: Scanner,
}

impl Depths {
    /// Adds an event, and returns its position.
    pub(super) fn push(&mut self, event: &Event<'_>) -> Nesting {
        let context = &event.context;
        let started = context.parent_tool_use.and_then(|id| self.started.get(&*id.decode()));
        let place = match started {
            Some(place) => place.clone(),
            None if event.is_sub_agent() => Nesting { depth: 1, mode: None },
            None => Nesting::default(),
        };
        for (block, _) in event.message().into_iter().flat_map(|message| message.blocks()) {
            let Block::ToolUse(tool) = block else { continue };
            // `Task` is called `Agent` since 2.1.63.
            if !tool.name.is("Task") && !tool.name.is("Agent") {
                continue;
            }
            let json = tool.input.json();
            let input = self.scanner.scan_raw(json.raw()).ok();
            let kind = input.and_then(|input| input.get("subagent_type")?.text());
            let mode = kind.map(|kind| kind.decode().into_owned()).filter(|kind| !kind.is_empty());
            let depth = (place.depth + 1).min(MAX_DEPTH);
            self.started.insert(tool.id.decode().into_owned(), Nesting { depth, mode });
        }
        place
    }
}
