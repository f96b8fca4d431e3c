//! Writes notices and outcomes as lines of the type `notice`, which Codex ignores.
//!
//! In: an informational line of Claude Code. Out: `{"timestamp":..,"type":"notice",
//! "payload":{"kind":"info","text":..}}`.

use core_model::{Event, LineId, LossKind, Notice, NoticeKind, Outcome, Output};
use jsonl::{Raw, Scanner};

use super::{SessionWriter, part};

/// Limit for lines before the first prompt. Codex does not list a session whose first prompt comes
/// after line 210.
const MAX_HEAD: usize = 150;

impl SessionWriter {
    pub(super) fn write_notice(
        &mut self,
        event: &Event<'_>,
        notice: &Notice<'_>,
        out: &mut Output,
    ) {
        if notice.kind == NoticeKind::Compaction {
            return self.hold_boundary(event, notice, out);
        }
        self.flush_boundary(out);
        let Some(line) = self.open_notice(notice.kind, event, 0, out) else { return };
        for (name, text) in [("subtype", notice.subtype), ("about", notice.about)] {
            if let Some(text) = text {
                out.put_args(line, format_args!(",\"{name}\":"));
                part::put_text(out, line, text, "notice");
            }
        }
        if let Some(text) = notice.words() {
            out.put(line, ",\"text\":");
            match text.as_text() {
                Some(text) => part::put_text(out, line, text, "notice"),
                None => {
                    out.lose(LossKind::Flattened, "system.content");
                    put_lines(out, line, text);
                }
            }
        }
        if let Some(trigger) = notice.trigger {
            out.put(line, ",\"trigger\":");
            part::put_text(out, line, trigger, "notice");
        }
        if let Some(tokens) = notice.pre_token_count() {
            out.put(line, ",\"pre_tokens\":");
            out.put_raw(line, tokens);
        }
        self.close(line, out);
    }

    /// Opens a notice, up to its kind; `None` if too many lines are before the first prompt.
    pub(super) fn open_notice(
        &mut self,
        kind: NoticeKind,
        event: &Event<'_>,
        n: usize,
        out: &mut Output,
    ) -> Option<LineId> {
        if !self.has_prompt && self.n_head >= MAX_HEAD {
            out.lose_record(event);
            return None;
        }
        let line = self.open("notice", event, n, out);
        out.put_args(line, format_args!("\"kind\":\"{}\"", kind.name()));
        Some(line)
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
        let Some(line) = self.open_notice(kind, event, 0, out) else { return };
        if let Some(status) = outcome.status_text {
            out.put(line, ",\"subtype\":");
            // Not copied: its result may be in another line, which comes first.
            out.put_string(line, &status.decode());
        }
        out.copy_outcome_words(line, outcome);
        self.close(line, out);
    }
}

/// Writes an array of strings as lines of one text, and any other value as its JSON.
fn put_lines(out: &mut Output, line: LineId, raw: Raw<'_>) {
    out.touch(line);
    let mut scanner = Scanner::default();
    let array = scanner.scan_raw(raw).ok();
    let texts = array.iter().flat_map(|array| array.items()).map(|item| item.text());
    let texts: Option<Vec<String>> = texts.map(|text| Some(text?.decode().into_owned())).collect();
    match texts.filter(|texts| !texts.is_empty()) {
        Some(texts) => out.put_string(line, &texts.join("\n")),
        None => out.put_string(line, raw.as_str()),
    }
}
