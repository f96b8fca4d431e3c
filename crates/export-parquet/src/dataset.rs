//! Writes the two tables of a folder, line by line.
//!
//! In: `{"type":"user","message":{"content":"Hi"},..}` of `a.jsonl`. Out: a row of `events` with
//! `file` `a.jsonl`, `block_type` `text`, `text` `Hi`.

use std::path::Path;

use core_model::Event;
use jsonl::Line;

use crate::{
    EVENTS, NewFiles, Response, Result, SESSIONS, SessionFile, Shelf,
    block::Words,
    columns::{Cell, Columns},
    parts::Parts,
    row::Row,
    schema::RAW,
};

/// Limit in bytes for the raw bytes of a row, because a Parquet page holds at most 2 GiB. A longer
/// line has several rows.
const MAX_RAW: usize = 64 * 1024 * 1024;

/// The options of the tables.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether to store the bytes of each line, so that the files can be restored. False by default.
    pub with_raw: bool,
}

/// The sizes of the written tables.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Written {
    /// The number of rows in `events`.
    pub n_rows: u64,
    /// The number of files: the rows in `sessions`.
    pub n_files: u64,
    /// The size of the tables, in bytes.
    pub n_bytes: u64,
    /// The number of texts that were cut at 64 MiB. The column `raw` has them whole.
    pub n_cut: u64,
}

/// The two tables of a folder.
pub struct Dataset<S: Shelf = NewFiles> {
    shelf: S,
    events: Parts<S>,
    sessions: Parts<S>,
    with_raw: bool,
    n_cut: u64,
}

impl Dataset {
    /// Creates the tables in a folder: `events/part-00000.parquet` and on, `sessions/` likewise.
    ///
    /// Nothing is created yet. A part that exists is never replaced or continued: then
    /// [`Dataset::push`], [`Dataset::end_file`] or [`Dataset::finish`] returns an error of the kind
    /// [`AlreadyExists`](std::io::ErrorKind::AlreadyExists).
    pub fn below(folder: &Path, options: &Options) -> Self {
        Self::on(NewFiles::below(folder), options)
    }
}

impl<S: Shelf> Dataset<S> {
    /// Creates the tables on a shelf.
    pub fn on(shelf: S, options: &Options) -> Self {
        let with_raw = options.with_raw;
        Self {
            shelf,
            events: Parts::new("events", Columns::new(EVENTS, with_raw.then_some(RAW))),
            sessions: Parts::new("sessions", Columns::new(SESSIONS, None)),
            with_raw,
            n_cut: 0,
        }
    }

    /// Adds the rows of a line of a file that was observed. The event of an unreadable line is
    /// `None`.
    ///
    /// # Errors
    ///
    /// Returns an error if a part cannot be written.
    pub fn push(
        &mut self,
        file: &mut SessionFile,
        line: &Line<'_>,
        event: Option<&Event<'_>>,
    ) -> Result<()> {
        self.push_response(file, line, event, &Response::default())
    }

    /// Adds the rows of a line as [`Dataset::push`] does, with the key and the cost of its response.
    ///
    /// # Errors
    ///
    /// Returns an error if a part cannot be written.
    pub fn push_response(
        &mut self,
        file: &mut SessionFile,
        line: &Line<'_>,
        event: Option<&Event<'_>>,
        response: &Response,
    ) -> Result<()> {
        let raw = if self.with_raw { line.bytes() } else { b"" };
        let mut raws = raw.chunks(MAX_RAW).map(Cell::Bytes);
        let mut row = Row::new(file, line, event, response);
        let blocks =
            event.and_then(Event::message).into_iter().flat_map(|message| message.blocks());
        for (block, _) in blocks {
            let mut words = Words::of_block(block);
            file.name_tool(&mut words);
            self.n_cut += u64::from(words.is_cut);
            row.push(file, &words, raws.next(), self.events.columns());
        }
        if row.block == 0 && (event.is_some() || !line.is_blank() || self.with_raw) {
            let words = event.map(Words::of_event).unwrap_or_default();
            self.n_cut += u64::from(words.is_cut);
            row.push(file, &words, raws.next(), self.events.columns());
        }
        for raw in raws {
            row.push(file, &Words::default(), Some(raw), self.events.columns());
        }
        self.events.settle(&mut self.shelf)
    }

    /// Adds the row of a file in `sessions`.
    ///
    /// # Errors
    ///
    /// Returns an error if a part cannot be written.
    pub fn end_file(&mut self, file: SessionFile) -> Result<()> {
        file.row(|cells| self.sessions.columns().push(cells));
        self.sessions.settle(&mut self.shelf)
    }

    /// Ends both tables.
    ///
    /// # Errors
    ///
    /// Returns an error if a part cannot be written.
    pub fn finish(mut self) -> Result<Written> {
        let (n_rows, n_bytes) = self.events.finish(&mut self.shelf)?;
        let (n_files, more) = self.sessions.finish(&mut self.shelf)?;
        Ok(Written { n_rows, n_files, n_bytes: n_bytes + more, n_cut: self.n_cut })
    }
}
