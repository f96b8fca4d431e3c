//! Writes messages of a client as `system` lines, which clido loads but never writes itself.

use core_model::{Block, LineId, LossKind, Message, Notice};
use jsonl::{Raw, Scanner};

use super::{block, pen::Pen};

/// Writes the line of a notice.
pub(super) fn write(notice: &Notice<'_>, format: &str, pen: &mut Pen<'_>) -> LineId {
    let line = pen.out.open();
    let subtype = notice.kind.name();
    pen.out.put(line, "{\"type\":\"system\",\"subtype\":");
    let is_own = format == crate::FORMAT.name;
    match notice.subtype {
        Some(own) if is_own => pen.text(line, own, "system.subtype"),
        own => {
            pen.out.put_string(line, subtype);
            if own.is_some_and(|own| !own.is(subtype)) {
                pen.out.lose(LossKind::Flattened, "system.subtype");
            }
        }
    }
    if is_own && notice.text.is_none() {
        pen.out.put(line, "}");
        return line;
    }
    write_message(notice, line, pen);
    pen.out.put(line, "}");
    line
}

/// Writes a text of the client that has the role of the assistant.
pub(super) fn write_told(message: &Message<'_>, pen: &mut Pen<'_>) -> LineId {
    let line = pen.out.open();
    let subtype = if message.is_api_error { "error" } else { "info" };
    pen.out.put(line, "{\"type\":\"system\",\"subtype\":");
    pen.out.put_string(line, subtype);
    pen.out.put(line, ",\"message\":\"");
    for (block_idx, (block, _)) in message.blocks().enumerate() {
        if block_idx > 0 {
            pen.out.put(line, "\\n");
        }
        match block {
            Block::Text(text) => pen.body(line, text, "system.content"),
            Block::Thinking { text, signature } if !text.is_blank() => {
                pen.out.lose(LossKind::Flattened, "thinking");
                pen.out.drop_if(signature.is_some(), "thinking.signature");
                pen.body(line, text, "system.content");
            }
            block => {
                pen.own_body(line, &block.placeholder());
                pen.out.lose_named(LossKind::Flattened, &format!("block.{}", block::kind(&block)));
            }
        }
    }
    pen.out.put(line, "\"}");
    pen.out.lose(LossKind::Flattened, "message.role");
    line
}

fn write_message(notice: &Notice<'_>, line: LineId, pen: &mut Pen<'_>) {
    let details = details(notice);
    match (notice.text, notice.subtype) {
        (Some(raw), _)
            if raw.as_text().is_some() && details.is_none() && notice.about.is_none() =>
        {
            pen.out.put(line, ",\"message\":");
            pen.value(line, raw, 0, "system.content");
        }
        (Some(raw), _) => {
            pen.out.put(line, ",\"message\":\"");
            if let Some(about) = notice.about {
                pen.body(line, about, "system.content");
                pen.out.put(line, "\\n");
            }
            match raw.as_text() {
                Some(text) => pen.body(line, text, "system.content"),
                None => {
                    if !write_lines(raw, line, pen) {
                        pen.own_body(line, raw.as_str());
                    }
                    pen.out.lose(LossKind::Flattened, "system.content");
                }
            }
            if let Some(details) = details {
                pen.own_body(line, &format!(" {details}"));
            }
            pen.out.put(line, "\"");
        }
        (None, _) if details.is_some() => {
            pen.out.put(line, ",\"message\":");
            pen.stand_in(line, &details.unwrap_or_default());
        }
        (None, _) if notice.about.is_some() => {
            if let Some(about) = notice.about {
                pen.out.put(line, ",\"message\":");
                pen.text(line, about, "system.content");
            }
        }
        (None, Some(subtype)) => {
            pen.out.put(line, ",\"message\":");
            pen.text(line, subtype, "system.subtype");
            pen.out.lose(LossKind::Flattened, "system.content");
        }
        (None, None) => pen.out.lose(LossKind::Flattened, "system.content"),
    }
}

/// Writes an array of strings as lines of one text. Returns `false` if the value is not such an
/// array.
fn write_lines(raw: Raw<'_>, line: LineId, pen: &mut Pen<'_>) -> bool {
    let mut scanner = Scanner::default();
    let Ok(array) = scanner.scan_raw(raw) else { return false };
    if array.items().next().is_none() || array.items().any(|item| item.text().is_none()) {
        return false;
    }
    for (n, text) in array.items().filter_map(|item| item.text()).enumerate() {
        if n > 0 {
            pen.out.put(line, "\\n");
        }
        pen.body(line, text, "system.content");
    }
    true
}

/// Returns the details of a compaction: its trigger and the tokens before it.
fn details(notice: &Notice<'_>) -> Option<String> {
    let trigger = notice.trigger.map(|trigger| trigger.decode().into_owned());
    let pre_tokens = notice.pre_token_count().map(|tokens| tokens.as_str().to_owned());
    match (trigger, pre_tokens) {
        (None, None) => None,
        (Some(word), None) | (None, Some(word)) => Some(format!("({word})")),
        (Some(trigger), Some(tokens)) => Some(format!("({trigger}, {tokens})")),
    }
}
