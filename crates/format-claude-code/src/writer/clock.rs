//! Makes times that strictly increase, because client 2.0 continues with the entry of the latest
//! time.
//!
//! In: `10:00:00.000`, none, `09:59:00.000`. Out: `10:00:00.000`, `10:00:00.001`, `10:00:00.002`.

use std::ops::Range;

use core_model::{LossKind, Output, Place, iso_millis, millis};
use jsonl::Raw;

/// Milliseconds since 1970 whose year has four digits.
pub(crate) const TIMES: Range<i64> = 0..253_370_764_800_000;

/// The current time of the session.
#[derive(Debug, Default)]
pub(super) struct Clock {
    last: Option<i64>,
    earliest: i64,
    run: i64,
    /// The time of the last start, until an entry has it or it is counted as lost: the time, the name
    /// of its member, and its place.
    start: Option<(i64, &'static str, Place)>,
}

impl Clock {
    /// Sets the earliest time for entries without a time of their own.
    pub(super) fn start_run(&mut self, time: Raw<'_>) {
        if let Some(time) = millis(time).filter(|time| TIMES.contains(time)) {
            self.earliest = self.earliest.max(time);
            self.run = time;
        }
    }

    /// Sets the time of a session's start, which has no entry of its own. It is counted as lost unless
    /// the next entry has the same time. `name` is the member's name in the source.
    pub(super) fn start_session(&mut self, time: Raw<'_>, name: &'static str, out: &mut Output) {
        self.start_run(time);
        let Some(time) = millis(time) else {
            return out.lose(LossKind::Dropped, name);
        };
        self.count_start(Some(time), out);
        self.start = Some((time, name, out.place()));
    }

    /// Counts the time of the last start as lost, unless it is `next`, the time of what follows.
    pub(super) fn count_start(&mut self, next: Option<i64>, out: &mut Output) {
        if let Some((time, name, place)) = self.start.take()
            && next != Some(time)
        {
            out.lose_at(LossKind::Dropped, name, place);
        }
    }

    /// Returns the time of the last entry.
    pub(super) fn last(&self) -> i64 {
        self.last.unwrap_or(self.earliest)
    }

    /// Returns the end of a run of `duration_ms`, and starts the next run there.
    pub(super) fn end_run(&mut self, duration_ms: i64) -> i64 {
        self.run = self.run.saturating_add(duration_ms.max(0)).max(self.last());
        self.run
    }

    /// Continues after the time of a resumed entry.
    pub(super) fn resume(&mut self, time: Raw<'_>) {
        let time = millis(time).filter(|time| TIMES.contains(time));
        self.last = self.last.max(time);
        self.run = self.run.max(self.last());
    }

    /// Returns the time of the next entry: its own time if it is later than the last entry's, else
    /// a time not before `earliest`.
    pub(super) fn next(
        &mut self,
        time: Option<Raw<'_>>,
        earliest: i64,
        out: &mut Output,
    ) -> String {
        let own = time.and_then(millis).filter(|time| TIMES.contains(time));
        let after_last = self.last.map_or(0, |last| last.saturating_add(1));
        let at = match own {
            Some(own) if own >= after_last => own,
            _ => after_last.max(self.earliest).max(earliest.min(TIMES.end)),
        };
        self.last = Some(at);
        self.count_start(Some(at), out);
        let written = iso_millis(at);
        if time.is_none() {
            out.lose(LossKind::Invented, "timestamp");
        } else if !time.and_then(|time| time.as_text()).is_some_and(|text| text.is(&written)) {
            out.lose(LossKind::Flattened, "timestamp");
        }
        written
    }
}
