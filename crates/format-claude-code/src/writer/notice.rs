//! Writes notices and outcomes as `system` lines, which the client shows and does not send.

use core_model::{Event, Field, LineId, LossKind, Notice, NoticeKind, Outcome, Output, Status};
use jsonl::{Raw, Scanner};

use super::{ClaudeCodeWriter, thread::Ending};

impl ClaudeCodeWriter {
    pub(super) fn notice(&mut self, event: &Event<'_>, notice: &Notice<'_>, out: &mut Output) {
        self.flush_thought(out);
        let line = self.open_notice(event, out);
        put_words(out, line, notice);
        let level = match notice.kind {
            NoticeKind::Error => "error",
            NoticeKind::Warning => "warning",
            _ => "info",
        };
        // A boundary would hide the history before it, so it becomes a notice with its words.
        out.lose(LossKind::Flattened, "system.subtype");
        if notice.about.is_some() {
            out.lose(LossKind::Dropped, "about");
        }
        if notice.trigger.is_some() {
            out.lose(LossKind::Dropped, "compact_metadata.trigger");
        }
        if notice.pre_tokens.is_some() {
            out.lose(LossKind::Dropped, "compact_metadata.pre_tokens");
        }
        self.close_notice(line, level, &Ending::new("entry", 0, event), out);
    }

    /// Opens a notice, up to its text.
    pub(super) fn open_notice(&mut self, event: &Event<'_>, out: &mut Output) -> LineId {
        let line = self.thread.open(event, out);
        out.put(line, ",\"type\":\"system\",\"subtype\":\"informational\",\"content\":");
        line
    }

    /// Closes a notice after its text.
    pub(super) fn close_notice(
        &mut self,
        line: LineId,
        level: &str,
        ending: &Ending<'_, '_>,
        out: &mut Output,
    ) {
        out.put(line, ",\"isMeta\":false,\"level\":\"");
        out.put(line, level);
        out.put(line, "\"");
        self.thread.close(line, ending, out);
    }

    pub(super) fn outcome(&mut self, event: &Event<'_>, outcome: &Outcome<'_>, out: &mut Output) {
        self.flush_thought(out);
        self.response = None;
        lose_what_has_no_place(outcome, out);
        lose_words(event, outcome, out);
        let is_error = outcome.status != Status::Success;
        if is_error {
            let line = self.open_notice(event, out);
            put_reason(out, line, outcome);
            let level = if outcome.status == Status::Interrupted { "warning" } else { "error" };
            self.close_notice(line, level, &Ending::new("entry", 0, event), out);
        }
        let duration = outcome.duration_ms.filter(|ms| ms.as_f64().is_some_and(|ms| ms > 0.0));
        let Some(duration) = duration else {
            if outcome.duration_ms.is_some() {
                out.lose(LossKind::Dropped, "duration_ms");
            }
            if !is_error {
                out.lose_record(event);
            }
            return;
        };
        let line = self.thread.open(event, out);
        out.put(line, ",\"type\":\"system\",\"subtype\":\"turn_duration\",\"durationMs\":");
        out.put_raw(line, duration);
        out.put(line, ",\"isMeta\":false");
        let earliest = self.thread.clock.end_run(duration.as_f64().unwrap_or(0.0) as i64);
        let block_idx = usize::from(is_error);
        let ending = Ending { earliest, ..Ending::new("entry", block_idx, event) };
        self.thread.close(line, &ending, out);
    }
}

fn put_words(out: &mut Output, line: LineId, notice: &Notice<'_>) {
    let text = notice.text.filter(|text| !text.is_null() && text.as_str() != "\"\"");
    match (text, notice.subtype) {
        (Some(text), _) => match text.as_text() {
            Some(text) => out.copy_text(line, text),
            None => {
                out.lose(LossKind::Flattened, "system.content");
                out.put_string(line, text.as_str());
            }
        },
        (None, Some(subtype)) if !subtype.is_empty() => out.copy_text(line, subtype),
        (None, _) => out.put(line, "\"[notice]\""),
    }
}

/// Writes why a run failed: its errors, else its result, else the status text of the format.
fn put_reason(out: &mut Output, line: LineId, outcome: &Outcome<'_>) {
    let mut scanner = Scanner::default();
    let errors = outcome.errors.and_then(|errors| {
        // Errors are short and rare, so they are joined in a buffer.
        let errors = scanner.scan_raw(errors).ok()?;
        let texts: Vec<_> = errors.items().filter_map(|error| error.text()).collect();
        let texts: Vec<_> = texts.iter().map(|text| text.decode()).collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    });
    let result = outcome.result.and_then(|result| result.as_text());
    if let Some(errors) = errors {
        out.put_string(line, &errors);
    } else if let Some(result) = result.filter(|result| !result.is_empty()) {
        out.copy_text(line, result);
    } else if let Some(status) = outcome.status_text.filter(|status| !status.is_empty()) {
        out.copy_text(line, status);
    } else {
        out.put(line, "\"error\"");
    }
}

fn lose_what_has_no_place(outcome: &Outcome<'_>, out: &mut Output) {
    let is_some = |raw: Option<Raw<'_>>| raw.is_some_and(|raw| !raw.is_null());
    let fields = [
        ("total_cost_usd", is_some(outcome.cost)),
        ("num_turns", is_some(outcome.turns)),
        ("duration_api_ms", is_some(outcome.duration_api_ms)),
        ("usage", is_some(outcome.usage.map(|usage| usage.raw()))),
        ("is_error", matches!(outcome.is_error, Field::Value(_))),
    ];
    for (field, _) in fields.into_iter().filter(|(_, is_some)| *is_some) {
        out.lose(LossKind::Dropped, field);
    }
}

/// Counts the texts of an outcome that [`put_reason`] does not write. It writes the first one that
/// it finds, if the run failed.
fn lose_words(event: &Event<'_>, outcome: &Outcome<'_>, out: &mut Output) {
    let is_word = |raw: Option<Raw<'_>>| {
        raw.is_some_and(|raw| !matches!(raw.as_str(), "null" | "\"\"" | "[]"))
    };
    let status = outcome.status_text.map(Raw::from);
    let mut is_written = outcome.status == Status::Success;
    for (words, field) in
        [(outcome.errors, "errors"), (outcome.result, "result"), (status, event.vocabulary.status)]
    {
        if is_word(words) && std::mem::replace(&mut is_written, true) {
            out.lose(LossKind::Dropped, field);
        }
    }
}
