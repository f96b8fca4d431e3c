//! Which conversation an event belongs to: the main one, or that of a sub-agent.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
};

use core_model::{Block, Event};
use jsonl::{Scanner, Text};

/// A conversation.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) enum Thread {
    /// The main one.
    #[default]
    Main,
    /// That of the sub-agent that a tool use started, by the id of the tool use.
    Call(String),
    /// That of a sub-agent of which nobody knows who started it, by its own name.
    Lone(String),
}

/// Assigns events to conversations. Given the same events, two passes come to the same.
///
/// A stream names the tool use that started a sub-agent. An older transcript has the lines of
/// sub-agents among its own, with nothing but their parents: the first of them repeats the prompt of
/// the tool use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Threads {
    /// The tool uses that may have started a sub-agent, by what they ask it.
    prompts: HashMap<u64, String>,
    /// Those of them that wait for their result.
    waiting: Vec<String>,
    /// The conversation of each sub-agent.
    agents: HashMap<String, Thread>,
    /// The conversation of each line of a sub-agent, by its id.
    lines: HashMap<u64, Thread>,
    hasher: RandomState,
}

impl Threads {
    /// Returns the conversation that an event belongs to.
    pub(crate) fn of(&mut self, event: &Event<'_>) -> Thread {
        let thread = self.find(event);
        self.note(event);
        thread
    }

    fn find(&mut self, event: &Event<'_>) -> Thread {
        let context = &event.context;
        if !event.is_sub_agent() {
            return Thread::Main;
        }
        if let Some(id) = context.parent_tool_use {
            return Thread::Call(id.decode().into_owned());
        }
        if let Some(id) = context.agent_id {
            let id = id.decode().into_owned();
            if let Some(thread) = self.agents.get(&id) {
                return thread.clone();
            }
            let thread = self.start(event, &id);
            self.agents.insert(id, thread.clone());
            return thread;
        }
        let parent = context.parent.value().map(|parent| self.hash(parent));
        let known = parent.and_then(|parent| self.lines.get(&parent)).cloned();
        let thread = known.unwrap_or_else(|| {
            let name = context.uuid.map(|uuid| uuid.decode().into_owned());
            self.start(event, &name.unwrap_or_default())
        });
        if let Some(uuid) = context.uuid {
            self.lines.insert(self.hash(uuid), thread.clone());
        }
        thread
    }

    /// Returns the conversation that an event starts: that of the tool use whose prompt it repeats,
    /// else of the last one that waits.
    fn start(&self, event: &Event<'_>, name: &str) -> Thread {
        let message = event.message();
        let text = message.and_then(|message| message.blocks().next()).and_then(|(block, _)| {
            let Block::Text(text) = block else { return None };
            self.prompts.get(&self.hash(text))
        });
        match text.or(self.waiting.last()) {
            Some(id) => Thread::Call(id.clone()),
            None => Thread::Lone(name.to_owned()),
        }
    }

    /// Takes note of the sub-agents that an event starts or ends.
    fn note(&mut self, event: &Event<'_>) {
        for (block, _) in event.message().into_iter().flat_map(|message| message.blocks()) {
            match block {
                Block::ToolUse(tool) if tool.input.as_str().contains("\"prompt\"") => {
                    let mut scanner = Scanner::default();
                    let input = scanner.scan_raw(tool.input).ok();
                    let prompt = input.and_then(|input| input.get("prompt")?.text());
                    if let Some(prompt) = prompt {
                        let id = tool.id.decode().into_owned();
                        self.prompts.insert(self.hash(prompt), id.clone());
                        self.waiting.push(id);
                    }
                }
                Block::ToolResult(result) if !self.waiting.is_empty() => {
                    let id = result.tool_use_id.decode();
                    self.waiting.retain(|waiting| *waiting != id);
                }
                _ => {}
            }
        }
    }

    fn hash(&self, text: Text<'_>) -> u64 {
        self.hasher.hash_one(text.decode())
    }
}
