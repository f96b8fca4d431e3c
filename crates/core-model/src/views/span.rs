//! Measures the duration of a session, by three rules.
//!
//! In: lines at 10:05, 10:00, 10:30. Out: 25 minutes by [`DurationRule::FirstLastLine`], 30 by
//! [`DurationRule::MinMax`].

use std::fmt;

use super::event_millis;
use crate::Event;

/// The rule by which a duration is measured.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum DurationRule {
    /// From the first line to the last one, if both have a time; may be negative.
    FirstLastLine,
    /// From the first time in the file to the last one; may be negative.
    FirstLastSeen,
    /// From the earliest time to the latest.
    #[default]
    MinMax,
}

/// The times of a session, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Span {
    n_events: u64,
    first_line: Option<i64>,
    last_line: Option<i64>,
    first: Option<i64>,
    last: Option<i64>,
    earliest: Option<i64>,
    latest: Option<i64>,
}

impl Span {
    /// Adds an event.
    pub fn push(&mut self, event: &Event<'_>) {
        self.push_time(event_millis(event));
    }

    /// Adds the time of a line, if it has one.
    ///
    /// ```
    /// use core_model::{DurationRule, Span};
    ///
    /// let mut span = Span::default();
    /// for time in [None, Some(10_000), Some(70_000), Some(60_000)] {
    ///     span.push_time(time);
    /// }
    /// assert_eq!(span.millis(DurationRule::FirstLastLine), None);
    /// assert_eq!(span.millis(DurationRule::FirstLastSeen), Some(50_000));
    /// assert_eq!(span.millis(DurationRule::MinMax), Some(60_000));
    /// ```
    pub fn push_time(&mut self, time: Option<i64>) {
        if self.n_events == 0 {
            self.first_line = time;
        }
        self.n_events += 1;
        self.last_line = time;
        self.first = self.first.or(time);
        self.last = time.or(self.last);
        self.earliest = self.earliest.into_iter().chain(time).min();
        self.latest = self.latest.max(time);
    }

    /// Returns the earliest time.
    pub fn earliest(&self) -> Option<i64> {
        self.earliest
    }

    /// Returns the latest time.
    pub fn latest(&self) -> Option<i64> {
        self.latest
    }

    /// Returns the duration in milliseconds; `None` without times.
    pub fn millis(&self, rule: DurationRule) -> Option<i64> {
        let (start, end) = match rule {
            DurationRule::FirstLastLine => (self.first_line, self.last_line),
            DurationRule::FirstLastSeen => (self.first, self.last),
            DurationRule::MinMax => (self.earliest, self.latest),
        };
        end?.checked_sub(start?)
    }
}

/// A duration in whole minutes, or in seconds if it is shorter, as [`Overview`](super::Overview) prints it.
/// One below a second has a decimal.
pub(super) struct Minutes(pub(super) Option<i64>);

impl fmt::Display for Minutes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("unknown"),
            Some(millis @ 1..1000) => write!(f, "0.{} seconds", millis / 100),
            Some(millis) => match (millis / 60_000, millis / 1000) {
                (0, 1) => f.write_str("1 second"),
                (0, seconds) => write!(f, "{seconds} seconds"),
                (1, _) => f.write_str("1 minute"),
                (minutes, _) => write!(f, "{minutes} minutes"),
            },
        }
    }
}
