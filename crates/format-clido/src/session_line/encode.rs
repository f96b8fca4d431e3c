//! Encodes a [`SessionLine`] as clido's serializer prints it.

use jsonl::{MAX_SERDE_DEPTH, RawBuf, Style, is_loadable, push_string};

use super::{SessionLine, push_sorted};
use crate::SCHEMA_VERSION;

/// The reason why a line is not encoded: clido would not load the session.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("clido would not load `{member}`: {why}")]
pub struct NotLoadable {
    /// The member.
    pub member: &'static str,
    /// The fault of the member.
    pub why: &'static str,
}

pub(super) fn encode(line: &SessionLine) -> Result<String, NotLoadable> {
    let mut pen = Pen(Vec::new());
    match line {
        SessionLine::Meta { session_id, schema_version, start_time, project_path } => {
            if u64::from(*schema_version) > SCHEMA_VERSION {
                let why = "newer than version 1";
                return Err(NotLoadable { member: "schema_version", why });
            }
            pen.start("meta");
            pen.text("session_id", session_id);
            pen.plain("schema_version", &schema_version.to_string());
            pen.text("start_time", start_time);
            pen.text("project_path", project_path);
        }
        SessionLine::UserMessage { role, content } => {
            pen.start("user_message");
            pen.text("role", role);
            pen.blocks(content)?;
        }
        SessionLine::AssistantMessage { content } => {
            pen.start("assistant_message");
            pen.blocks(content)?;
        }
        SessionLine::ToolCall { tool_use_id, tool_name, input } => {
            pen.start("tool_call");
            pen.text("tool_use_id", tool_use_id);
            pen.text("tool_name", tool_name);
            pen.key("input");
            pen.value(input, "input", MAX_SERDE_DEPTH - 1)?;
        }
        SessionLine::ToolResult {
            tool_use_id,
            tool_name: _,
            content,
            is_error,
            duration_ms,
            path,
            content_hash,
            mtime_nanos,
        } => {
            pen.start("tool_result");
            pen.text("tool_use_id", tool_use_id);
            pen.text("content", content);
            pen.plain("is_error", if *is_error { "true" } else { "false" });
            pen.optional_number("duration_ms", *duration_ms);
            pen.optional_text("path", path.as_deref());
            pen.optional_text("content_hash", content_hash.as_deref());
            pen.optional_number("mtime_nanos", *mtime_nanos);
        }
        SessionLine::System { subtype, message } => {
            pen.start("system");
            pen.text("subtype", subtype);
            pen.optional_text("message", message.as_deref());
        }
        SessionLine::Result { exit_status, total_cost_usd, num_turns, duration_ms } => {
            if !total_cost_usd.is_finite() {
                let why = "not a number that JSON has";
                return Err(NotLoadable { member: "total_cost_usd", why });
            }
            pen.start("result");
            pen.text("exit_status", exit_status);
            pen.key("total_cost_usd");
            super::sorted::push_float(&mut pen.0, *total_cost_usd);
            pen.plain("num_turns", &num_turns.to_string());
            pen.plain("duration_ms", &duration_ms.to_string());
        }
        SessionLine::Title { title } => {
            pen.start("title");
            pen.text("title", title);
        }
        SessionLine::Unknown { .. } => {
            return Err(NotLoadable {
                member: "type",
                why: "not one of the eight types that clido knows",
            });
        }
    }
    pen.0.push(b'}');
    Ok(String::from_utf8(pen.0).unwrap_or_default())
}

/// Buffer for the encoded line.
struct Pen(Vec<u8>);

impl Pen {
    fn start(&mut self, kind: &str) {
        self.put("{\"type\":\"");
        self.put(kind);
        self.put("\"");
    }

    fn put(&mut self, written: &str) {
        self.0.extend_from_slice(written.as_bytes());
    }

    fn key(&mut self, name: &str) {
        self.put(",\"");
        self.put(name);
        self.put("\":");
    }

    fn plain(&mut self, name: &str, written: &str) {
        self.key(name);
        self.put(written);
    }

    fn text(&mut self, name: &str, text: &str) {
        self.key(name);
        push_string(&mut self.0, text, Style::Compact);
    }

    fn optional_text(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(name, text);
        }
    }

    fn optional_number(&mut self, name: &str, number: Option<u64>) {
        if let Some(number) = number {
            self.plain(name, &number.to_string());
        }
    }

    fn blocks(&mut self, content: &[RawBuf]) -> Result<(), NotLoadable> {
        self.key("content");
        self.put("[");
        for (block_idx, block) in content.iter().enumerate() {
            if block_idx > 0 {
                self.put(",");
            }
            self.value(block, "content", MAX_SERDE_DEPTH - 2)?;
        }
        self.put("]");
        Ok(())
    }

    fn value(
        &mut self,
        value: &RawBuf,
        member: &'static str,
        max_depth: usize,
    ) -> Result<(), NotLoadable> {
        if !is_loadable(value.as_str(), max_depth) {
            let why = "half a surrogate pair, a number out of range, or nested too deeply";
            return Err(NotLoadable { member, why });
        }
        push_sorted(&mut self.0, value.as_raw());
        Ok(())
    }
}
