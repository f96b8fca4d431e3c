//! Opens lines: the time, the type and the start of the payload.
//!
//! In: an event of 10:00. Out: `{"timestamp":"2026-03-01T10:00:00.000Z","type":"response_item",
//! "payload":{`.

use core_model::{Context, Event, LineId, LossKind, Output, iso_millis, millis};
use jsonl::{Raw, json_string};

use super::SessionWriter;

/// The time of the last line.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// In milliseconds since 1970.
    last: i64,
    /// As written, a JSON string; empty before the first line.
    written: String,
}

/// Milliseconds since 1970 whose year has four digits.
const TIMES: std::ops::Range<i64> = 0..253_370_764_800_000;

impl Clock {
    /// Continues after a resumed line.
    pub(super) fn resume(&mut self, context: &Context<'_>) {
        if let Some(time) = context.time {
            self.set(time);
        }
    }

    /// Sets the time of the lines that follow. Returns whether it is a time that can be written as
    /// it is.
    pub(super) fn set(&mut self, time: Raw<'_>) -> bool {
        let known = millis(time).filter(|millis| TIMES.contains(millis));
        let Some(millis) = known else { return false };
        self.last = millis;
        match time.as_text() {
            Some(text) => {
                self.written = json_string(&text.decode());
                true
            }
            None => {
                self.written = json_string(&iso_millis(millis));
                false
            }
        }
    }

    /// Returns the last time, a JSON string.
    pub(super) fn written(&self) -> String {
        if self.written.is_empty() { json_string(&iso_millis(0)) } else { self.written.clone() }
    }
}

impl SessionWriter {
    /// Opens a line of an event, up to the first member of its payload. Only the first line of an
    /// event counts its time.
    pub(super) fn open(
        &mut self,
        kind: &str,
        event: &Event<'_>,
        n: usize,
        out: &mut Output,
    ) -> LineId {
        let line = self.open_untyped(event, n, out);
        put_type(line, kind, out);
        line
    }

    /// Opens a line whose type is written later.
    pub(super) fn open_untyped(&mut self, event: &Event<'_>, n: usize, out: &mut Output) -> LineId {
        let line = out.open();
        if n == 0 {
            let is_exact = event.context.time.map(|time| self.clock.set(time));
            match is_exact {
                Some(true) => {}
                Some(false) => out.lose(LossKind::Flattened, event.vocabulary.time),
                None => out.lose(LossKind::Invented, event.vocabulary.time),
            }
        }
        self.put_time(line, out);
        self.is_dirty = true;
        line
    }

    /// Opens a line that repeats others for Codex's screen.
    pub(super) fn open_derived(&mut self, kind: &str, out: &mut Output) -> LineId {
        let line = out.open_derived();
        self.put_time(line, out);
        put_type(line, kind, out);
        line
    }

    fn put_time(&self, line: LineId, out: &mut Output) {
        out.put(line, "{\"timestamp\":");
        out.put(line, &self.clock.written());
    }
}

/// Writes the type of a line and the start of its payload.
pub(super) fn put_type(line: LineId, kind: &str, out: &mut Output) {
    out.put_args(line, format_args!(",\"type\":\"{kind}\",\"payload\":{{"));
}
