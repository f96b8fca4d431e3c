//! The events of a source, in as many passes as asked for.
//!
//! In: the lines of a window. Out: their events. The first ones stay in memory for the next pass; the others are
//! parsed again.

use std::io::{self, Read, Seek};

use core_model::{Event, Format};
use jsonl::{Chunk, Line, Value};

use super::Source;
use crate::pipeline::{
    recovery::{Recovery, is_damage},
    survey::{EachEvent, EachWindow, Events},
};

/// Limit on the events that stay in memory. Each takes about a kilobyte.
pub(super) const MAX_EVENTS: usize = 2 * 1024;

/// A line and its event.
pub(super) type LineEvent<'c> = (Line<'c>, jsonl::Result<Event<'c>>);

/// Lines of which the first events stay in memory. They are parsed on first use, so that their lines
/// are in the CPU cache for the caller.
pub(super) struct Kept<'c, L> {
    pub(super) lines: L,
    pub(super) events: Vec<LineEvent<'c>>,
    pub(super) format: &'static Format,
}

impl<'c, L> Events for Kept<'c, L>
where
    L: Clone + Iterator<Item = (Line<'c>, jsonl::Result<Value<'c>>)>,
{
    fn for_each(&mut self, each: &mut EachEvent<'_>) -> io::Result<()> {
        let mut event_idx = 0;
        loop {
            if event_idx == self.events.len() {
                if event_idx >= MAX_EVENTS {
                    break;
                }
                let Some((line, value)) = self.lines.next() else { return Ok(()) };
                match value {
                    Ok(value) if !self.format.has_one_event() => {
                        self.format.for_each_event(value, |event| {
                            self.events.push((line, Ok(*event)));
                            true
                        });
                    }
                    value => {
                        let event = value.map(|value| self.format.first_event(value));
                        self.events.push((line, event));
                    }
                }
            }
            let Some((line, event)) = self.events.get(event_idx) else { return Ok(()) };
            if !each(line, event.as_ref().map_err(|error| *error)) {
                return Ok(());
            }
            event_idx += 1;
        }
        for (line, value) in self.lines.clone() {
            let goes_on = match value {
                Ok(value) => self.format.for_each_event(value, |event| each(&line, Ok(event))),
                Err(error) => each(&line, Err(error)),
            };
            if !goes_on {
                break;
            }
        }
        Ok(())
    }
}

/// The events of lines of which some are damaged. They are parsed again for each pass.
struct Pieces<'c> {
    chunk: &'c Chunk,
    format: &'static Format,
}

impl Events for Pieces<'_> {
    fn for_each(&mut self, each: &mut EachEvent<'_>) -> io::Result<()> {
        let format = self.format;
        let mut recovery = Recovery::new(&[format]);
        let mut each = |line: &Line<'_>, value: jsonl::Result<Value<'_>>| match value {
            Ok(value) => format.for_each_event(value, |event| each(line, Ok(event))),
            Err(error) => each(line, Err(error)),
        };
        _ = self.chunk.iter().all(|(line, value)| recovery.line(&line, value, &mut each));
        Ok(())
    }
}

/// Events that are parsed again for each pass.
pub(super) struct Passing<'s, R> {
    pub(super) source: &'s mut Source<R>,
    pub(super) format: &'static Format,
}

impl<R: Read + Seek + Send> Events for Passing<'_, R> {
    fn for_each(&mut self, each: &mut EachEvent<'_>) -> io::Result<()> {
        let format = self.format;
        self.source.for_each_piece(&[format], &mut |line, value| match value {
            Ok(value) => format.for_each_event(value, |event| each(line, Ok(event))),
            Err(error) => each(line, Err(error)),
        })
    }

    fn has_windows(&self) -> bool {
        !self.format.framing.is_document()
    }

    fn release(&mut self) {
        self.source.release();
    }

    fn size(&mut self) -> io::Result<u64> {
        self.source.size()
    }

    fn for_each_window(&mut self, each: &mut EachWindow<'_>) -> io::Result<()> {
        let (format, mut spare, mut result) = (self.format, Vec::new(), Ok(()));
        self.source.for_each_window(&mut |chunk| {
            let goes_on = if chunk.errors().any(is_damage) {
                each(&mut Pieces { chunk, format })
            } else {
                let events = reused(std::mem::take(&mut spare));
                let mut kept = Kept { lines: chunk.iter(), events, format };
                let goes_on = each(&mut kept);
                spare = reused(kept.events);
                goes_on
            };
            goes_on.unwrap_or_else(|error| {
                result = Err(error);
                false
            })
        })?;
        result
    }
}

/// Returns the memory of events for other events.
pub(super) fn reused<'c>(mut events: Vec<LineEvent<'_>>) -> Vec<LineEvent<'c>> {
    events.clear();
    events.into_iter().map_while(|_| None).collect()
}
