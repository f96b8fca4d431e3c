//! Finds which messages to print: the last ones, or those around one of them.
//!
//! In: `--tail 2` and the messages m1 to m5. Out: skip 3, print 2. In: `--around m2 -C 1`. Out: skip 0,
//! print 3.

use std::{io, ops::ControlFlow};

use conversion::Events;
use core_model::Event;

use super::Args;
use crate::terminal::escape::escape_for_terminal;

/// The message with an id, or with the start of one.
#[derive(Debug)]
pub(super) struct MatchedId<'a, T> {
    /// The start of the id.
    start: &'a str,
    /// The id that was found, and the message.
    found: Option<(String, T)>,
    /// Another id with this start.
    other: Option<String>,
}

impl<'a, T> MatchedId<'a, T> {
    /// Starts before the first message.
    fn new(start: &'a str) -> Self {
        Self { start, found: None, other: None }
    }

    /// Compares the ids of an event: its own, and that of its response.
    fn compare(&mut self, event: &Event<'_>, message: impl Fn() -> T) {
        let of_response = event.message().and_then(|message| message.id);
        for id in [event.context.uuid, of_response].into_iter().flatten() {
            self.compare_id(&id.decode(), &message);
        }
    }

    fn compare_id(&mut self, id: &str, message: impl Fn() -> T) {
        if !id.starts_with(self.start) {
            return;
        }
        match &self.found {
            Some((found, _)) if found == id => {}
            // The whole id counts more than an id that starts with it.
            Some((found, _)) if found == self.start => {}
            Some(_) if id != self.start => self.other = Some(id.to_owned()),
            _ => {
                self.found = Some((id.to_owned(), message()));
                self.other = None;
            }
        }
    }

    /// Returns the message.
    fn finish(self) -> io::Result<T> {
        let start = escape_for_terminal(self.start);
        match (self.found, self.other) {
            (None, _) => Err(io::Error::new(
                io::ErrorKind::NotFound,
                format!("no message has an id that starts with {start:?}"),
            )),
            (Some((found, _)), Some(other)) => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!(
                    "several messages have ids that start with {start:?}: {} and {}; give more of it",
                    escape_for_terminal(&found),
                    escape_for_terminal(&other)
                ),
            )),
            (Some((_, message)), None) => Ok(message),
        }
    }
}

impl MatchedId<'_, (String, u64)> {
    /// Returns the whole id of a message and its offset, in a pass over all records.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, no message has the id, or several do.
    pub(super) fn message(start: &str, events: &mut dyn Events) -> io::Result<(String, u64)> {
        let mut matched = MatchedId::new(start);
        events.for_each(&mut |line, event| {
            if let Ok(event) = event
                && let Some(id) = event.context.uuid
            {
                matched.compare(event, || (id.decode().into_owned(), line.offset()));
            }
            true
        })?;
        matched.finish()
    }
}

/// The messages to print, found in a pass over all of them.
pub(super) struct Window<'a> {
    tail: Option<u64>,
    /// The number of messages before the wanted one.
    around: Option<MatchedId<'a, u64>>,
    context: u64,
    n_messages: u64,
}

impl<'a> Window<'a> {
    /// Creates a window.
    pub(super) fn new(args: &'a Args) -> Self {
        Self {
            tail: args.tail,
            around: args.around.as_deref().map(MatchedId::new),
            context: args.context,
            n_messages: 0,
        }
    }

    /// Counts a message. Returns whether no other one is needed.
    pub(super) fn count(&mut self, event: &Event<'_>) -> io::Result<ControlFlow<()>> {
        if let Some(around) = &mut self.around {
            around.compare(event, || self.n_messages);
        }
        self.n_messages += 1;
        Ok(ControlFlow::Continue(()))
    }

    /// Returns how many messages to skip, and how many to print.
    ///
    /// # Errors
    ///
    /// Returns an error if no message has the id, or several do.
    pub(super) fn range(self) -> io::Result<(u64, u64)> {
        let Some(around) = self.around else {
            let n_printed = self.tail.unwrap_or(u64::MAX).min(self.n_messages);
            return Ok((self.n_messages - n_printed, n_printed));
        };
        let n_before = around.finish()?;
        let n_skipped = n_before.saturating_sub(self.context);
        let n_printed = (n_before - n_skipped).saturating_add(1);
        Ok((n_skipped, n_printed.saturating_add(self.context)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(ids: &[&str], start: &str) -> io::Result<(u64, u64)> {
        let mut around = MatchedId::new(start);
        for (message_idx, id) in ids.iter().enumerate() {
            around.compare_id(id, || message_idx as u64);
        }
        let n_messages = ids.len() as u64;
        Window { tail: None, around: Some(around), context: 1, n_messages }.range()
    }

    #[test]
    fn a_start_of_one_id_is_enough() {
        assert_eq!(window(&["m1", "m2", "m3", "n4"], "m2").ok(), Some((0, 3)));
        assert_eq!(window(&["m1", "m2", "m3", "n4"], "n").ok(), Some((2, 3)));
        // Records of one response have one id.
        assert_eq!(window(&["a", "m1", "m1", "b"], "m").ok(), Some((0, 3)));
        // The whole id of one is the start of another.
        assert_eq!(window(&["m11", "m1", "m12"], "m1").ok(), Some((0, 3)));
        assert!(window(&["m1", "m2"], "m").is_err_and(|error| error.to_string().contains("m2")));
        assert!(window(&["m1", "m2"], "x").is_err());
    }

    #[test]
    fn the_last_ones_are_at_most_all() {
        let last = |tail, n_messages| {
            Window { tail: Some(tail), around: None, context: 3, n_messages }.range().ok()
        };
        assert_eq!(
            [last(2, 5), last(9, 5), last(0, 5)],
            [Some((3, 2)), Some((0, 5)), Some((5, 0))]
        );
    }
}
