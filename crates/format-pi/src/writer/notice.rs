//! Writes notices and outcomes as `custom` entries, which pi keeps and does not send.
//!
//! In: an informational line of Claude Code. Out: `{"type":"custom","customType":"notice",
//! "data":{"kind":"info","text":..},..}`.

use core_model::{Event, Notice, NoticeKind, Outcome, Output};

use super::{SessionWriter, thread::Line};
use crate::reader::NOTICE;

impl SessionWriter {
    pub(super) fn write_notice(
        &mut self,
        event: &Event<'_>,
        notice: &Notice<'_>,
        out: &mut Output,
    ) {
        let line = self.open_notice(notice.kind, event, 0, out);
        out.copy_texts(line.id, [("subtype", notice.subtype), ("about", notice.about)]);
        if let Some(text) = notice.words() {
            out.put(line.id, ",\"text\":");
            out.copy_words(line.id, text);
        }
        out.copy_texts(line.id, [("trigger", notice.trigger)]);
        if let Some(tokens) = notice.pre_token_count() {
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
        kind: NoticeKind,
        event: &Event<'_>,
        n: usize,
        out: &mut Output,
    ) -> Line {
        let line = self.thread.open("custom", event, n, out);
        out.put_args(
            line.id,
            format_args!(",\"customType\":\"{NOTICE}\",\"data\":{{\"kind\":\"{}\"", kind.name()),
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
        let Some(kind) = outcome.notice_kind() else { return out.lose_record(event) };
        out.flatten_outcome(outcome);
        let line = self.open_notice(kind, event, 0, out);
        out.copy_texts(line.id, [("subtype", outcome.status_text)]);
        out.copy_outcome_words(line.id, outcome);
        out.put(line.id, "}");
        self.emit_after_response(line, out);
    }
}
