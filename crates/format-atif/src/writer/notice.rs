//! Writes notices and failed runs as steps of the system.
//!
//! In: an informational line of Claude Code. Out: `{"source":"system","message":"..",
//! "extra":{"kind":"notice","level":"info"},..}`.

use core_model::{Event, LossKind, Notice, NoticeKind, Outcome, Output};
use jsonl::{Raw, Scanner, json_string};

use super::{DocumentWriter, json, step::Step};

impl DocumentWriter {
    pub(super) fn write_notice(
        &mut self,
        event: &Event<'_>,
        notice: &Notice<'_>,
        out: &mut Output,
    ) {
        let mut step = self.start_notice(notice.kind, event, out);
        let names =
            [("subtype", notice.subtype), ("about", notice.about), ("trigger", notice.trigger)];
        for (name, text) in names {
            if let Some(text) = text {
                step.add_extra(name, &json::text(text, "system.content", out));
            }
        }
        if let Some(tokens) = notice.pre_tokens.filter(|tokens| !tokens.is_null()) {
            step.add_extra("pre_tokens", &json::value(tokens));
        }
        if let Some(text) = notice.words() {
            out.show(step.line, text);
            step.message = Some(match text.as_text() {
                Some(text) => json::text(text, "system.content", out),
                None => {
                    out.lose(LossKind::Flattened, "system.content");
                    lines(text)
                }
            });
        }
        self.queue.push(step);
    }

    /// Starts a notice.
    fn start_notice(&self, kind: NoticeKind, event: &Event<'_>, out: &mut Output) -> Step {
        out.drop_ids(event);
        let mut step = Step::new("system", event, out);
        step.add_extra("kind", "\"notice\"");
        step.add_extra("level", &json_string(kind.name()));
        self.add_cwd(&mut step, event, out);
        step
    }

    /// Writes why a run failed. A run that succeeded has no step.
    pub(super) fn write_outcome(
        &mut self,
        event: &Event<'_>,
        outcome: &Outcome<'_>,
        out: &mut Output,
    ) {
        let Some(kind) = outcome.notice_kind() else { return out.lose_record(event) };
        out.flatten_outcome(outcome);
        let mut step = self.start_notice(kind, event, out);
        if let Some(status) = outcome.status_text {
            step.add_extra("subtype", &json::text(status, "status", out));
        }
        for (name, words) in outcome.words() {
            step.add_extra(name, &json::value(words));
        }
        self.queue.push(step);
    }
}

/// Returns an array of strings as lines of one text, and any other value as a string with its JSON.
fn lines(raw: Raw<'_>) -> String {
    let mut scanner = Scanner::default();
    let array = scanner.scan_raw(raw).ok();
    let texts = array.iter().flat_map(|array| array.items()).map(|item| item.text());
    match texts.collect::<Option<Vec<_>>>().filter(|texts| !texts.is_empty()) {
        Some(texts) => {
            let texts: Vec<_> = texts.iter().map(|text| text.decode()).collect();
            json_string(&texts.join("\n"))
        }
        None => json_string(raw.as_str()),
    }
}
