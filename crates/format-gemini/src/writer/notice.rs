//! Writes notices, outcomes and titles as lines of the client, which it does not send.
//!
//! In: an informational line of Claude Code. Out: `{..,"type":"system","subtype":"notice",
//! "systemPayload":{"kind":"info","text":..},..}`.

use core_model::{Event, LossKind, Notice, NoticeKind, Outcome, Output, Status};
use jsonl::Text;

use super::{SessionWriter, thread::Line};
use crate::reader::NOTICE;

impl SessionWriter {
    pub(super) fn write_notice(
        &mut self,
        event: &Event<'_>,
        notice: &Notice<'_>,
        out: &mut Output,
    ) {
        let kind = match notice.kind {
            NoticeKind::Compaction => "compaction",
            NoticeKind::Error => "error",
            NoticeKind::Warning => "warning",
            _ => "info",
        };
        let line = self.open_notice(kind, event, 0, out);
        for (name, text) in
            [("subtype", notice.subtype), ("about", notice.about), ("trigger", notice.trigger)]
        {
            if let Some(text) = text {
                out.put_args(line.id, format_args!(",\"{name}\":"));
                out.copy_text(line.id, text);
            }
        }
        if let Some(text) = notice.text.filter(|text| !text.is_null()) {
            out.put(line.id, ",\"text\":");
            match text.as_text() {
                Some(text) => out.copy_text(line.id, text),
                None => {
                    out.lose(LossKind::Flattened, "system.content");
                    out.put_lines(line.id, text);
                }
            }
        }
        if let Some(tokens) = notice.pre_tokens.filter(|tokens| tokens.as_f64().is_some()) {
            out.put(line.id, ",\"preTokens\":");
            out.put_raw(line.id, tokens);
            self.pre_tokens = Some(tokens.as_str().to_owned());
        }
        out.put(line.id, "}");
        self.emit_after_response(line, out);
    }

    /// Opens a notice, up to its kind.
    pub(super) fn open_notice(
        &mut self,
        kind: &str,
        event: &Event<'_>,
        n: usize,
        out: &mut Output,
    ) -> Line {
        let line = self.thread.open("system", event, n, out);
        out.put_args(
            line.id,
            format_args!(",\"subtype\":\"{NOTICE}\",\"systemPayload\":{{\"kind\":\"{kind}\""),
        );
        line
    }

    /// Writes why a run failed. A run that succeeded has no line.
    pub(super) fn write_outcome(
        &mut self,
        event: &Event<'_>,
        outcome: &Outcome<'_>,
        out: &mut Output,
    ) {
        if outcome.status == Status::Success {
            return out.lose_record(event);
        }
        out.flatten_outcome(outcome);
        let kind = if outcome.status == Status::Interrupted { "warning" } else { "error" };
        let line = self.open_notice(kind, event, 0, out);
        if let Some(status) = outcome.status_text {
            out.put(line.id, ",\"subtype\":");
            out.copy_text(line.id, status);
        }
        for (name, words) in outcome.words() {
            out.put_args(line.id, format_args!(",\"{name}\":"));
            out.copy(line.id, words);
        }
        out.put(line.id, "}");
        self.emit_after_response(line, out);
    }
}

/// Writes the title of a session.
pub(super) fn put_title(line: &Line, title: Text<'_>, out: &mut Output) {
    out.put(line.id, ",\"subtype\":\"custom_title\",\"systemPayload\":{\"customTitle\":");
    out.put_string(line.id, &title.decode());
    out.put(line.id, "}");
}
