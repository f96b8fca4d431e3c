//! Writes calls: one line with the call and its result, or a line that the call started if it has no
//! result anywhere.

use core_model::{
    Block, Content, Field, Input, LineId, LossKind, Output, ToolName, ToolResult, ToolUse,
};
use jsonl::{Raw, Scanner, Text, json_string};

use super::{StreamWriter, losses};
use crate::stream::item::Item;

/// A call that waits for its result.
#[derive(Clone, Debug)]
pub(super) struct Call {
    place: CallPlace,
    is_command: bool,
}

/// Where the members of a call are, from `"id"` to its input.
#[derive(Clone, Debug)]
enum CallPlace {
    /// In a line that is not emitted yet, with its number.
    Open(LineId, u64),
    /// In a line of the output, which the line of the result says again.
    Written(String),
}

impl Call {
    /// Reads the call of a line that is already in the output.
    pub(super) fn of_item(item: &Item<'_>, tool: &ToolUse<'_>) -> Self {
        match command_of(tool, &mut Scanner::default()) {
            Some(command) => Self::command(item.id, command.as_str()),
            None => Self::tool(item.id, tool.name, tool.input.json().raw().as_str()),
        }
    }

    fn command(id: Text<'_>, command: &str) -> Self {
        let id = json_string(&id.decode());
        let head = format!("\"id\":{id},\"type\":\"command_execution\",\"command\":{command}");
        Self { place: CallPlace::Written(head), is_command: true }
    }

    fn tool(id: Text<'_>, name: ToolName<'_>, arguments: &str) -> Self {
        let (id, name) = (json_string(&id.decode()), json_string(&name.decode()));
        let head = format!(
            "\"id\":{id},\"type\":\"mcp_tool_call\",\"server\":\"\",\"tool\":{name},\
             \"arguments\":{arguments}"
        );
        Self { place: CallPlace::Written(head), is_command: false }
    }
}

/// Returns the command of a call that a stream writes as a command: one of `exec_command` with no
/// other input. The calls of other clients keep their names.
fn command_of<'s>(tool: &ToolUse<'s>, scanner: &'s mut Scanner) -> Option<Text<'s>> {
    if !tool.name.is("exec_command") {
        return None;
    }
    let value = match tool.input {
        Input::Json(raw) => scanner.scan_raw(raw).ok()?,
        Input::Member("cmd", raw) => return raw.as_text(),
        _ => return None,
    };
    let mut members = value.members();
    let (_, command) = members.next().filter(|(key, _)| key.is("cmd"))?;
    members.next().is_none().then_some(command.text()).flatten()
}

impl StreamWriter {
    /// Writes a call, and holds its line until the result.
    pub(super) fn write_call(&mut self, tool: &ToolUse<'_>, out: &mut Output) {
        let hash = self.hasher.hash_text(tool.id);
        if self.calls.contains_key(&hash) || self.started.contains(&tool.id.decode()) {
            // Its result could not be told from the result of the other call.
            return out.lose(LossKind::Dropped, "tool_use");
        }
        let mut scanner = Scanner::default();
        let is_answered = self.facts.is_answered(&tool.id.decode());
        let line = out.open();
        let kind = if is_answered { "item.completed" } else { "item.started" };
        out.put_args(line, format_args!("{{\"type\":\"{kind}\",\"item\":{{\"id\":"));
        out.copy_text(line, tool.id);
        let is_command = match command_of(tool, &mut scanner) {
            Some(command) => {
                out.put(line, ",\"type\":\"command_execution\",\"command\":");
                out.copy_text(line, command);
                true
            }
            None => {
                out.put(line, ",\"type\":\"mcp_tool_call\",\"server\":\"\",\"tool\":");
                out.copy_tool_name(line, tool.name);
                out.put(line, ",\"arguments\":");
                out.copy_input(line, tool.input);
                false
            }
        };
        if is_answered {
            self.n_calls = self.n_calls.saturating_add(1);
            self.waiting.insert(self.n_calls);
            let call = Call { place: CallPlace::Open(line, self.n_calls), is_command };
            self.calls.insert(hash, call);
        } else {
            self.started.insert_text(tool.id);
            emit_started(line, is_command, out);
        }
    }

    /// Emits the lines of calls whose results came before them.
    pub(super) fn flush_calls(&mut self, out: &mut Output) {
        self.waiting.clear();
        let calls = std::mem::take(&mut self.calls).into_values();
        let mut open: Vec<_> = calls
            .filter_map(|call| match call.place {
                CallPlace::Open(line, number) => Some((number, line, call.is_command)),
                CallPlace::Written(_) => None,
            })
            .collect();
        open.sort_unstable();
        for (_, line, is_command) in open {
            emit_started(line, is_command, out);
        }
    }

    /// Writes a result with its call. A result without a call has no place.
    pub(super) fn write_result(&mut self, result: &ToolResult<'_>, out: &mut Output) {
        let hash = self.hasher.hash_text(result.tool_use_id);
        let Some(call) = self.calls.remove(&hash) else {
            losses::drop_result(result, out);
            return out.lose(LossKind::Dropped, "tool_result");
        };
        out.drop_result(result);
        let line = match call.place {
            CallPlace::Open(line, number) => {
                if self.waiting.first().is_some_and(|first| *first < number) {
                    // The call of an earlier line is still open, so the order changes.
                    out.lose(LossKind::Flattened, "tool_use.order");
                }
                self.waiting.remove(&number);
                line
            }
            CallPlace::Written(head) => {
                let line = out.open();
                out.put(line, "{\"type\":\"item.completed\",\"item\":{");
                out.put(line, &head);
                line
            }
        };
        out.touch(line);
        if call.is_command {
            out.put(line, ",\"aggregated_output\":");
            put_joined(out, line, &result.content);
            out.put(line, ",\"exit_code\":null");
        } else {
            out.put(line, ",\"result\":{\"content\":");
            put_texts(out, line, &result.content);
            out.put(line, ",\"structured_content\":null},\"error\":null");
        }
        let is_failed = matches!(result.is_error, Field::Value(true));
        out.put(line, ",\"status\":");
        out.put(line, if is_failed { "\"failed\"}}" } else { "\"completed\"}}" });
        out.emit(line);
    }
}

/// Ends the line of a call without a result, and emits it.
fn emit_started(line: LineId, is_command: bool, out: &mut Output) {
    out.put(
        line,
        match is_command {
            true => ",\"aggregated_output\":\"\",\"exit_code\":null",
            false => ",\"result\":null,\"error\":null",
        },
    );
    out.put(line, ",\"status\":\"in_progress\"}}");
    out.emit(line);
}

/// Writes the texts of a result as one string, joined by newlines.
fn put_joined(out: &mut Output, line: LineId, content: &Content<'_>) {
    match content {
        Content::Text(text) => return out.copy_text(line, *text),
        Content::Other(raw) if !raw.is_null() => return put_value(out, line, *raw),
        _ => {}
    }
    out.put(line, "\"");
    let mut newline = "";
    for (block, _) in content.blocks() {
        let Block::Text(text) = block else { continue };
        if !newline.is_empty() {
            out.lose(LossKind::Flattened, "tool_result.content");
        }
        out.put(line, newline);
        out.copy_body(line, text.body());
        newline = "\\n";
    }
    out.put(line, "\"");
}

/// Writes the texts of a result as parts.
fn put_texts(out: &mut Output, line: LineId, content: &Content<'_>) {
    out.put(line, "[");
    if let Content::Text(text) = content {
        out.put(line, "{\"type\":\"text\",\"text\":");
        out.copy_text(line, *text);
        return out.put(line, "}]");
    }
    if let Content::Other(raw) = content
        && !raw.is_null()
    {
        out.put(line, "{\"type\":\"text\",\"text\":");
        put_value(out, line, *raw);
        out.put(line, "}");
    }
    let mut comma = "";
    for (block, _) in content.blocks() {
        let Block::Text(text) = block else { continue };
        out.put(line, comma);
        out.put(line, "{\"type\":\"text\",\"text\":");
        out.copy_text(line, text);
        out.put(line, "}");
        comma = ",";
    }
    out.put(line, "]");
}

fn put_value(out: &mut Output, line: LineId, raw: Raw<'_>) {
    out.lose(LossKind::Flattened, "tool_result.content");
    out.put_string(line, raw.as_str());
}
