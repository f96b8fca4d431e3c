//! Writes the two tables of a folder, line by line.
//!
//! In: `{"type":"user","message":{"content":"Hi"},..}` of `a.jsonl`. Out: a row of `events` with
//! `file` `a.jsonl`, `block_type` `text`, `text` `Hi`.

use std::path::Path;

use core_model::Event;
use jsonl::Line;

use crate::{EventRows, NewFiles, Response, Result, SessionFile, SessionRows, Shelf, parts::Parts};

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
    rows: EventRows,
    session_rows: SessionRows,
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
        Self {
            shelf,
            events: Parts::new("events"),
            sessions: Parts::new("sessions"),
            rows: EventRows::new(options.with_raw),
            session_rows: SessionRows::default(),
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
        self.rows.push(file, line, event, response);
        self.events.settle(self.rows.columns(), &mut self.shelf)
    }

    /// Adds the row of a file in `sessions`.
    ///
    /// # Errors
    ///
    /// Returns an error if a part cannot be written.
    pub fn end_file(&mut self, file: SessionFile) -> Result<()> {
        self.session_rows.push(&file);
        self.sessions.settle(self.session_rows.columns(), &mut self.shelf)
    }

    /// Ends both tables.
    ///
    /// # Errors
    ///
    /// Returns an error if a part cannot be written.
    pub fn finish(mut self) -> Result<Written> {
        let (n_rows, n_bytes) = self.events.finish(self.rows.columns(), &mut self.shelf)?;
        let (n_files, more) = self.sessions.finish(self.session_rows.columns(), &mut self.shelf)?;
        Ok(Written { n_rows, n_files, n_bytes: n_bytes + more, n_cut: self.rows.n_cut() })
    }
}
