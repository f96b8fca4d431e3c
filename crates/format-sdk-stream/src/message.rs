//! A message of a stream that owns its data.
//!
//! In: a line of either flavor. Out: one [`Message`], the same for both flavors.

use core_model::{Content, SaidBlock};
use jsonl::{RawBuf, Value};

use crate::{
    block::read_block,
    record::{Flavor, Record, RecordKind},
};

/// A message of a stream, of either flavor. A `String` is decoded; a [`RawBuf`] is as written.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Message {
    /// A prompt as the orchestrator writes it before each run.
    Prompt {
        /// The text.
        content: String,
        /// The time, ISO 8601.
        timestamp: Option<String>,
    },
    /// A message of the client: the start of a run, hooks, tasks, compactions.
    System {
        /// The kind of message, such as `init`.
        subtype: Option<String>,
        /// The session.
        session_id: Option<String>,
        /// The line of the wire.
        data: RawBuf,
    },
    /// A message of the model.
    Assistant {
        /// The blocks.
        content: Vec<SaidBlock>,
        /// The model.
        model: Option<String>,
        /// The tool use that started the sub-agent.
        parent_tool_use_id: Option<String>,
        /// The API's id of the response; SDK 0.1.6 drops it.
        message_id: Option<String>,
        /// The tokens used; SDK 0.1.6 drops them.
        usage: Option<RawBuf>,
    },
    /// A message of the user, or the result of a tool.
    User {
        /// The blocks. A string becomes one text block.
        content: Vec<SaidBlock>,
        /// The tool use that started the sub-agent.
        parent_tool_use_id: Option<String>,
        /// The client's own data about a tool result; SDK 0.1.6 drops it.
        tool_use_result: Option<RawBuf>,
    },
    /// The end of a run.
    Result {
        /// The kind of end, such as `success` or `error_max_turns`.
        subtype: Option<String>,
        /// The session.
        session_id: Option<String>,
        /// Whether the run failed.
        is_error: Option<bool>,
        /// The cost in US dollars.
        total_cost_usd: Option<f64>,
        /// The wall time in milliseconds.
        duration_ms: Option<u64>,
        /// The number of turns.
        num_turns: Option<u64>,
        /// The tokens used.
        usage: Option<RawBuf>,
        /// The last text of the model; absent after an error.
        result: Option<String>,
    },
    /// A piece of a message that is still being written.
    StreamEvent {
        /// The API's event.
        event: Option<RawBuf>,
        /// The tool use that started the sub-agent.
        parent_tool_use_id: Option<String>,
    },
    /// A change of the rate limits.
    RateLimit {
        /// The limits.
        info: Option<RawBuf>,
    },
    /// The conversation was replaced by an empty one.
    ConversationReset {
        /// The id of the new one.
        new_conversation_id: Option<String>,
    },
    /// Any other line.
    Other {
        /// The line as written.
        line: RawBuf,
    },
}

impl Message {
    /// Reads a line of either flavor: by its type on the wire, by its members in a dump.
    ///
    /// ```
    /// use core_model::SaidBlock;
    /// use format_sdk_stream::Message;
    ///
    /// let mut scanner = jsonl::Scanner::default();
    /// let line = br#"{"content": [{"text": "4"}], "model": "m", "parent_tool_use_id": null}"#;
    /// let message = Message::read(scanner.scan_slice(line, 0)?);
    /// let Message::Assistant { content, .. } = message else { panic!("the model's") };
    /// assert_eq!(content, [SaidBlock::Text("4".to_owned())]);
    /// # Ok::<(), jsonl::Error>(())
    /// ```
    pub fn read(line: Value<'_>) -> Self {
        let record = Record::new(line);
        let text = |name| text(line, name);
        let number = |name| line.get(name).and_then(|number| number.raw().as_u64());
        match record.kind {
            RecordKind::Prompt => Message::Prompt {
                content: text("content").unwrap_or_default(),
                timestamp: text("timestamp"),
            },
            RecordKind::System => {
                let data = record.system().unwrap_or(line);
                Message::System {
                    subtype: text("subtype"),
                    session_id: text("session_id").or_else(|| self::text(data, "session_id")),
                    data: data.raw().into(),
                }
            }
            RecordKind::Assistant => {
                let message = record.message().unwrap_or(line);
                let id = if record.flavor == Flavor::Wire { "id" } else { "message_id" };
                Message::Assistant {
                    content: blocks(&record),
                    model: self::text(message, "model"),
                    parent_tool_use_id: text("parent_tool_use_id"),
                    message_id: self::text(message, id),
                    usage: raw(message, "usage"),
                }
            }
            RecordKind::User => Message::User {
                content: blocks(&record),
                parent_tool_use_id: text("parent_tool_use_id"),
                tool_use_result: raw(line, "tool_use_result"),
            },
            RecordKind::Result => Message::Result {
                subtype: text("subtype"),
                session_id: text("session_id"),
                is_error: line.get("is_error").and_then(|it| it.bool()),
                total_cost_usd: line.get("total_cost_usd").and_then(|cost| cost.raw().as_f64()),
                duration_ms: number("duration_ms"),
                num_turns: number("num_turns"),
                usage: raw(line, "usage"),
                result: text("result"),
            },
            RecordKind::StreamEvent => Message::StreamEvent {
                event: raw(line, "event"),
                parent_tool_use_id: text("parent_tool_use_id"),
            },
            RecordKind::RateLimit => Message::RateLimit { info: raw(line, "rate_limit_info") },
            RecordKind::ConversationReset => {
                Message::ConversationReset { new_conversation_id: text("new_conversation_id") }
            }
            RecordKind::Unknown => Message::Other { line: line.raw().into() },
        }
    }
}

fn blocks(record: &Record<'_>) -> Vec<SaidBlock> {
    SaidBlock::all(&Content::new(record.content(), read_block))
}

fn text(value: Value<'_>, name: &str) -> Option<String> {
    Some(value.get(name)?.text()?.decode().into_owned())
}

fn raw(value: Value<'_>, name: &str) -> Option<RawBuf> {
    value.get(name).filter(|member| !member.is_null()).map(|member| member.raw().into())
}
