//! Writes tool results as `tool_result` lines, with their content flattened to a string.
//!
//! In: content `[{"type":"text","text":"a"},{"type":"text","text":"b"}]`. Out: `"content":"a\nb"`.

use core_model::{Block, Content, Field, LineId, LossKind, Message, TextBody, ToolResult};
use jsonl::{Raw, Scanner, Value};

use super::pen::Pen;

const FIELD: &str = "tool_result.content";

/// Writes the line of a tool result; `duration` is the client's own number, and `call_millis` the time of its call.
pub(super) fn write(
    result: &ToolResult<'_>,
    duration: Option<Raw<'_>>,
    call_millis: Option<i64>,
    pen: &mut Pen<'_>,
) -> LineId {
    let line = pen.out.open();
    pen.out.put(line, "{\"type\":\"tool_result\",\"tool_use_id\":");
    pen.text(line, result.tool_use_id, "tool_result.tool_use_id");
    pen.out.put(line, ",\"content\":");
    write_content(result.content, line, pen);
    pen.out.put(line, ",\"is_error\":");
    let is_error = match result.is_error {
        Field::Value(is_error) => is_error,
        Field::Absent | Field::Null => {
            pen.out.lose(LossKind::Invented, "tool_result.is_error");
            false
        }
    };
    pen.out.put(line, if is_error { "true" } else { "false" });
    write_duration(result, duration, call_millis, line, pen);
    write_file(result, line, pen);
    pen.out.put(line, "}");
    line
}

fn write_content(content: Content<'_>, line: LineId, pen: &mut Pen<'_>) {
    match content {
        Content::Text(text) => return pen.text(line, text, FIELD),
        Content::Absent => pen.out.put(line, "\"\""),
        Content::Other(raw) if raw.is_null() => pen.out.put(line, "\"\""),
        Content::Other(raw) => pen.stand_in(line, raw.as_str()),
        Content::Blocks(blocks) => {
            pen.out.put(line, "\"");
            for (n, (block, _)) in blocks.into_iter().enumerate() {
                if n > 0 {
                    pen.out.put(line, "\\n");
                }
                write_block(block, line, pen);
            }
            pen.out.put(line, "\"");
        }
    }
    pen.out.lose(LossKind::Flattened, FIELD);
}

/// Appends the text of a block inside a string.
fn write_block(block: Block<'_>, line: LineId, pen: &mut Pen<'_>) {
    match block {
        Block::Text(text) => pen.body(line, text, FIELD),
        Block::Image { media_type, data } => {
            pen.out.put(line, "[image ");
            pen.own_body(line, &media_type.decode());
            pen.out.touch(line);
            pen.out.put(line, &format!(", {} bytes]", decoded_len(data)));
        }
        Block::Other { kind: Some(kind), raw } if kind.is("tool_reference") => {
            pen.out.put(line, "[tool_reference");
            let mut scanner = Scanner::default();
            let name = scanner.scan_raw(raw).ok().and_then(|block| block.get("tool_name")?.text());
            if let Some(name) = name {
                pen.out.put(line, " ");
                pen.own_body(line, &name.decode());
            }
            pen.out.put(line, "]");
        }
        Block::Other { kind: Some(kind), .. } => {
            pen.out.put(line, "[");
            pen.own_body(line, &kind.decode());
            pen.out.put(line, "]");
        }
        Block::Thinking { .. } => pen.out.put(line, "[thinking]"),
        Block::ToolUse(_) => pen.out.put(line, "[tool_use]"),
        Block::ToolResult(_) => pen.out.put(line, "[tool_result]"),
        _ => pen.out.put(line, "[unknown]"),
    }
}

/// Returns the number of bytes that a base64 text encodes.
fn decoded_len(data: TextBody<'_>) -> usize {
    let data = data.decode();
    let n_digits = data.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=').count();
    n_digits.saturating_mul(3) / 4
}

fn write_duration(
    result: &ToolResult<'_>,
    told: Option<Raw<'_>>,
    call_millis: Option<i64>,
    line: LineId,
    pen: &mut Pen<'_>,
) {
    if let Some(duration) = result.duration_ms {
        match duration.as_u64() {
            Some(_) => put_number(",\"duration_ms\":", duration, line, pen),
            None => pen.out.lose(LossKind::Dropped, "tool_result.duration_ms"),
        }
        return;
    }
    if let Some(duration) = told {
        return put_number(",\"duration_ms\":", duration, line, pen);
    }
    let Some(call_millis) = call_millis else { return };
    let passed = pen.millis.and_then(|millis| millis.checked_sub(call_millis));
    if let Some(passed) = passed.filter(|passed| *passed >= 0) {
        pen.out.put_args(line, format_args!(",\"duration_ms\":{passed}"));
        pen.out.lose(LossKind::Invented, "tool_result.duration_ms");
    }
}

/// Returns the duration of a tool from the client's own data about the result.
pub(super) fn told_duration<'l>(line: Value<'l>, message: &Message<'_>) -> Option<Raw<'l>> {
    let told = message.details().filter(|told| told.as_str().starts_with('{'))?;
    // The member has another name in each format. It is found by its address, because it is a slice
    // of the line.
    let is_told = |value: &Value<'l>| value.raw().as_str().as_ptr() == told.as_str().as_ptr();
    let told = line.members().map(|(_, value)| value).find(is_told)?;
    let (mut duration, mut total) = (None, None);
    told.read_members(|key, value| {
        match key {
            b"durationMs" => duration = Some(value),
            b"totalDurationMs" => total = Some(value),
            _ => return false,
        }
        true
    });
    duration.or(total).map(|duration| duration.raw()).filter(|raw| raw.as_u64().is_some())
}

fn write_file(result: &ToolResult<'_>, line: LineId, pen: &mut Pen<'_>) {
    let file = &result.file;
    if let Some(path) = file.path {
        pen.out.put(line, ",\"path\":");
        pen.text(line, path, "tool_result.path");
    }
    if let Some(hash) = file.content_hash {
        pen.out.put(line, ",\"content_hash\":");
        pen.text(line, hash, "tool_result.content_hash");
    }
    if let Some(mtime) = file.mtime_nanos {
        match mtime.as_u64() {
            Some(_) => put_number(",\"mtime_nanos\":", mtime, line, pen),
            None => pen.out.lose(LossKind::Dropped, "tool_result.mtime_nanos"),
        }
    }
}

fn put_number(key: &str, number: Raw<'_>, line: LineId, pen: &mut Pen<'_>) {
    pen.out.put(line, key);
    pen.out.put_raw(line, number);
}
