//! Assigns events to conversations: the main one or a sub-agent's.
//!
//! In: a `Task` call with the prompt `Review`, and a sidechain line with the text `Review`. Out:
//! the line belongs to the conversation of that call.

use core_model::{Block, ByHash, Event, IdHasher};
use jsonl::Scanner;

/// A conversation, by the hash of an id. A session may have a conversation for each line.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) enum Thread {
    /// The main conversation.
    #[default]
    Main,
    /// The conversation of a sub-agent, by the id of the tool use that started it.
    Call(u64),
    /// The conversation of a sub-agent without a known tool use, by its own name.
    Lone(u64),
}

/// Assignment of events to conversations. Two passes over the same events give the same result.
///
/// A stream names the tool use that started a sub-agent. An older transcript contains the lines of
/// sub-agents with parents only; the first line of a sub-agent repeats the prompt of its tool use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Threads {
    /// Tool uses that may have started a sub-agent, by hashes of their prompts.
    prompts: ByHash<u64>,
    /// Tool uses among them that wait for their result.
    waiting: Vec<u64>,
    /// The conversation of each sub-agent.
    agents: ByHash<Thread>,
    /// The conversation of each sub-agent's line, by its id.
    lines: ByHash<Thread>,
    /// The names of open conversations without a tool use, if they are kept.
    names: Option<ByHash<Box<str>>>,
    hasher: IdHasher,
}

impl Threads {
    /// Returns the state for the second pass, with the hashes of the first one.
    pub(crate) fn of_second_pass(first: &Self) -> Self {
        let (names, hasher) = (Some(ByHash::default()), first.hasher.clone());
        Self { names, hasher, ..Self::default() }
    }

    /// Returns the name of an open conversation without a tool use, in the second pass.
    pub(crate) fn name(&self, thread: Thread) -> &str {
        let names = self.names.as_ref();
        match thread {
            Thread::Lone(hash) => names.and_then(|names| names.get(&hash)).map_or("", |name| name),
            _ => "",
        }
    }

    /// Removes the name of a closed conversation.
    pub(crate) fn end(&mut self, thread: Thread) {
        if let (Thread::Lone(hash), Some(names)) = (thread, &mut self.names) {
            names.remove(&hash);
        }
    }

    /// Returns the hasher of ids.
    pub(crate) fn hasher(&self) -> &IdHasher {
        &self.hasher
    }

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
            return Thread::Call(self.hasher.hash_text(id));
        }
        if let Some(id) = context.agent_id {
            let hash = self.hasher.hash_text(id);
            if let Some(thread) = self.agents.get(&hash) {
                return *thread;
            }
            let thread = self.start(event, &id.decode());
            self.agents.insert(hash, thread);
            return thread;
        }
        let parent = context.parent.value().map(|parent| self.hasher.hash_text(parent));
        let known = parent.and_then(|parent| self.lines.get(&parent)).copied();
        let thread = known.unwrap_or_else(|| {
            let name = context.uuid.map(|uuid| uuid.decode());
            self.start(event, &name.unwrap_or_default())
        });
        if let Some(uuid) = context.uuid {
            self.lines.insert(self.hasher.hash_text(uuid), thread);
        }
        thread
    }

    /// Returns the conversation that an event starts: of the tool use with the same prompt, else of
    /// the last one that waits.
    fn start(&mut self, event: &Event<'_>, name: &str) -> Thread {
        let message = event.message();
        let text = message.and_then(|message| message.blocks().next()).and_then(|(block, _)| {
            let Block::Text(text) = block else { return None };
            self.prompts.get(&self.hasher.hash_text(text))
        });
        match text.or(self.waiting.last()) {
            Some(id) => Thread::Call(*id),
            None => {
                let hash = self.hasher.hash(name);
                if let Some(names) = &mut self.names {
                    names.insert(hash, name.into());
                }
                Thread::Lone(hash)
            }
        }
    }

    /// Adds the sub-agents that an event starts, and removes those that it ends.
    fn note(&mut self, event: &Event<'_>) {
        for (block, _) in event.message().into_iter().flat_map(|message| message.blocks()) {
            match block {
                Block::ToolUse(tool) => {
                    let json = tool.input.json();
                    if !json.raw().as_str().contains("\"prompt\"") {
                        continue;
                    }
                    let mut scanner = Scanner::default();
                    let input = scanner.scan_raw(json.raw()).ok();
                    let prompt = input.and_then(|input| input.get("prompt")?.text());
                    if let Some(prompt) = prompt {
                        let id = self.hasher.hash_text(tool.id);
                        self.prompts.insert(self.hasher.hash_text(prompt), id);
                        self.waiting.push(id);
                    }
                }
                Block::ToolResult(result) if !self.waiting.is_empty() => {
                    let id = self.hasher.hash_text(result.tool_use_id);
                    self.waiting.retain(|waiting| *waiting != id);
                }
                _ => {}
            }
        }
    }
}
