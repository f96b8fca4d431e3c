//! The events of a record: speaker, place, time and content, in the model that all formats share.

use jsonl::{Raw, Text, Value};

use crate::{
    Block, BlockCounts, Field, Input, Message, Notice, Outcome, Role, Shape, Tokens, ToolUse,
    Usage, Vocabulary,
};

/// The depth of a record from which on a value in it may be too deep for a client, with the levels that a target adds.
const DEEP: u32 = 100;

/// An event of a record. Most records have one.
#[derive(Clone, Copy, Debug)]
pub struct Event<'l> {
    /// The name of the format that read the line.
    pub format: &'static str,
    /// The record itself, for writers of another dialect of the same crate.
    pub value: Value<'l>,
    /// The number of the event in its record, from 0.
    pub nth: u32,
    /// Whether the record has another event after this one.
    pub has_next: bool,
    /// The `type` of the line.
    pub kind: Option<Text<'l>>,
    /// The speaker, the place and the time.
    pub context: Context<'l>,
    /// The content.
    pub body: Body<'l>,
    /// The format's names for the members of its records.
    pub vocabulary: &'static Vocabulary,
    /// A hash of the members that the event does not hold, if the reader computed it.
    pub unread: Shape,
}

impl<'l> Event<'l> {
    /// Creates an event without content.
    pub fn other(format: &'static str, value: Value<'l>) -> Self {
        let kind = value.get("type").and_then(|kind| kind.text());
        Self {
            format,
            value,
            nth: 0,
            has_next: false,
            kind,
            context: Context::default(),
            body: Body::Other,
            vocabulary: &Vocabulary::PLAIN,
            unread: Shape::default(),
        }
    }

    /// Returns the message; `None` for other events.
    pub fn message(&self) -> Option<&Message<'l>> {
        match &self.body {
            Body::Message(message) => Some(message),
            _ => None,
        }
    }

    /// Returns whether a value of the event may be one that [`jsonl::loadable`] replaces. The test is cheap and nearly
    /// always false.
    pub fn may_be_unloadable(&self) -> bool {
        self.is_odd()
            || self.message().is_some_and(|message| {
                message.any_block(|block| match block {
                    Block::ToolUse(tool) => is_quoted(tool),
                    _ => false,
                })
            })
    }

    /// Returns whether the input of a tool use of the event may have a value that [`jsonl::loadable`] replaces.
    pub fn may_be_unloadable_input(&self, tool: &ToolUse<'_>) -> bool {
        self.is_odd() || is_quoted(tool)
    }

    fn is_odd(&self) -> bool {
        let oddities = self.value.oddities();
        oddities.surrogate_escape || oddities.wide_number || oddities.depth > DEEP
    }

    /// Returns whether the event belongs to a sub-agent's conversation.
    pub fn is_sub_agent(&self) -> bool {
        self.context.is_sidechain || self.context.parent_tool_use.is_some()
    }

    /// Returns whether the event is a prompt of a person, which opens an interaction.
    ///
    /// A prompt is a user's message with text or an image, without tool results, outside
    /// sub-agents. It was not written by the client (meta, summary).
    pub fn is_prompt(&self) -> bool {
        self.message().is_some_and(|message| message.is_prompt()) && !self.is_sub_agent()
    }

    /// Returns [`Event::is_prompt`], given the block counts of the message.
    pub fn is_prompt_of(&self, block_counts: BlockCounts) -> bool {
        self.message().is_some_and(|message| message.is_prompt_of(block_counts))
            && !self.is_sub_agent()
    }
}

/// The speaker, place and time of an event, as written. Each may be unknown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context<'l> {
    /// The session.
    pub session_id: Option<Text<'l>>,
    /// The id of this event.
    pub uuid: Option<Text<'l>>,
    /// The id of the event that this one follows.
    pub parent: Field<Text<'l>>,
    /// The time: an ISO 8601 string, or a number of seconds since 1970.
    pub time: Option<Raw<'l>>,
    /// The time of the recorded thing, such as a snapshot, if the event has no time of its own.
    pub recorded: Option<Raw<'l>>,
    /// The working directory.
    pub cwd: Option<Text<'l>>,
    /// The client's version.
    pub version: Option<Text<'l>>,
    /// The git branch.
    pub git_branch: Option<Text<'l>>,
    /// The permission mode.
    pub permission_mode: Option<Text<'l>>,
    /// Whether the event belongs to a sub-agent's conversation (Claude Code's `isSidechain`).
    pub is_sidechain: bool,
    /// The sub-agent.
    pub agent_id: Option<Text<'l>>,
    /// The tool use that started the sub-agent (SDK streams' `parent_tool_use_id`).
    pub parent_tool_use: Option<Text<'l>>,
}

/// The content of an event.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all that is read are messages")]
#[non_exhaustive]
pub enum Body<'l> {
    /// The start of a session or of an interaction (clido's meta, an SDK's init).
    Start(Start<'l>),
    /// A message of the user, a tool, or the assistant.
    Message(Message<'l>),
    /// An index entry of a tool use that is also in a message (clido's tool_call).
    ToolCall(ToolCall<'l>),
    /// A notice of the client.
    Notice(Notice<'l>),
    /// The end of a run.
    Outcome(Outcome<'l>),
    /// A title of the session.
    Title(Title<'l>),
    /// The session moved to another working directory, which the context names.
    Relocation,
    /// The tokens of a response whose messages are elsewhere: before this record, or in the file of
    /// a sub-agent.
    Usage(ResponseUsage<'l>),
    /// Content that the model has no place for. Only the carry keeps it.
    Other,
}

/// The start of a session or of an interaction. Id, folder and time are in the context.
#[derive(Clone, Copy, Debug, Default)]
pub struct Start<'l> {
    /// The model.
    pub model: Option<Text<'l>>,
    /// The names of the tools: a JSON array.
    pub tools: Option<Raw<'l>>,
}

/// An index entry of a tool use.
#[derive(Clone, Copy, Debug)]
pub struct ToolCall<'l> {
    /// The id of the tool use.
    pub id: Text<'l>,
    /// The name of the tool.
    pub name: Text<'l>,
    /// The input of the tool.
    pub input: Raw<'l>,
}

/// The tokens of a response, outside its messages.
#[derive(Clone, Copy, Debug)]
pub struct ResponseUsage<'l> {
    /// The API's id of a sub-agent's response; `None` for the response before this record.
    pub message_id: Option<Text<'l>>,
    /// The tokens used.
    pub usage: Usage<'l>,
    /// The tokens of the session so far. A record with the total of the one before repeats it.
    pub total: Option<Usage<'l>>,
}

impl<'l> ResponseUsage<'l> {
    /// Creates the usage of a sub-agent's response.
    pub fn of_agent(message_id: Text<'l>, usage: Usage<'l>) -> Self {
        Self { message_id: Some(message_id), usage, total: None }
    }

    /// Returns the tokens, and stores the total; `None` if the record repeats the last one.
    pub fn since(&self, last_total: &mut Option<Tokens>) -> Option<Tokens> {
        let total = self.total.map(|total| total.tokens());
        let is_repeated = total.is_some() && total == *last_total;
        *last_total = total.or(*last_total);
        (!is_repeated).then(|| self.usage.tokens())
    }
}

/// A title of the session.
#[derive(Clone, Copy, Debug)]
pub struct Title<'l> {
    /// The text.
    pub text: Text<'l>,
    /// Its author. The highest rank wins, and of equal ranks the last title.
    pub rank: TitleRank,
}

/// The author of a title.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum TitleRank {
    /// A summary of a conversation.
    Summary,
    /// A model.
    Model,
    /// The user.
    User,
}

impl<'l> Message<'l> {
    /// Returns whether the message is a prompt, prompts of sub-agents included.
    pub fn is_prompt(&self) -> bool {
        self.may_be_prompt() && self.is_prompt_of(self.block_counts())
    }

    /// Returns [`Message::is_prompt`], given the block counts of the message.
    pub fn is_prompt_of(&self, block_counts: BlockCounts) -> bool {
        self.may_be_prompt() && block_counts.n_said() > 0 && block_counts.n_tool_results == 0
    }

    /// Returns whether the client wrote the message in the role of the user or of the assistant.
    pub fn is_by_client(&self) -> bool {
        self.is_meta || self.is_api_error
    }

    fn may_be_prompt(&self) -> bool {
        self.role == Role::User && !self.is_meta && !self.is_summary
    }
}

/// Returns whether the input of a tool use is in a string. The line has no oddities of such an input.
fn is_quoted(tool: &ToolUse<'_>) -> bool {
    matches!(tool.input, Input::JsonString(_))
}
