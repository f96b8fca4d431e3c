//! Events that own their data and serialize to JSON.
//!
//! In: a title event. Out:
//! `{"format":"x","kind":"title","is_sub_agent":false,"body":{"title":{"text":"A","rank":"user"}}}`.

use jsonl::{Raw, RawBuf, Text};
use serde::Serialize;

use crate::{
    Block, Body, Event, ExitStatus, Field, NoticeKind, Role, TitleRank, Tokens, Usage, event_millis,
};

/// An event that owns its data.
///
/// As JSON it is one object in snake case. Unknown values are left out. Half a surrogate pair
/// becomes U+FFFD in texts. Inputs, contents of results and blocks of other types stay as written.
///
/// ```
/// let mut scanner = jsonl::Scanner::default();
/// let value = scanner.scan_slice(br#"{"type":"ping","n":1e-05}"#, 0)?;
/// let event = core_model::EventBuf::from(&core_model::Event::other("x", value));
/// assert_eq!((event.kind.as_deref(), event.body), (Some("ping"), core_model::BodyBuf::Other));
/// # Ok::<(), jsonl::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EventBuf {
    /// The name of the format.
    pub format: &'static str,
    /// The `type` of the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The id of the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// The id of the parent event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_uuid: Option<String>,
    /// The time in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<i64>,
    /// The working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The client's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The git branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_branch: Option<String>,
    /// The id of the sub-agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The tool use that started the sub-agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_tool_use_id: Option<String>,
    /// Whether the event belongs to a sub-agent's conversation.
    pub is_sub_agent: bool,
    /// The content.
    pub body: BodyBuf,
}

/// The content of an event, owned.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields have the names and meanings of those of `Body`")]
pub enum BodyBuf {
    /// The start of a session or of an interaction.
    Start { model: Option<String>, tools: Option<RawBuf> },
    /// A message of the user, a tool, or the assistant.
    Message {
        role: Role,
        id: Option<String>,
        model: Option<String>,
        stop_reason: Option<String>,
        tokens: Option<Tokens>,
        is_prompt: bool,
        is_meta: bool,
        is_summary: bool,
        is_api_error: bool,
        blocks: Vec<BlockBuf>,
    },
    /// An index entry of a tool use that is also in a message.
    ToolCall { id: String, name: String, input: RawBuf },
    /// A notice of the client.
    Notice {
        kind: NoticeKind,
        subtype: Option<String>,
        about: Option<String>,
        text: Option<RawBuf>,
    },
    /// The end of a run.
    Outcome(ExitStatus),
    /// A title of the session.
    Title { text: String, rank: TitleRank },
    /// The session moved to another working directory.
    Relocation,
    /// The tokens of a response, outside its messages.
    Usage { message_id: Option<String>, tokens: Tokens },
    /// Any other content.
    Other,
}

/// A block of a message, owned.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields have the names and meanings of those of `Block`")]
pub enum BlockBuf {
    /// A text.
    Text { text: String },
    /// The model's thinking and the API's signature.
    Thinking { text: String, signature: Option<String> },
    /// A tool use.
    ToolUse { id: String, name: String, input: RawBuf },
    /// A tool result.
    ToolResult { tool_use_id: String, is_error: Option<bool>, block: RawBuf },
    /// An image in base64.
    Image { media_type: String, data: String },
    /// Any other block, as written.
    Other { block: RawBuf },
}

impl From<&Event<'_>> for EventBuf {
    fn from(event: &Event<'_>) -> Self {
        let context = &event.context;
        Self {
            format: event.format,
            kind: owned(event.kind),
            session_id: owned(context.session_id),
            uuid: owned(context.uuid),
            parent_uuid: owned(context.parent.value()),
            time_ms: event_millis(event),
            cwd: owned(context.cwd),
            version: owned(context.version),
            git_branch: owned(context.git_branch),
            agent_id: owned(context.agent_id),
            parent_tool_use_id: owned(context.parent_tool_use),
            is_sub_agent: event.is_sub_agent(),
            body: body(event),
        }
    }
}

fn body(event: &Event<'_>) -> BodyBuf {
    match &event.body {
        Body::Start(start) => {
            BodyBuf::Start { model: owned(start.model), tools: start.tools.map(RawBuf::from) }
        }
        Body::Message(message) => BodyBuf::Message {
            role: message.role,
            id: owned(message.id),
            model: owned(message.model),
            stop_reason: owned(message.stop_reason.and_then(|reason| reason.as_text())),
            tokens: message.usage.filter(Usage::is_object).map(|usage| usage.tokens()),
            is_prompt: event.is_prompt(),
            is_meta: message.is_meta,
            is_summary: message.is_summary,
            is_api_error: message.is_api_error,
            blocks: message.blocks().map(block).collect(),
        },
        Body::ToolCall(call) => BodyBuf::ToolCall {
            id: string(call.id),
            name: string(call.name),
            input: call.input.into(),
        },
        Body::Notice(notice) => BodyBuf::Notice {
            kind: notice.kind,
            subtype: owned(notice.subtype),
            about: owned(notice.about),
            text: notice.text.map(RawBuf::from),
        },
        Body::Outcome(outcome) => BodyBuf::Outcome(ExitStatus::from(outcome)),
        Body::Title(title) => BodyBuf::Title { text: string(title.text), rank: title.rank },
        Body::Relocation => BodyBuf::Relocation,
        Body::Usage(usage) => {
            BodyBuf::Usage { message_id: owned(usage.message_id), tokens: usage.usage.tokens() }
        }
        Body::Other => BodyBuf::Other,
    }
}

fn block((block, raw): (Block<'_>, Raw<'_>)) -> BlockBuf {
    match block {
        Block::Text(text) => BlockBuf::Text { text: string(text) },
        Block::Thinking { text, signature } => {
            BlockBuf::Thinking { text: string(text), signature: owned(signature) }
        }
        Block::ToolUse(tool) => BlockBuf::ToolUse {
            id: string(tool.id),
            name: tool.name.decode().into_owned(),
            input: tool.input.json().raw().into(),
        },
        Block::ToolResult(result) => BlockBuf::ToolResult {
            tool_use_id: string(result.tool_use_id),
            is_error: Field::value(result.is_error),
            block: raw.into(),
        },
        Block::Image { media_type, data } => BlockBuf::Image {
            media_type: media_type.decode().into_owned(),
            data: data.decode().into_owned(),
        },
        Block::RedactedThinking { .. } | Block::Other { .. } => {
            BlockBuf::Other { block: raw.into() }
        }
    }
}

fn string(text: Text<'_>) -> String {
    text.decode().into_owned()
}

fn owned(text: Option<Text<'_>>) -> Option<String> {
    text.map(string)
}
