//! Writes the parts of a message: texts, thinking, calls with their results, and files.
//!
//! In: the tool use `t1`, and later its result `a.rs`. Out: `{"type":"tool","callID":"t1",..,
//! "state":{"status":"completed","input":{..},"output":"a.rs",..}}`.

use core_model::{
    Block, Content, Field, LineId, LossKind, Output, TextBody, ToolResult, ToolUse,
    replacement_tool_name,
};
use jsonl::Scanner;

/// A part of a message, without its end.
#[derive(Debug)]
pub(super) struct Part {
    id: LineId,
    /// The place of the metadata, which may hold the carry.
    metadata: Metadata,
    /// The hash of a call's id; `None` for other parts.
    pub(super) call: Option<u64>,
    /// Whether the id of the call is written as another one.
    is_renamed: bool,
    /// The time of a call's result in milliseconds since 1970; `None` without a result.
    result: Option<i64>,
    attachments: Vec<(String, String)>,
}

/// The metadata of a part.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Metadata {
    /// The client drops it.
    No,
    /// The part has none.
    Absent,
    /// The part ends with it, without its closing brace.
    Open,
}

impl Part {
    fn new(id: LineId, metadata: Metadata) -> Self {
        Self { id, metadata, call: None, is_renamed: false, result: None, attachments: Vec::new() }
    }

    /// Returns whether the part is a call without a result.
    pub(super) fn is_open(&self) -> bool {
        self.call.is_some() && self.result.is_none()
    }

    /// Returns whether the part can hold a carry.
    pub(super) fn has_metadata(&self) -> bool {
        self.metadata != Metadata::No
    }

    /// Writes a block of the user.
    pub(super) fn of_user(
        out: &mut Output,
        line: LineId,
        block: &Block<'_>,
        is_meta: bool,
    ) -> Self {
        let id = out.open_part(line);
        match block {
            Block::Text(text) => {
                out.put(id, "{\"type\":\"text\",\"text\":");
                out.copy_text(id, *text);
            }
            Block::Image { media_type, data } if data.is_padded_base64() => {
                put_file(out, id, *media_type, *data);
                return Self::new(id, Metadata::No);
            }
            Block::Thinking { text, .. } if !text.is_blank() => {
                out.lose(LossKind::Flattened, "thinking");
                out.put(id, "{\"type\":\"text\",\"text\":");
                out.copy_text(id, *text);
            }
            _ => put_placeholder(out, id, block),
        }
        if is_meta {
            out.put(id, ",\"synthetic\":true");
        }
        Self::new(id, Metadata::Absent)
    }

    /// Writes a block of a response, other than a call.
    pub(super) fn of_response(
        out: &mut Output,
        line: LineId,
        block: &Block<'_>,
        created: i64,
    ) -> Self {
        let id = out.open_part(line);
        match block {
            Block::Text(text) => {
                out.put(id, "{\"type\":\"text\",\"text\":");
                out.copy_text(id, *text);
            }
            Block::Thinking { text, signature } => {
                out.put(id, "{\"type\":\"reasoning\",\"text\":");
                out.copy_text(id, *text);
                put_time(out, id, created);
                // Some proxies write an empty signature, which the API refuses.
                out.drop_if(signature.is_some_and(|it| it.is_empty()), "thinking.signature");
                if let Some(signature) = signature.filter(|it| !it.is_empty()) {
                    out.put(id, ",\"metadata\":{\"anthropic\":{\"signature\":");
                    out.copy_text(id, signature);
                    out.put(id, "}");
                    return Self::new(id, Metadata::Open);
                }
            }
            Block::RedactedThinking { data } => {
                put_redacted(out, id, created, |out| out.copy_text(id, *data));
                return Self::new(id, Metadata::Open);
            }
            Block::Other { kind: Some(kind), raw } if kind.is("redacted_thinking") => {
                let mut scanner = Scanner::default();
                let data = scanner.scan_raw(*raw).ok().and_then(|block| block.get("data")?.text());
                match data {
                    Some(data) => {
                        put_redacted(out, id, created, |out| out.copy_text(id, data));
                        return Self::new(id, Metadata::Open);
                    }
                    None => put_placeholder(out, id, block),
                }
            }
            _ => put_placeholder(out, id, block),
        }
        Self::new(id, Metadata::Absent)
    }

    /// Writes a call up to its input. `hash` is the hash of its id, and `other` its id in the output if an
    /// earlier call has its own.
    pub(super) fn call(
        out: &mut Output,
        line: LineId,
        tool: &ToolUse<'_>,
        (hash, other): (u64, Option<&str>),
    ) -> Self {
        let id = out.open_part(line);
        out.put(id, "{\"type\":\"tool\",\"callID\":");
        out.copy_text_or(id, tool.id, other, "tool_use.id");
        out.put(id, ",\"tool\":");
        let name = replacement_tool_name(&tool.name.decode());
        out.copy_tool_name_or(id, tool.name, name.as_deref());
        out.put(id, ",\"state\":{\"input\":");
        out.copy_object_input(id, tool);
        let is_renamed = other.is_some();
        Self { call: Some(hash), is_renamed, ..Self::new(out.pack(id), Metadata::Absent) }
    }

    /// Writes the request of a compaction.
    pub(super) fn compaction(out: &mut Output, line: LineId, is_auto: bool) -> Self {
        let id = out.open_part(line);
        out.put_args(id, format_args!("{{\"type\":\"compaction\",\"auto\":{is_auto}"));
        Self::new(id, Metadata::No)
    }

    /// Writes the texts of a content as one text.
    pub(super) fn joined(out: &mut Output, line: LineId, content: &Content<'_>) -> Self {
        let id = out.open_part(line);
        out.put(id, "{\"type\":\"text\",\"text\":");
        put_joined(out, id, content);
        Self::new(id, Metadata::Absent)
    }

    /// Writes the text in place of a prompt that the source does not have.
    pub(super) fn placeholder(out: &mut Output, line: LineId) -> Self {
        let id = out.open_part(line);
        out.put(id, "{\"type\":\"text\",\"text\":\"[no prompt recorded]\"");
        Self::new(id, Metadata::No)
    }

    /// Writes a text that is not sent, for the carry of a message without a text.
    pub(super) fn empty(out: &mut Output, line: LineId) -> Self {
        let id = out.open_part(line);
        out.put(id, "{\"type\":\"text\",\"text\":\"\",\"synthetic\":true,\"ignored\":true");
        Self::new(id, Metadata::Absent)
    }

    /// Writes the text of a result without a call, as a text that is not sent.
    pub(super) fn of_orphan(out: &mut Output, line: LineId, result: &ToolResult<'_>) -> Self {
        let images = result.content.blocks().filter(|(it, _)| matches!(it, Block::Image { .. }));
        images.for_each(|_| out.lose(LossKind::Dropped, "block.image"));
        let part = Self::joined(out, line, &result.content);
        out.put(part.id, ",\"synthetic\":true,\"ignored\":true");
        part
    }

    /// Adds the result of a call.
    pub(super) fn complete(
        &mut self,
        out: &mut Output,
        line: LineId,
        result: &ToolResult<'_>,
        end: i64,
    ) {
        let id = out.unpack_part(self.id, line);
        if self.is_renamed {
            out.lose(LossKind::Flattened, "tool_result.tool_use_id");
        }
        let is_error = match result.is_error {
            Field::Value(is_error) => is_error,
            Field::Absent | Field::Null => {
                out.lose(LossKind::Invented, "tool_result.is_error");
                false
            }
        };
        out.put(
            id,
            if is_error {
                ",\"status\":\"error\",\"error\":"
            } else {
                ",\"status\":\"completed\",\"output\":"
            },
        );
        match &result.content {
            Content::Text(text) => out.copy_text(id, *text),
            content => put_joined(out, id, content),
        }
        for (block, _) in result.content.blocks() {
            let Block::Image { media_type, data } = block else { continue };
            if is_error || !data.is_padded_base64() {
                out.lose(LossKind::Dropped, "block.image");
            } else {
                self.attachments
                    .push((media_type.decode().into_owned(), data.decode().into_owned()));
            }
        }
        let about = if is_error { "" } else { ",\"title\":\"\",\"metadata\":{}" };
        out.put(id, about);
        self.id = out.pack(id);
        self.result = Some(end);
    }

    /// Packs the bytes, if many parts wait.
    pub(super) fn pack(&mut self, out: &mut Output) {
        self.id = out.pack(self.id);
    }

    /// Appends the part to its line, with its end and the members `ids`.
    pub(super) fn append(self, out: &mut Output, line: LineId, created: i64, ids: &str) {
        let id = out.unpack_part(self.id, line);
        if self.call.is_some() {
            match self.result {
                Some(end) => {
                    out.put_args(
                        id,
                        format_args!(",\"time\":{{\"start\":{created},\"end\":{end}}}"),
                    );
                    if !self.attachments.is_empty() {
                        out.put(id, ",\"attachments\":[");
                        let mut comma = "";
                        for (n, (media_type, data)) in self.attachments.iter().enumerate() {
                            out.put(id, comma);
                            comma = ",";
                            out.put(id, "{\"type\":\"file\",\"mime\":");
                            out.put_string(id, media_type);
                            out.put(id, ",\"url\":");
                            out.put_string(id, &format!("data:{media_type};base64,{data}"));
                            let ids = ids.replacen(
                                "\",\"sessionID\"",
                                &format!("{n}\",\"sessionID\""),
                                1,
                            );
                            out.put(id, ",");
                            out.put(id, &ids);
                            out.put(id, "}");
                        }
                        out.put(id, "]");
                    }
                    out.put(id, "}");
                }
                // The client has such calls in its own sessions, and sends them as interrupted.
                None => out.put_args(
                    id,
                    format_args!(",\"status\":\"running\",\"time\":{{\"start\":{created}}}}}"),
                ),
            }
        }
        // The metadata comes last, because the carry is at the end of it.
        let (start, end) = match self.metadata {
            Metadata::Open => ("", "}"),
            Metadata::Absent | Metadata::No => ("", ""),
        };
        out.put(id, start);
        out.append_part(id, line);
        match self.metadata {
            Metadata::Open => out.mark_carry(line, ",\"convert\":{", "}"),
            Metadata::Absent => out.mark_carry(line, ",\"metadata\":{\"convert\":{", "}}"),
            Metadata::No => {}
        }
        out.put(line, end);
        out.put(line, ",");
        out.put(line, ids);
        out.put(line, "}");
    }
}

/// Returns whether a block of a user's message is written. Blank texts are not sent.
pub(super) fn is_shown(block: &Block<'_>) -> bool {
    match block {
        Block::ToolResult(_) => false,
        Block::Text(text) | Block::Thinking { text, .. } => !text.is_blank(),
        _ => true,
    }
}

fn put_file(out: &mut Output, id: LineId, media_type: TextBody<'_>, data: TextBody<'_>) {
    out.put(id, "{\"type\":\"file\",\"mime\":");
    out.copy_quoted(id, media_type);
    out.put(id, ",\"url\":\"data:");
    out.put(id, media_type.as_str());
    out.put(id, ";base64,");
    out.copy_part(id, data);
    out.put(id, "\"");
}

fn put_time(out: &mut Output, id: LineId, created: i64) {
    out.put_args(id, format_args!(",\"time\":{{\"start\":{created},\"end\":{created}}}"));
}

fn put_redacted(out: &mut Output, id: LineId, created: i64, data: impl FnOnce(&mut Output)) {
    out.put(id, "{\"type\":\"reasoning\",\"text\":\"\"");
    put_time(out, id, created);
    out.put(id, ",\"metadata\":{\"anthropic\":{\"redactedData\":");
    data(out);
    out.put(id, "}");
}

/// Writes the texts of a content as one JSON string, joined by newlines.
fn put_joined(out: &mut Output, id: LineId, content: &Content<'_>) {
    out.touch(id);
    match content {
        Content::Text(text) => return out.copy_text(id, *text),
        Content::Other(raw) if !raw.is_null() => {
            out.lose(LossKind::Flattened, "tool_result.content");
            return out.put_string(id, raw.as_str());
        }
        _ => {}
    }
    out.put(id, "\"");
    let (mut newline, mut n_texts) = ("", 0_usize);
    for (block, _) in content.blocks() {
        match block {
            Block::Text(text) => {
                out.put(id, newline);
                out.copy_body(id, text.body());
                (newline, n_texts) = ("\\n", n_texts.saturating_add(1));
            }
            Block::Image { .. } => {}
            Block::Other { kind: Some(kind), raw } if kind.is("tool_reference") => {
                let mut scanner = Scanner::default();
                let name = scanner.scan_raw(raw).ok().and_then(|it| it.get("tool_name")?.text());
                out.put(id, newline);
                out.put(id, "[tool_reference ");
                if let Some(name) = name {
                    out.copy_body(id, name.body());
                }
                out.put(id, "]");
                newline = "\\n";
                out.lose(LossKind::Flattened, "block.tool_reference");
            }
            _ => {
                let kind = block.kind();
                out.lose_named(LossKind::Dropped, &format!("block.{kind}"));
            }
        }
    }
    if n_texts > 1 {
        out.lose(LossKind::Flattened, "tool_result.content");
    }
    out.put(id, "\"");
}

fn put_placeholder(out: &mut Output, id: LineId, block: &Block<'_>) {
    let kind = block.kind();
    out.touch(id);
    out.put(id, "{\"type\":\"text\",\"text\":");
    out.put_string(id, &block.placeholder());
    out.lose_named(LossKind::Flattened, &format!("block.{kind}"));
}
