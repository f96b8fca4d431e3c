//! Writes notices and outcomes as lines that Copilot shows and does not send.
//!
//! In: an informational line of Claude Code. Out: `{"type":"session.info","data":{"infoType":..,
//! "message":..},..}`.

use core_model::{Event, LineId, LossKind, Notice, NoticeKind, Outcome, Output};
use jsonl::{Raw, Text};

use super::{SessionWriter, thread::Line};

impl SessionWriter {
    pub(super) fn write_notice(
        &mut self,
        event: &Event<'_>,
        notice: &Notice<'_>,
        out: &mut Output,
    ) {
        self.flush(out);
        if notice.kind == NoticeKind::Compaction {
            return self.hold_boundary(event, notice, out);
        }
        let line = self.open_notice(notice.kind, event, 0, out);
        put_type_of(line.id, notice.subtype, out);
        out.copy_texts(line.id, [("about", notice.about)]);
        out.put(line.id, ",\"message\":");
        put_message(line.id, notice.text, out);
        out.copy_texts(line.id, [("trigger", notice.trigger)]);
        if let Some(tokens) = notice.pre_token_count() {
            out.put(line.id, ",\"preTokens\":");
            out.put_raw(line.id, tokens);
        }
        self.emit(line, out);
    }

    /// Opens a notice, up to the name of its type.
    pub(super) fn open_notice(
        &mut self,
        kind: NoticeKind,
        event: &Event<'_>,
        n: usize,
        out: &mut Output,
    ) -> Line {
        let kind = kind.name();
        let line = self.thread.open(&format!("session.{kind}"), event, n, out);
        out.put_args(line.id, format_args!("\"{kind}Type\":"));
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
        self.flush(out);
        out.flatten_outcome(outcome);
        let line = self.open_notice(kind, event, 0, out);
        put_type_of(line.id, outcome.status_text, out);
        out.put(line.id, ",\"message\":");
        out.put_string(line.id, outcome.status.words());
        out.copy_outcome_words(line.id, outcome);
        self.emit(line, out);
    }
}

/// Writes the name of a notice's type. Copilot refuses a file with a notice that has none.
pub(super) fn put_type_of(line: LineId, name: Option<Text<'_>>, out: &mut Output) {
    match name {
        Some(name) => out.copy_text(line, name),
        None => out.put(line, "\"notice\""),
    }
}

/// Writes the text of a notice as a JSON string; an empty one if there is none.
pub(super) fn put_message(line: LineId, text: Option<Raw<'_>>, out: &mut Output) {
    let Some(text) = text.filter(|text| !text.is_null()) else { return out.put(line, "\"\"") };
    match text.as_text() {
        Some(text) => out.copy_text(line, text),
        None => {
            out.lose(LossKind::Flattened, "system.content");
            out.touch(line);
            out.put_lines(line, text);
        }
    }
}
