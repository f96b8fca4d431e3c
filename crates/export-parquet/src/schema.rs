//! The columns of the tables, version 1.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};

/// The version of the schema, which is `convert.schema` in the metadata of each file.
pub const VERSION: &str = "1";

/// The type of a column.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// Text.
    Text,
    /// An integer.
    Int,
    /// A floating point number.
    Float,
    /// A boolean.
    Bool,
    /// Microseconds since 1970, UTC.
    Time,
    /// Any bytes.
    Bytes,
    /// A list of texts.
    Texts,
}

/// A column: its name, its type, and a sentence about it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Column {
    /// The name.
    pub name: &'static str,
    pub(crate) kind: Kind,
    /// A description of the values.
    pub about: &'static str,
}

const fn column(name: &'static str, kind: Kind, about: &'static str) -> Column {
    Column { name, kind, about }
}

/// The columns of `events`, one row for each content block; all but the first six may be null.
pub const EVENTS: &[Column] = &[
    column("source_format", Kind::Text, "the format of the file, such as claude-code"),
    column("file", Kind::Text, "the file, relative to the folder that was read"),
    column("offset", Kind::Int, "where the line starts in the file, in bytes"),
    column("length", Kind::Int, "the length of the line with its terminator, in bytes"),
    column("block", Kind::Int, "the number of the block in the line, from 0"),
    column(
        "event_type",
        Kind::Text,
        "the line's own type, such as assistant; of a line without one, what it is about; unreadable if it is damaged",
    ),
    column("session_id", Kind::Text, "the session"),
    column("agent_id", Kind::Text, "the sub-agent; null in the main conversation"),
    column("role", Kind::Text, "user or assistant"),
    column(
        "block_type",
        Kind::Text,
        "text, thinking, tool_use, tool_result, image, or the format's own word",
    ),
    column("ts", Kind::Time, "when"),
    column("ts_text", Kind::Text, "the time as written, where ts does not say it all"),
    column("uuid", Kind::Text, "the id of the line"),
    column("parent_uuid", Kind::Text, "the id of the line before it in its conversation"),
    column("message_id", Kind::Text, "the response that the line is a part of"),
    column("request_id", Kind::Text, "the request that was answered"),
    column("model", Kind::Text, "the model that answered"),
    column("tool_use_id", Kind::Text, "the tool use, or the one that is answered"),
    column("tool_name", Kind::Text, "the tool; on a result too, if its call came before it"),
    column("tool_input", Kind::Text, "the input of the tool, as JSON"),
    column("text", Kind::Text, "the words"),
    column("is_error", Kind::Bool, "whether the tool or the run failed"),
    column("duration_ms", Kind::Int, "how long the tool or the run took, as the file says"),
    column("stop_reason", Kind::Text, "why the model stopped"),
    column("input_tokens", Kind::Int, "tokens sent; only on the last line of a response"),
    column("output_tokens", Kind::Int, "tokens answered; only on the last line of a response"),
    column(
        "cache_read_tokens",
        Kind::Int,
        "tokens that a cache knew; only on the last line of a response",
    ),
    column(
        "cache_creation_tokens",
        Kind::Int,
        "tokens put into a cache; only on the last line of a response",
    ),
    column("cost_usd", Kind::Float, "the cost of a run, as the file says"),
    column(
        "response_key",
        Kind::Text,
        "the response, by the ids of its message and its request, or else of its record; equal in all copies of a response",
    ),
    column(
        "cost",
        Kind::Float,
        "the cost of the response in US dollars, as the file says or by prices; only on the last line of a response, or on the outcome of its run; null if the model is unknown",
    ),
    column("cwd", Kind::Text, "the working directory"),
    column("git_branch", Kind::Text, "the git branch"),
    column("client_version", Kind::Text, "the version of the client"),
    column("is_sidechain", Kind::Bool, "whether the line belongs to a sub-agent's conversation"),
];

macro_rules! places {
    ($($name:ident,)*) => {
        /// The places of the columns in [`EVENTS`], and of [`RAW`] behind them.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum Place {
            $($name,)*
        }

        #[cfg(test)]
        const PLACES: &[Place] = &[$(Place::$name,)*];
    };
}

places! {
    SourceFormat, File, Offset, Length, Block, EventType, SessionId, AgentId, Role,
    BlockType, Ts, TsText, Uuid, ParentUuid, MessageId, RequestId, Model, ToolUseId,
    ToolName, ToolInput, Text, IsError, DurationMs, StopReason, InputTokens, OutputTokens,
    CacheReadTokens, CacheCreationTokens, CostUsd, ResponseKey, Cost, Cwd, GitBranch,
    ClientVersion, IsSidechain, Raw,
}

/// The columns of `events` with the tokens of a response.
pub(crate) const TOKENS: [Place; 4] =
    [Place::InputTokens, Place::OutputTokens, Place::CacheReadTokens, Place::CacheCreationTokens];

/// The column for the bytes of the line, on its first row. It is the last column of `events`.
pub(crate) const RAW: Column = column("raw", Kind::Bytes, "the bytes of the line");

/// The columns of `sessions`, one row for each file.
pub const SESSIONS: &[Column] = &[
    column("file", Kind::Text, "the file, relative to the folder that was read"),
    column("source_format", Kind::Text, "the format of the file"),
    column("session_id", Kind::Text, "the session"),
    column("agent_id", Kind::Text, "the sub-agent whose file it is; null for a main file"),
    column("title", Kind::Text, "the title, or the start of the first prompt"),
    column("cwd", Kind::Text, "the first working directory"),
    column("git_branch", Kind::Text, "the first git branch"),
    column("client_version", Kind::Text, "the first version of the client"),
    column("first_ts", Kind::Time, "the first time"),
    column("last_ts", Kind::Time, "the last time"),
    column("lines", Kind::Int, "the number of lines"),
    column("bad_lines", Kind::Int, "the number of lines that cannot be read"),
    column("bytes", Kind::Int, "the size of the file"),
    column("prompts", Kind::Int, "the number of prompts"),
    column("tool_uses", Kind::Int, "the number of tool uses"),
    column("tool_errors", Kind::Int, "the number of results that say that the tool failed"),
    column("compactions", Kind::Int, "the number of compactions"),
    column("input_tokens", Kind::Int, "tokens sent"),
    column("output_tokens", Kind::Int, "tokens answered"),
    column("cache_read_tokens", Kind::Int, "tokens that a cache knew"),
    column("cache_creation_tokens", Kind::Int, "tokens put into a cache"),
    column("cost_usd", Kind::Float, "the cost of all runs, as the file says"),
    column("models", Kind::Texts, "the models that answered, in order of their names"),
    column("tools", Kind::Texts, "the tools that were used, in order of their names"),
];

/// Returns the schema of a table.
pub(crate) fn schema(columns: impl Iterator<Item = Column>) -> SchemaRef {
    let fields = columns.map(|column| Field::new(column.name, column.kind.data_type(), true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

impl Kind {
    pub(crate) fn data_type(self) -> DataType {
        match self {
            Kind::Text => DataType::LargeUtf8,
            Kind::Int => DataType::Int64,
            Kind::Float => DataType::Float64,
            Kind::Bool => DataType::Boolean,
            Kind::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Kind::Bytes => DataType::LargeBinary,
            Kind::Texts => {
                DataType::List(Arc::new(Field::new_list_field(DataType::LargeUtf8, true)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_places_are_the_columns() {
        let columns: Vec<_> = EVENTS.iter().chain([&RAW]).collect();
        assert_eq!(PLACES.len(), columns.len());
        for place in PLACES {
            let words = columns[*place as usize].name.split('_');
            let name: String = words.map(|word| word[..1].to_uppercase() + &word[1..]).collect();
            assert_eq!(format!("{place:?}"), name);
        }
    }
}
