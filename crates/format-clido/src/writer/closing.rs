//! Writes how a run ended: from the source's outcome, or derived from its last message.
//!
//! In: no outcome, and a last message of the model. Out:
//! `{"type":"result","exit_status":"success","total_cost_usd":0.0,"num_turns":1,"duration_ms":..}`.

use core_model::{
    BlockCounts, Event, Field, LineId, LossKind, Message, Outcome, Output, Status, Turn,
};
use jsonl::{Raw, Scanner, Text, is_loadable};

use super::pen::Pen;

/// The state of the conversation and its time span.
#[derive(Debug, Default)]
pub(super) struct Ending {
    turn: Turn,
    n_responses: u64,
    /// The earliest and the latest time, in milliseconds since 1970.
    span: Option<(i64, i64)>,
}

impl Ending {
    /// Adds a line of a response, which may continue the response before.
    pub(super) fn add_response(
        &mut self,
        message: &Message<'_>,
        block_counts: BlockCounts,
        goes_on: bool,
    ) {
        self.n_responses = self.n_responses.saturating_add(u64::from(!goes_on));
        self.turn.push(message, block_counts);
    }

    /// Adds a message that is not a response.
    pub(super) fn add_other(&mut self, message: &Message<'_>, block_counts: BlockCounts) {
        self.turn.push(message, block_counts);
    }

    /// Extends the time span.
    pub(super) fn add_time(&mut self, millis: Option<i64>) {
        let Some(millis) = millis else { return };
        let (first, last) = self.span.unwrap_or((millis, millis));
        self.span = Some((first.min(millis), last.max(millis)));
    }

    /// Writes the result line that can be derived. If the run may still be going on, there is none.
    pub(super) fn write(&self, out: &mut Output) {
        let status = match self.turn {
            Turn::Open => return,
            Turn::Answered => "success",
            Turn::Failed => "error",
            Turn::Interrupted => "interrupted",
        };
        let turns = self.n_responses.clamp(1, u64::from(u32::MAX));
        let duration = self.span.and_then(|(first, last)| last.checked_sub(first)).unwrap_or(0);
        let line = out.open();
        out.put(line, "{\"type\":\"result\",\"exit_status\":");
        out.put_string(line, status);
        out.put(line, ",\"total_cost_usd\":0.0,\"num_turns\":");
        out.put(line, &format!("{turns},\"duration_ms\":{duration}}}"));
        out.emit(line);
        for field in ["exit_status", "total_cost_usd", "num_turns", "duration_ms"] {
            out.lose(LossKind::Invented, field);
        }
    }
}

/// Writes the source's outcome as a result line.
pub(super) fn write_outcome(event: &Event<'_>, outcome: &Outcome<'_>, pen: &mut Pen<'_>) {
    write_errors(outcome, pen);
    let line = pen.out.open();
    pen.out.put(line, "{\"type\":\"result\",\"exit_status\":");
    match outcome.status_text {
        Some(text) if event.format == crate::FORMAT.name => pen.text(line, text, "exit_status"),
        text => {
            let status = status_text(outcome.status);
            pen.out.put_string(line, status);
            if text.is_some_and(|text| !text.is(status)) {
                pen.out.lose(LossKind::Flattened, event.vocabulary.status);
            }
        }
    }
    pen.out.put(line, ",\"total_cost_usd\":");
    match outcome.cost.filter(|cost| cost.as_f64().is_some()) {
        Some(cost) if is_loadable(cost.as_str(), 0) => pen.out.put_raw(line, cost),
        _ => {
            pen.out.put(line, "0.0");
            pen.out.lose(LossKind::Invented, "total_cost_usd");
        }
    }
    let told_turns = count(outcome.turns, "num_turns", pen);
    let turns = told_turns.clamp(1, u64::from(u32::MAX));
    if turns != told_turns && outcome.turns.is_some() {
        pen.out.lose(LossKind::Flattened, "num_turns");
    }
    let duration = count(outcome.duration_ms, "duration_ms", pen);
    pen.out.put(line, &format!(",\"num_turns\":{turns},\"duration_ms\":{duration}}}"));
    pen.out.emit(line);
    if matches!(outcome.is_error, Field::Value(_)) {
        // The status implies whether the run failed.
        pen.out.lose(LossKind::Flattened, "is_error");
    }
    let is_said = |value: Option<Raw<'_>>| value.is_some_and(|value| !value.is_null());
    for (value, field) in [
        (outcome.duration_api_ms, "duration_api_ms"),
        (outcome.usage.map(|usage| usage.raw()), "usage"),
        (outcome.result, "result"),
    ] {
        if is_said(value) {
            pen.out.lose(LossKind::Dropped, field);
        }
    }
}

/// Returns a number as a count: a float is rounded, a missing number is 0.
fn count(raw: Option<Raw<'_>>, field: &'static str, pen: &mut Pen<'_>) -> u64 {
    if let Some(count) = raw.and_then(|raw| raw.as_u64()) {
        return count;
    }
    let float = raw.and_then(|raw| raw.as_f64());
    let kind = if float.is_some() { LossKind::Flattened } else { LossKind::Invented };
    pen.out.lose(kind, field);
    float.map_or(0, |float| float.round() as u64)
}

/// Writes the errors of an outcome as a `system` line, because a result line has no text.
fn write_errors(outcome: &Outcome<'_>, pen: &mut Pen<'_>) {
    let mut scanner = Scanner::default();
    let errors = outcome.errors.and_then(|errors| scanner.scan_raw(errors).ok());
    let texts: Vec<_> =
        errors.into_iter().flat_map(|errors| errors.items()).filter_map(|e| e.text()).collect();
    if texts.is_empty() {
        return;
    }
    let line = pen.out.open();
    pen.out.put(line, "{\"type\":\"system\",\"subtype\":\"error\",\"message\":\"");
    for (n, text) in texts.into_iter().enumerate() {
        if n > 0 {
            pen.out.put(line, "\\n");
        }
        pen.body(line, text, "errors");
    }
    pen.out.put(line, "\"}");
    pen.out.emit(line);
    pen.out.lose(LossKind::Flattened, "errors");
}

fn status_text(status: Status) -> &'static str {
    match status {
        Status::Success => "success",
        Status::MaxTurns => "max_turns_reached",
        Status::MaxBudget => "budget_exceeded",
        Status::Interrupted => "interrupted",
        Status::RateLimited => "rate_limited",
        _ => "error",
    }
}

/// Writes the title of the session without emitting the line.
pub(super) fn write_title(title: Text<'_>, out: &mut Output) -> LineId {
    let line = out.open();
    out.put(line, "{\"type\":\"title\",\"title\":");
    out.put_string(line, &title.decode());
    out.put(line, "}");
    line
}
