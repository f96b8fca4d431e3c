//! Decodes a line into a [`SessionLine`].

use jsonl::{Kind, RawBuf, Text, Value};

use super::SessionLine;
use crate::{ContentBlock, Record};

pub(super) fn decode(line: Value<'_>) -> Result<SessionLine, &'static str> {
    Ok(match Record::decode(line) {
        Record::Meta(meta) => SessionLine::Meta {
            session_id: text(meta.session_id, "session_id")?,
            schema_version: u32_of(meta.schema_version, "schema_version")?,
            start_time: text(meta.start_time.and_then(|time| time.text()), "start_time")?,
            project_path: text(meta.project_path, "project_path")?,
        },
        Record::UserMessage(message) => SessionLine::UserMessage {
            role: text(line.get("role").and_then(|role| role.text()), "role")?,
            content: blocks(message.content)?,
        },
        Record::AssistantMessage(message) => {
            SessionLine::AssistantMessage { content: blocks(message.content)? }
        }
        Record::ToolCall(call) => SessionLine::ToolCall {
            tool_use_id: text(call.tool_use_id, "tool_use_id")?,
            tool_name: text(call.tool_name, "tool_name")?,
            input: call.input.ok_or("input")?.raw().into(),
        },
        Record::ToolResult(result) => SessionLine::ToolResult {
            tool_use_id: text(result.tool_use_id, "tool_use_id")?,
            tool_name: None,
            content: text(result.content.and_then(|content| content.text()), "content")?,
            is_error: result.is_error.and_then(|it| it.bool()).ok_or("is_error")?,
            duration_ms: optional_u64(result.duration_ms, "duration_ms")?,
            path: optional_text(line, "path")?,
            content_hash: optional_text(line, "content_hash")?,
            mtime_nanos: optional_u64(result.mtime_nanos, "mtime_nanos")?,
        },
        Record::System(system) => SessionLine::System {
            subtype: text(system.subtype, "subtype")?,
            message: optional_text(line, "message")?,
        },
        Record::Result(result) => SessionLine::Result {
            exit_status: text(result.exit_status, "exit_status")?,
            total_cost_usd: float(result.total_cost_usd).ok_or("total_cost_usd")?,
            num_turns: u32_of(result.num_turns, "num_turns")?,
            duration_ms: u64_of(result.duration_ms).ok_or("duration_ms")?,
        },
        Record::Title(title) => SessionLine::Title { title: text(title.title, "title")? },
        Record::Unknown(kind) => SessionLine::Unknown {
            kind: kind.map(|kind| kind.decode().into_owned()),
            line: line.raw().into(),
        },
    })
}

fn text(text: Option<Text<'_>>, name: &'static str) -> Result<String, &'static str> {
    text.map(|text| text.decode().into_owned()).ok_or(name)
}

fn optional_text(line: Value<'_>, name: &'static str) -> Result<Option<String>, &'static str> {
    match line.get(name).filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(value) => text(value.text(), name).map(Some),
    }
}

fn u64_of(value: Option<Value<'_>>) -> Option<u64> {
    value?.raw().as_u64()
}

fn u32_of(value: Option<Value<'_>>, name: &'static str) -> Result<u32, &'static str> {
    u64_of(value).and_then(|number| u32::try_from(number).ok()).ok_or(name)
}

fn optional_u64(value: Option<Value<'_>>, name: &'static str) -> Result<Option<u64>, &'static str> {
    match value.filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(value) => u64_of(Some(value)).map(Some).ok_or(name),
    }
}

fn float(value: Option<Value<'_>>) -> Option<f64> {
    let value = value.filter(|value| value.kind() == Kind::Number)?;
    value.raw().as_f64().filter(|number| number.is_finite())
}

fn blocks(content: Option<Value<'_>>) -> Result<Vec<RawBuf>, &'static str> {
    let content = content.ok_or("content")?;
    if let Some(text) = content.text() {
        return Ok(vec![ContentBlock::Text { text: text.decode().into_owned() }.encode()]);
    }
    if !content.is_array() {
        return Err("content");
    }
    Ok(content.items().map(|block| block.raw().into()).collect())
}
