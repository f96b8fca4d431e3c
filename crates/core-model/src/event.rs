//! What one line says, in words that all formats share.

use jsonl::{Raw, Text, Value};

use crate::{Makeup, Message, Outcome, Role, Shape, Vocabulary};

/// A member that may be absent, null, or there: three different things in every format.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Field<T> {
    /// The member is not there.
    #[default]
    Absent,
    /// The member is `null`.
    Null,
    /// The member has a value.
    Value(T),
}

impl<T> Field<T> {
    /// Returns the value, if there is one.
    pub fn value(self) -> Option<T> {
        match self {
            Field::Value(value) => Some(value),
            _ => None,
        }
    }
}

/// What one line says.
#[derive(Clone, Copy, Debug)]
pub struct Event<'l> {
    /// The name of the format that read the line.
    pub format: &'static str,
    /// The line itself, for writers of the same crate's other flavor.
    pub value: Value<'l>,
    /// The line's own word for what it is: its `type`.
    pub kind: Option<Text<'l>>,
    /// Who, where and when.
    pub context: Context<'l>,
    /// What.
    pub body: Body<'l>,
    /// What the format calls the members of its records.
    pub vocabulary: &'static Vocabulary,
    /// The names of the members that the event does not hold, if the reader has seen them.
    pub unread: Shape,
}

impl<'l> Event<'l> {
    /// Creates an event that says nothing beyond its line.
    pub fn other(format: &'static str, value: Value<'l>) -> Self {
        let kind = value.get("type").and_then(|kind| kind.text());
        Self {
            format,
            value,
            kind,
            context: Context::default(),
            body: Body::Other,
            vocabulary: &Vocabulary::PLAIN,
            unread: Shape::default(),
        }
    }

    /// Returns the message, if the event is one.
    pub fn message(&self) -> Option<&Message<'l>> {
        match &self.body {
            Body::Message(message) => Some(message),
            _ => None,
        }
    }

    /// Returns whether the event belongs to a sub-agent's conversation.
    pub fn is_sub_agent(&self) -> bool {
        self.context.is_sidechain || self.context.parent_tool_use.is_some()
    }

    /// Returns whether the event is what a person asked: it opens an interaction.
    ///
    /// That is a user's message with some text or picture, without tool results, that no client
    /// wrote on its own (meta, summary), outside sub-agents.
    pub fn is_prompt(&self) -> bool {
        self.message().is_some_and(|message| message.is_prompt()) && !self.is_sub_agent()
    }

    /// Returns what [`Event::is_prompt`] does, if the makeup of its message is known already.
    pub fn is_prompt_of(&self, makeup: Makeup) -> bool {
        self.message().is_some_and(|message| message.is_prompt_of(makeup)) && !self.is_sub_agent()
    }
}

/// Who said it, where, and when; each as written, each possibly unknown.
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
    /// The time of what the event records, such as a snapshot, if it says that rather than its own.
    pub recorded: Option<Raw<'l>>,
    /// The working directory.
    pub cwd: Option<Text<'l>>,
    /// The client's version.
    pub version: Option<Text<'l>>,
    /// The git branch.
    pub git_branch: Option<Text<'l>>,
    /// What the tools may do.
    pub permission_mode: Option<Text<'l>>,
    /// Whether the event belongs to a sub-agent's conversation (Claude Code's `isSidechain`).
    pub is_sidechain: bool,
    /// The sub-agent.
    pub agent_id: Option<Text<'l>>,
    /// The tool use that started the sub-agent (SDK streams' `parent_tool_use_id`).
    pub parent_tool_use: Option<Text<'l>>,
}

/// What an event is about.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all that is read are messages")]
#[non_exhaustive]
pub enum Body<'l> {
    /// The start of a session or of an interaction (clido's meta, an SDK's init).
    Start(Start<'l>),
    /// Something that the user, a tool, or the assistant said.
    Message(Message<'l>),
    /// An index entry of a tool use that also stands in a message (clido's tool_call).
    ToolCall(ToolCall<'l>),
    /// Something that the client tells.
    Notice(Notice<'l>),
    /// How a run ended.
    Outcome(Outcome<'l>),
    /// A title of the session.
    Title(Title<'l>),
    /// The session goes on in another working directory, which the context names.
    Relocation,
    /// The tokens of a response that a sub-agent got and that the session's own file tells.
    Usage(AgentUsage<'l>),
    /// Whatever has no place in this vocabulary: it lives on in the carry alone.
    Other,
}

/// The start of a session or of an interaction; id, folder and time stand in the context.
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

/// Something that the client tells.
#[derive(Clone, Copy, Debug)]
pub struct Notice<'l> {
    /// What it is about.
    pub kind: NoticeKind,
    /// The format's own word for it.
    pub subtype: Option<Text<'l>>,
    /// What the words are about, such as the path of a file.
    pub about: Option<Text<'l>>,
    /// The words, or any other value that stands in their place.
    pub text: Option<Raw<'l>>,
    /// What started a compaction.
    pub trigger: Option<Text<'l>>,
    /// The tokens in the context before a compaction.
    pub pre_tokens: Option<Raw<'l>>,
}

/// What a notice is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum NoticeKind {
    /// The context was compacted here.
    Compaction,
    /// Something failed.
    Error,
    /// Something may be wrong.
    Warning,
    /// Anything else.
    Info,
}

/// The tokens of a response that a sub-agent got.
#[derive(Clone, Copy, Debug)]
pub struct AgentUsage<'l> {
    /// The API's id of the response.
    pub message_id: Text<'l>,
    /// The tokens used: an object.
    pub usage: Value<'l>,
}

/// A title of the session.
#[derive(Clone, Copy, Debug)]
pub struct Title<'l> {
    /// The words.
    pub text: Text<'l>,
    /// Who gave it: the highest rank wins, and of equals the last.
    pub rank: TitleRank,
}

/// Who gave a title.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum TitleRank {
    /// A summary of a conversation.
    Summary,
    /// A model.
    Model,
    /// The user.
    User,
}

impl<'l> Message<'l> {
    /// Returns whether the message is what a person asked, sub-agents' prompts included.
    pub fn is_prompt(&self) -> bool {
        self.may_be_prompt() && self.is_prompt_of(self.makeup())
    }

    /// Returns what [`Message::is_prompt`] does, if its makeup is known already.
    pub fn is_prompt_of(&self, makeup: Makeup) -> bool {
        self.may_be_prompt() && makeup.n_said() > 0 && makeup.n_tool_results == 0
    }

    /// Returns whether the client wrote the message, though it stands in the place of the user or of
    /// the assistant.
    pub fn is_by_client(&self) -> bool {
        self.is_meta || self.is_api_error
    }

    fn may_be_prompt(&self) -> bool {
        self.role == Role::User && !self.is_meta && !self.is_summary
    }
}
