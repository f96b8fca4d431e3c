//! Which conversation an event belongs to: the main one, or that of a sub-agent.

use core_model::{Block, ByHash, Event, IdHasher};
use jsonl::Scanner;

/// A conversation, by the hash of an id: a session may have one for each line.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) enum Thread {
    /// The main one.
    #[default]
    Main,
    /// That of the sub-agent that a tool use started, by the id of the tool use.
    Call(u64),
    /// That of a sub-agent of which nobody knows who started it, by its own name.
    Lone(u64),
}

/// Assigns events to conversations. Given the same events, two passes come to the same.
///
/// A stream names the tool use that started a sub-agent. An older transcript has the lines of
/// sub-agents among its own, with nothing but their parents: the first of them repeats the prompt of
/// the tool use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Threads {
    /// The tool uses that may have started a sub-agent, by what they ask it.
    prompts: ByHash<u64>,
    /// Those of them that wait for their result.
    waiting: Vec<u64>,
    /// The conversation of each sub-agent.
    agents: ByHash<Thread>,
    /// The conversation of each line of a sub-agent, by its id.
    lines: ByHash<Thread>,
    /// The lone conversations that began, if their names are kept.
    names: Option<ByHash<Box<str>>>,
    hasher: IdHasher,
}

impl Threads {
    /// Returns what the second pass starts with: its hashes are those of the first one.
    pub(crate) fn of_second_pass(first: &Self) -> Self {
        let (names, hasher) = (Some(ByHash::default()), first.hasher.clone());
        Self { names, hasher, ..Self::default() }
    }

    /// Returns the name of a lone conversation that is not over, in the second pass.
    pub(crate) fn name(&self, thread: Thread) -> &str {
        let names = self.names.as_ref();
        match thread {
            Thread::Lone(hash) => names.and_then(|names| names.get(&hash)).map_or("", |name| name),
            _ => "",
        }
    }

    /// Forgets the name of a conversation that is over.
    pub(crate) fn end(&mut self, thread: Thread) {
        if let (Thread::Lone(hash), Some(names)) = (thread, &mut self.names) {
            names.remove(&hash);
        }
    }

    /// Returns what makes the hashes of ids.
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

    /// Returns the conversation that an event starts: that of the tool use whose prompt it repeats,
    /// else of the last one that waits.
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

    /// Takes note of the sub-agents that an event starts or ends.
    fn note(&mut self, event: &Event<'_>) {
        for (block, _) in event.message().into_iter().flat_map(|message| message.blocks()) {
            match block {
                Block::ToolUse(tool) if tool.input.as_str().contains("\"prompt\"") => {
                    let mut scanner = Scanner::default();
                    let input = scanner.scan_raw(tool.input).ok();
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
