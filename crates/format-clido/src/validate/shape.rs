//! The members of each type of line and block, with their types (FORMAT.md).
//!
//! In: `title`. Out: one member, `title`, which must be a string.

use jsonl::{Kind, Value};

/// The required type of a member.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
    Text,
    OptionalText,
    Array,
    Bool,
    Float,
    U32,
    OptionalU64,
    U64,
    Any,
}

impl Shape {
    /// Returns whether a member has the required type, or is absent and optional.
    pub(crate) fn fits(self, value: Option<Value<'_>>) -> bool {
        let Some(value) = value else {
            return matches!(self, Shape::OptionalText | Shape::OptionalU64);
        };
        // clido decides by spelling: `1.0`, `1e0` and `-0` are floats.
        let integer = || value.raw().as_str().starts_with(|c: char| c.is_ascii_digit());
        let integer = || integer().then(|| value.raw().as_u64()).flatten();
        match self {
            Shape::Text => value.text().is_some(),
            Shape::OptionalText => value.is_null() || value.text().is_some(),
            Shape::Array => value.is_array(),
            Shape::Bool => value.bool().is_some(),
            Shape::Float => value.kind() == Kind::Number,
            Shape::U32 => integer().is_some_and(|n| u32::try_from(n).is_ok()),
            Shape::OptionalU64 => value.is_null() || integer().is_some(),
            Shape::U64 => integer().is_some(),
            Shape::Any => true,
        }
    }
}

/// The members of a line or block, with their types.
pub(crate) type Members = &'static [(&'static str, Shape)];

/// Returns the members of a type of line, without `type`; `None` for an unknown type.
pub(crate) fn members_of_line(kind: &str) -> Option<Members> {
    Some(match kind {
        "meta" => &[
            ("session_id", Shape::Text),
            ("schema_version", Shape::U32),
            ("start_time", Shape::Text),
            ("project_path", Shape::Text),
        ],
        "user_message" => &[("role", Shape::Text), ("content", Shape::Array)],
        "assistant_message" => &[("content", Shape::Array)],
        "tool_call" => {
            &[("tool_use_id", Shape::Text), ("tool_name", Shape::Text), ("input", Shape::Any)]
        }
        "tool_result" => &[
            ("tool_use_id", Shape::Text),
            ("content", Shape::Text),
            ("is_error", Shape::Bool),
            ("duration_ms", Shape::OptionalU64),
            ("path", Shape::OptionalText),
            ("content_hash", Shape::OptionalText),
            ("mtime_nanos", Shape::OptionalU64),
        ],
        "system" => &[("subtype", Shape::Text), ("message", Shape::OptionalText)],
        "result" => &[
            ("exit_status", Shape::Text),
            ("total_cost_usd", Shape::Float),
            ("num_turns", Shape::U32),
            ("duration_ms", Shape::U64),
        ],
        "title" => &[("title", Shape::Text)],
        _ => return None,
    })
}

/// Returns the members of a type of block, without `type`; `None` for an unknown type.
pub(super) fn members_of_block(kind: &str) -> Option<Members> {
    Some(match kind {
        "text" => &[("text", Shape::Text)],
        "tool_use" => &[("id", Shape::Text), ("name", Shape::Text), ("input", Shape::Any)],
        "tool_result" => {
            &[("tool_use_id", Shape::Text), ("content", Shape::Text), ("is_error", Shape::Bool)]
        }
        "thinking" => &[("thinking", Shape::Text)],
        "image" => &[("media_type", Shape::Text), ("base64_data", Shape::Text)],
        _ => return None,
    })
}
