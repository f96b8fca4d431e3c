//! Writes events of any format as records of one format.

use std::{fmt, io, marker::PhantomData};

use jsonl::Line;

use super::{RecordFormat, RecordRef};
use crate::{Event, Facts, Losses, Options, Output, Writer};

/// Writer of records of any format as records of one format, without a carry.
///
/// A writer needs facts of the whole session before its first record, such as the tools: collect
/// them with [`Facts::observe`] in a first pass. Content that the format has no place for is
/// counted in [`Losses`].
pub struct RecordWriter<W, F> {
    target: W,
    writer: Box<dyn Writer>,
    out: Output,
    format: PhantomData<fn() -> F>,
}

impl<W: io::Write, F: RecordFormat> RecordWriter<W, F> {
    /// Creates a writer with the facts of a session.
    pub fn new(target: W, facts: Facts) -> Self {
        Self::with_options(target, facts, &Options::default())
    }

    /// Creates a writer with options of the format.
    pub fn with_options(target: W, facts: Facts, options: &Options) -> Self {
        let style = F::format().style;
        let session_id = facts.session_id.as_deref().and_then(jsonl::Text::new);
        let session_id = session_id.map(|id| id.decode().into_owned()).unwrap_or_default();
        let out = Output::new(style, style, &session_id).without_notes();
        Self { target, writer: (F::format().writer)(options, facts), out, format: PhantomData }
    }

    /// Writes a record of any format.
    ///
    /// # Errors
    ///
    /// Returns an error if the target cannot be written.
    pub fn write<G: RecordFormat>(&mut self, record: &RecordRef<'_, G>) -> io::Result<()> {
        let place = record.place();
        let line = Line::new(record.raw(), place.offset);
        let event: Event<'_> = record.event();
        self.out.set_line_number(place.line);
        self.out.start_source(&line, G::format().style);
        self.writer.write(&event, &mut self.out);
        self.out.end_source();
        self.flush()
    }

    /// Writes the end of the output. Returns the target and the losses.
    ///
    /// # Errors
    ///
    /// Returns an error if the target cannot be written.
    pub fn finish(mut self) -> io::Result<(W, Losses)> {
        self.writer.finish(&mut self.out);
        self.flush()?;
        self.target.flush()?;
        Ok((self.target, self.out.losses().clone()))
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut line = Vec::new();
        while let Some(id) = self.out.next_emitted() {
            self.out.swap_bytes(id, &mut line);
            self.out.release(id);
            line.push(b'\n');
            self.target.write_all(&line)?;
        }
        Ok(())
    }
}

impl<W, F> fmt::Debug for RecordWriter<W, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordWriter").field("losses", self.out.losses()).finish_non_exhaustive()
    }
}
