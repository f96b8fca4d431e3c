//! Writes blocks: thinking, texts, calls and pictures, and a placeholder text for any other.
//!
//! In: `{"type":"tool_use","id":"t1","name":"Read","input":{"path":"a.rs"}}`. Out:
//! `{"toolCallId":"t1","name":"Read","arguments":{"path":"a.rs"},"type":"function"}`.

use core_model::{Block, Content, LineId, LossKind, Output, ToolUse};
use jsonl::{MAX_SERDE_DEPTH, Raw, Scanner, Text};

use super::response::Response;

/// Returns whether a block is thinking, encrypted or not.
pub(super) fn is_thinking(block: &Block<'_>) -> bool {
    match block {
        Block::Thinking { .. } | Block::RedactedThinking { .. } => true,
        Block::Other { kind: Some(kind), raw } => kind.is("redacted_thinking") && has_data(*raw),
        _ => false,
    }
}

fn has_data(raw: Raw<'_>) -> bool {
    let mut scanner = Scanner::default();
    scanner.scan_raw(raw).is_ok_and(|block| block.get("data").is_some_and(|it| it.text().is_some()))
}

/// Writes thinking as the block that the API returned.
pub(super) fn put_thinking(
    out: &mut Output,
    line: LineId,
    block: &Block<'_>,
    response: &mut Response,
) {
    match block {
        Block::Thinking { text, signature } => {
            out.put(line, "{\"type\":\"thinking\",\"thinking\":");
            out.copy_text(line, *text);
            // Models of other companies have empty signatures.
            let signature = signature.filter(|signature| !signature.is_empty());
            match signature {
                Some(signature) => {
                    out.put(line, ",\"signature\":");
                    out.copy_text(line, signature);
                }
                // Copilot does not send it.
                None => out.lose(LossKind::Flattened, "thinking"),
            }
            out.put(line, "}");
            let signature = signature.map(|signature| signature.decode().into_owned());
            response.think(&text.decode(), signature);
        }
        Block::RedactedThinking { data } => put_redacted(out, line, *data),
        Block::Other { raw, .. } => {
            let mut scanner = Scanner::default();
            let data = scanner.scan_raw(*raw).ok().and_then(|block| block.get("data")?.text());
            match data {
                Some(data) => put_redacted(out, line, data),
                None => out.put(line, "{}"),
            }
        }
        _ => out.put(line, "{}"),
    }
}

fn put_redacted(out: &mut Output, line: LineId, data: Text<'_>) {
    out.put(line, "{\"type\":\"redacted_thinking\",\"data\":");
    out.copy_text(line, data);
    out.put(line, "}");
}

/// Writes a block as a JSON string: a text, or a placeholder.
pub(super) fn put_text(out: &mut Output, line: LineId, block: &Block<'_>) {
    match block {
        Block::Text(text) => out.copy_text(line, *text),
        Block::Thinking { text, .. } if !text.is_blank() => {
            out.lose(LossKind::Flattened, "thinking");
            out.copy_text(line, *text);
        }
        _ => {
            out.touch(line);
            let words = placeholder(block, out);
            out.put_string(line, &words);
        }
    }
}

/// Writes a tool use. An id or a name that the API would refuse is replaced.
pub(super) fn put_call(
    out: &mut Output,
    line: LineId,
    tool: &ToolUse<'_>,
    (id, name): (Option<&str>, Option<&str>),
    is_odd: bool,
) {
    out.put(line, "{\"toolCallId\":");
    out.copy_text_or(line, tool.id, id, "tool_use.id");
    out.put(line, ",\"name\":");
    out.copy_tool_name_or(line, tool.name, name);
    out.put(line, ",\"arguments\":");
    if is_odd {
        // Copilot drops a line with a number beyond a double, and sends `{}` for an input that is too deep.
        out.copy_loadable_input(line, tool, MAX_SERDE_DEPTH);
    } else {
        out.copy_object_input(line, tool);
    }
    out.put(line, ",\"type\":\"function\"}");
}

/// Writes pictures as the array that results have: Copilot keeps it and does not send it.
pub(super) fn put_pictures(out: &mut Output, line: LineId, content: &Content<'_>) {
    out.put(line, ",\"binaryResultsForLlm\":[");
    let mut comma = "";
    for (block, _) in content.blocks() {
        if let Block::Image { .. } = block {
            out.put(line, comma);
            put_picture(out, line, &block, "image");
            out.lose(LossKind::Flattened, "block.image");
            comma = ",";
        }
    }
    out.put(line, "]");
}

/// Writes a picture with its data. `kind` is the type of the object around it.
pub(super) fn put_picture(out: &mut Output, line: LineId, block: &Block<'_>, kind: &str) {
    let Block::Image { media_type, data } = block else { return };
    out.put_args(line, format_args!("{{\"type\":\"{kind}\",\"data\":"));
    out.copy_quoted(line, *data);
    out.put(line, ",\"mimeType\":");
    out.copy_media_type(line, *media_type);
    out.put(line, "}");
}

/// Writes the words of a tool result as one JSON string. Pictures are elsewhere.
pub(super) fn put_result_words(out: &mut Output, line: LineId, content: &Content<'_>) {
    out.touch(line);
    match content {
        Content::Text(text) => return out.copy_text(line, *text),
        Content::Other(raw) if !raw.is_null() => {
            out.lose(LossKind::Flattened, "tool_result.content");
            return out.put_string(line, raw.as_str());
        }
        _ => {}
    }
    out.put(line, "\"");
    let mut newline = "";
    for (block, _) in content.blocks() {
        match &block {
            Block::Image { .. } => continue,
            // An empty text is not sent.
            Block::Text(text) if text.is_empty() => continue,
            _ => {}
        }
        if !newline.is_empty() {
            out.lose(LossKind::Flattened, "tool_result.content");
        }
        out.put(line, newline);
        put_words(out, line, &block);
        newline = "\\n";
    }
    out.put(line, "\"");
}

/// Writes the words of all blocks of a message as one JSON string, joined by newlines.
///
/// In: the text `Done.` and a call of `Bash`. Out: `"Done.\n[tool_use Bash {\"command\":\"ls\"}]"`.
pub(super) fn put_all_words(out: &mut Output, line: LineId, content: &Content<'_>) {
    let Content::Blocks(_) = content else { return out.copy_joined(line, content) };
    out.touch(line);
    out.put(line, "\"");
    let mut newline = "";
    for (block, _) in content.blocks() {
        out.put(line, newline);
        put_words(out, line, &block);
        newline = "\\n";
    }
    out.put(line, "\"");
}

/// Writes the words of a block as a part of a JSON string.
fn put_words(out: &mut Output, line: LineId, block: &Block<'_>) {
    match block {
        Block::Text(text) => out.copy_body(line, text.body()),
        Block::Thinking { text, .. } if !text.is_blank() => {
            out.lose(LossKind::Flattened, "thinking");
            out.copy_body(line, text.body());
        }
        _ => {
            let mut quoted = Vec::new();
            let words = placeholder(block, out);
            jsonl::push_string(&mut quoted, &words, out.style());
            let body = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
            out.put(line, &String::from_utf8_lossy(body));
        }
    }
}

/// Returns the words in place of a block that Copilot has no place for, and counts its loss.
fn placeholder(block: &Block<'_>, out: &mut Output) -> String {
    let kind = block.kind();
    out.lose_named(LossKind::Flattened, &format!("block.{kind}"));
    block.placeholder()
}
