//! Times that strictly increase, whatever the source says.

use std::ops::Range;

use core_model::{LossKind, Output, iso_millis, millis};
use jsonl::Raw;

/// The years that are printed with four digits.
pub(crate) const TIMES: Range<i64> = 0..253_370_764_800_000;

/// What time it is in the session.
#[derive(Debug, Default)]
pub(super) struct Clock {
    last: Option<i64>,
    earliest: i64,
    run: i64,
}

impl Clock {
    /// Sets the time before which nothing happens that has no time of its own.
    pub(super) fn start_run(&mut self, time: Raw<'_>) {
        if let Some(time) = millis(time).filter(|time| TIMES.contains(time)) {
            self.earliest = self.earliest.max(time);
            self.run = time;
        }
    }

    /// Returns the time of the last entry.
    pub(super) fn last(&self) -> i64 {
        self.last.unwrap_or(self.earliest)
    }

    /// Returns the time at which a run that took this long has ended, and starts the next.
    pub(super) fn end_run(&mut self, duration_ms: i64) -> i64 {
        self.run = self.run.saturating_add(duration_ms.max(0)).max(self.last());
        self.run
    }

    /// Takes note of an entry that already stands in the output.
    pub(super) fn resume(&mut self, time: Raw<'_>) {
        let time = millis(time).filter(|time| TIMES.contains(time));
        self.last = self.last.max(time);
        self.run = self.run.max(self.last());
    }

    /// Returns the time of the next entry: the source's, if it has one and that is later than the
    /// last entry's, or else one not before `earliest`.
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
        let written = iso_millis(at);
        if time.is_none() {
            out.lose(LossKind::Invented, "timestamp");
        } else if !time.and_then(|time| time.as_text()).is_some_and(|text| text.is(&written)) {
            out.lose(LossKind::Flattened, "timestamp");
        }
        written
    }
}
