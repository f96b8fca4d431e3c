//! Counts the events of each conversation: of the main one and of each sub-agent's.

use std::collections::HashMap;

use crate::threads::Thread;

/// Counts of a conversation. The struct is small, because a session may have a conversation for
/// each line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cast {
    start: Option<i64>,
    end: Option<i64>,
    n_events: u32,
    /// Number of events that the second pass has written.
    n_written: u32,
    n_calls: u32,
    n_errors: u32,
}

impl Cast {
    /// Returns the number of events.
    pub(crate) fn n_events(&self) -> u64 {
        u64::from(self.n_events)
    }

    /// Returns the number of events that are not written yet.
    pub(crate) fn n_left(&self) -> u64 {
        u64::from(self.n_events.saturating_sub(self.n_written))
    }

    /// Returns the number of tool calls.
    pub(crate) fn n_calls(&self) -> u64 {
        u64::from(self.n_calls)
    }

    /// Returns the number of failures.
    pub(crate) fn n_errors(&self) -> u64 {
        u64::from(self.n_errors)
    }

    /// Returns the duration in milliseconds; `None` without times.
    pub(crate) fn millis(&self) -> Option<i64> {
        Some(self.end?.saturating_sub(self.start?))
    }
}

/// The counts of all conversations.
#[derive(Debug, Default)]
pub(crate) struct Casts(HashMap<Thread, Cast>);

impl Casts {
    /// Adds an event.
    pub(crate) fn note(&mut self, thread: Thread, time: Option<i64>, n_calls: u64, n_errors: u64) {
        let cast = self.0.entry(thread).or_default();
        let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        cast.n_events = cast.n_events.saturating_add(1);
        cast.n_calls = cast.n_calls.saturating_add(small(n_calls));
        cast.n_errors = cast.n_errors.saturating_add(small(n_errors));
        cast.start = cast.start.or(time);
        cast.end = time.or(cast.end);
    }

    /// Returns the counts of a conversation.
    pub(crate) fn get(&self, thread: Thread) -> Option<&Cast> {
        self.0.get(&thread)
    }

    /// Counts a written event, and returns the number of events that are not written yet.
    pub(crate) fn write_one(&mut self, thread: Thread) -> u64 {
        let Some(cast) = self.0.get_mut(&thread) else { return 0 };
        cast.n_written = cast.n_written.saturating_add(1);
        cast.n_left()
    }

    /// Returns the number of sub-agents.
    pub(crate) fn n_sub_agents(&self) -> u64 {
        (self.0.len() - usize::from(self.0.contains_key(&Thread::Main))) as u64
    }
}
