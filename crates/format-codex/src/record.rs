//! The types of lines in a session, borrowed from their line.
//!
//! In: `{"timestamp":"..","type":"response_item","payload":{"type":"message","role":"user",..}}`.
//! Out: a [`Record`] whose entry is [`Entry::Item`] of the kind [`ItemKind::Message`].

use jsonl::{Text, Value};

/// A line. A member that is absent or of another type than Codex's is `None`.
#[derive(Clone, Copy, Debug)]
pub struct Record<'l> {
    /// The time. Clients write RFC 3339; any string loads.
    pub timestamp: Option<Text<'l>>,
    /// The number of the line in a paginated file.
    pub ordinal: Option<u64>,
    /// The type of the line.
    pub kind: Option<Text<'l>>,
    /// The members of its type.
    pub payload: Option<Value<'l>>,
    /// The payload, by the type of the line.
    pub entry: Entry<'l>,
}

/// The payload of a line, by the type of the line.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Entry<'l> {
    /// `session_meta`, and the first line of files before 0.32.
    SessionMeta(SessionMeta<'l>),
    /// `turn_context`
    TurnContext(TurnContext<'l>),
    /// `response_item`, and the items without envelope of files before 0.32.
    Item(Item<'l>),
    /// `event_msg`: the `type` of its payload.
    Event(Option<Text<'l>>, Value<'l>),
    /// `compacted`
    Compacted(Compacted<'l>),
    /// `notice`: a notice of another format, which clients ignore.
    Notice(Value<'l>),
    /// Another type, or none.
    Other,
}

/// The payload of a `session_meta`.
#[derive(Clone, Copy, Debug)]
pub struct SessionMeta<'l> {
    /// The payload itself.
    pub value: Value<'l>,
    /// The id of the session, a UUID.
    pub id: Option<Text<'l>>,
    /// The start of the session.
    pub timestamp: Option<Text<'l>>,
    /// The working directory.
    pub cwd: Option<Text<'l>>,
    /// The client's version.
    pub cli_version: Option<Text<'l>>,
    /// The git branch.
    pub git_branch: Option<Text<'l>>,
    /// The file whose first lines are the start of the history.
    pub history_base: Option<HistoryBase<'l>>,
    /// Whether the lines of the file are numbered.
    pub is_paginated: bool,
}

/// The start of a fork's history: the first lines of another file.
#[derive(Clone, Copy, Debug)]
pub struct HistoryBase<'l> {
    /// The id of the session in the other file.
    pub thread_id: Text<'l>,
    /// The first ordinal that is not part of the history.
    pub end_ordinal: Option<u64>,
    /// The number of bytes of the other file that are part of the history.
    pub end_offset: Option<u64>,
}

/// The payload of a `turn_context`.
#[derive(Clone, Copy, Debug)]
pub struct TurnContext<'l> {
    /// The working directory.
    pub cwd: Option<Text<'l>>,
    /// The model of the responses that follow.
    pub model: Option<Text<'l>>,
    /// When the client asks for approval.
    pub approval_policy: Option<Text<'l>>,
}

/// An item of the history that goes to the API.
#[derive(Clone, Copy, Debug)]
pub struct Item<'l> {
    /// The item itself.
    pub value: Value<'l>,
    /// The type of the item.
    pub kind: ItemKind,
}

/// The type of an item.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ItemKind {
    /// `message`
    Message,
    /// `reasoning`
    Reasoning,
    /// `function_call`
    FunctionCall,
    /// `function_call_output`
    FunctionCallOutput,
    /// `custom_tool_call`
    CustomToolCall,
    /// `custom_tool_call_output`
    CustomToolCallOutput,
    /// `local_shell_call`
    LocalShellCall,
    /// `web_search_call`
    WebSearchCall,
    /// `image_generation_call`
    ImageGenerationCall,
    /// `tool_search_call`
    ToolSearchCall,
    /// `tool_search_output`
    ToolSearchOutput,
    /// `agent_message`: the message of another agent.
    AgentMessage,
    /// `additional_tools`
    AdditionalTools,
    /// `compaction`, `compaction_summary` and `context_compaction`: encrypted history.
    Compaction,
    /// `ghost_snapshot`: a commit of the client, which later clients skip.
    GhostSnapshot,
    /// Another type, or none. Clients skip the item.
    Other,
}

/// The payload of a `compacted`.
#[derive(Clone, Copy, Debug)]
pub struct Compacted<'l> {
    /// The payload itself.
    pub value: Value<'l>,
    /// The summary, in older files and in files of 0.169.
    pub message: Option<Text<'l>>,
    /// The items that replace the history before this line.
    pub replacement_history: Option<Value<'l>>,
}

impl<'l> Record<'l> {
    /// Reads the members of a line.
    pub fn decode(line: Value<'l>) -> Self {
        let (mut timestamp, mut ordinal, mut kind, mut payload) = (None, None, None, None);
        line.read_members(|key, value| {
            match key {
                b"timestamp" => timestamp = value.text(),
                b"ordinal" => ordinal = value.raw().as_u64(),
                b"type" => kind = value.text(),
                b"payload" => payload = Some(value).filter(Value::is_object),
                _ => return false,
            }
            true
        });
        let entry = match (kind, payload) {
            (Some(kind), Some(payload)) => Entry::decode(&kind.decode(), payload),
            (Some(kind), None) => match ItemKind::of(&kind.decode()) {
                ItemKind::Other => Entry::Other,
                kind => Entry::Item(Item { value: line, kind }),
            },
            (None, None) if is_old_header(line) => Entry::SessionMeta(SessionMeta::decode(line)),
            (None, _) => Entry::Other,
        };
        Self { timestamp, ordinal, kind, payload, entry }
    }
}

/// Returns whether a line is the first one of a file before 0.32.
pub(crate) fn is_old_header(line: Value<'_>) -> bool {
    let [id, timestamp, instructions] = line.get_all(["id", "timestamp", "instructions"]);
    let is_text = |member: Option<Value<'_>>| member.is_some_and(|it| it.text().is_some());
    is_text(id) && is_text(timestamp) && instructions.is_some()
}

impl<'l> Entry<'l> {
    fn decode(kind: &str, payload: Value<'l>) -> Self {
        match kind {
            "session_meta" => Entry::SessionMeta(SessionMeta::decode(payload)),
            "turn_context" => {
                let members = payload.get_all(["cwd", "model", "approval_policy"]);
                let [cwd, model, approval_policy] = members.map(|it| it?.text());
                Entry::TurnContext(TurnContext { cwd, model, approval_policy })
            }
            "response_item" => Entry::Item(Item::decode(payload)),
            "event_msg" => Entry::Event(payload.get("type").and_then(|it| it.text()), payload),
            "compacted" => {
                let [message, history] = payload.get_all(["message", "replacement_history"]);
                Entry::Compacted(Compacted {
                    value: payload,
                    message: message.and_then(|it| it.text()),
                    replacement_history: history.filter(Value::is_array),
                })
            }
            "notice" => Entry::Notice(payload),
            _ => Entry::Other,
        }
    }
}

impl<'l> SessionMeta<'l> {
    fn decode(payload: Value<'l>) -> Self {
        let mut meta = Self {
            value: payload,
            id: None,
            timestamp: None,
            cwd: None,
            cli_version: None,
            git_branch: None,
            history_base: None,
            is_paginated: false,
        };
        payload.read_members(|key, value| {
            match key {
                b"id" => meta.id = value.text(),
                b"timestamp" => meta.timestamp = value.text(),
                b"cwd" => meta.cwd = value.text(),
                b"cli_version" => meta.cli_version = value.text(),
                b"git" => meta.git_branch = value.get("branch").and_then(|it| it.text()),
                b"history_base" => meta.history_base = HistoryBase::decode(value),
                b"history_mode" => {
                    meta.is_paginated = value.text().is_some_and(|it| it.is("paginated"));
                }
                _ => return false,
            }
            true
        });
        meta
    }
}

impl<'l> HistoryBase<'l> {
    fn decode(value: Value<'l>) -> Option<Self> {
        let [thread_id, end_ordinal, end_offset] =
            value.get_all(["thread_id", "end_ordinal_exclusive", "end_byte_offset"]);
        let number = |member: Option<Value<'l>>| member?.raw().as_u64();
        Some(Self {
            thread_id: thread_id?.text()?,
            end_ordinal: number(end_ordinal),
            end_offset: number(end_offset),
        })
    }
}

impl<'l> Item<'l> {
    /// Reads the type of an item.
    pub fn decode(value: Value<'l>) -> Self {
        let kind = value.get("type").and_then(|kind| kind.text());
        Self { value, kind: kind.map_or(ItemKind::Other, |kind| ItemKind::of(&kind.decode())) }
    }

    /// Returns a member that is a string.
    pub fn text(&self, name: &str) -> Option<Text<'l>> {
        self.value.get(name)?.text()
    }

    /// Returns the texts of a message's parts.
    pub fn texts(&self) -> impl Iterator<Item = Text<'l>> + use<'l> {
        let parts = self.value.get("content").into_iter().flat_map(|content| content.items());
        parts.filter_map(|part| part.get("text")?.text())
    }

    /// Returns whether the item is the user's message and not one of the client's, by the rule that
    /// Codex itself uses to count turns.
    pub fn is_user_turn(&self) -> bool {
        self.kind == ItemKind::Message
            && self.text("role").is_some_and(|role| role.is("user"))
            && !starts_with_any(self.texts(), &CONTEXTS)
    }

    /// Returns the id of a call, or of the call that an output answers.
    pub fn call_id(&self) -> Option<Text<'l>> {
        self.text("call_id")
    }
}

/// The starts of the user's messages that Codex does not count as turns (0.169).
const CONTEXTS: [&str; 7] = [
    "<environment_context",
    "<user_instructions",
    "# AGENTS.md instructions",
    "<skill>",
    "<user_shell_command",
    "<turn_aborted",
    "<subagent_notification",
];

/// Returns whether texts, joined, start with one of some words after white space.
fn starts_with_any<'l>(texts: impl Iterator<Item = Text<'l>>, words: &[&str]) -> bool {
    /// Length of the text that is enough for the longest word.
    const MAX_WORD: usize = 64;
    let mut start = String::new();
    for text in texts {
        let text = text.decode();
        let text = if start.is_empty() { text.trim_start() } else { &text };
        start.extend(text.chars().take(MAX_WORD));
        if start.len() >= MAX_WORD {
            break;
        }
    }
    words.iter().any(|word| start.starts_with(word))
}

impl ItemKind {
    /// Returns the kind of a `type`.
    pub fn of(name: &str) -> Self {
        match name {
            "message" => ItemKind::Message,
            "reasoning" => ItemKind::Reasoning,
            "function_call" => ItemKind::FunctionCall,
            "function_call_output" => ItemKind::FunctionCallOutput,
            "custom_tool_call" => ItemKind::CustomToolCall,
            "custom_tool_call_output" => ItemKind::CustomToolCallOutput,
            "local_shell_call" => ItemKind::LocalShellCall,
            "web_search_call" => ItemKind::WebSearchCall,
            "image_generation_call" => ItemKind::ImageGenerationCall,
            "tool_search_call" => ItemKind::ToolSearchCall,
            "tool_search_output" => ItemKind::ToolSearchOutput,
            "agent_message" => ItemKind::AgentMessage,
            "additional_tools" => ItemKind::AdditionalTools,
            "compaction" | "compaction_summary" | "context_compaction" => ItemKind::Compaction,
            "ghost_snapshot" => ItemKind::GhostSnapshot,
            _ => ItemKind::Other,
        }
    }
}
