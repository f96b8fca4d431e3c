//! Collects the rows of the two tables as batches of Arrow.
//!
//! In: `{"type":"user","message":{"content":"Hi"},..}` of `a.jsonl`. Out: a row with `file` `a.jsonl`,
//! `block_type` `text`, `text` `Hi`.

use core_model::{Body, Event};
use jsonl::Line;

use crate::{
    Columns, EVENTS, Response, SESSIONS, SessionFile,
    block::Words,
    columns::Cell,
    row::Row,
    schema::{COST, RAW, TOKENS},
};

/// Limit in bytes for the raw bytes of a row, because a Parquet page holds at most 2 GiB. A longer
/// line has several rows.
const MAX_RAW: usize = 64 * 1024 * 1024;

/// Rows of `events` that are not taken yet.
#[derive(Debug)]
pub struct EventRows {
    columns: Columns,
    with_raw: bool,
    /// The number of the next row of the last line.
    next_block: u64,
    /// The number of texts that were cut at 64 MiB.
    n_cut: u64,
}

impl EventRows {
    /// Creates an empty table, with the bytes of the lines as its last column if asked for.
    pub fn new(with_raw: bool) -> Self {
        Self {
            columns: Columns::new(EVENTS, with_raw.then_some(RAW)),
            with_raw,
            next_block: 0,
            n_cut: 0,
        }
    }

    /// Adds the rows of a line of a file that was observed, with the key and the cost of its response. The
    /// event of an unreadable line is `None`.
    pub fn push(
        &mut self,
        file: &mut SessionFile,
        line: &Line<'_>,
        event: Option<&Event<'_>>,
        response: &Response,
    ) {
        // A line with several events has its bytes once, and goes on counting its rows.
        let is_first = event.is_none_or(|event| event.nth == 0);
        let raw = if self.with_raw && is_first { line.bytes() } else { b"" };
        let mut raws = raw.chunks(MAX_RAW).map(Cell::Bytes);
        for row_idx in file.superseded() {
            self.columns.clear(row_idx, TOKENS);
            self.columns.clear(row_idx, COST);
        }
        if event.is_some_and(|event| matches!(event.body, Body::Outcome(_))) {
            for row_idx in file.covered(&response.covered) {
                self.columns.clear(row_idx, COST);
            }
        }
        let mut row = Row::new(file, line, event, response, self.columns.n_rows());
        if !is_first {
            row.block = self.next_block;
        }
        let first_block = row.block;
        let blocks =
            event.and_then(Event::message).into_iter().flat_map(|message| message.blocks());
        for (block, _) in blocks {
            let mut words = Words::of_block(block);
            file.name_tool(&mut words);
            self.n_cut += u64::from(words.is_cut);
            row.push(file, &words, raws.next(), &mut self.columns);
        }
        if row.block == first_block && (event.is_some() || !line.is_blank() || self.with_raw) {
            let words = event.map(Words::of_event).unwrap_or_default();
            self.n_cut += u64::from(words.is_cut);
            row.push(file, &words, raws.next(), &mut self.columns);
        }
        for raw in raws {
            row.push(file, &Words::default(), Some(raw), &mut self.columns);
        }
        self.next_block = row.block;
    }

    /// Returns the rows.
    pub fn columns(&mut self) -> &mut Columns {
        &mut self.columns
    }

    #[cfg(feature = "parquet")]
    pub(crate) fn n_cut(&self) -> u64 {
        self.n_cut
    }
}

/// Rows of `sessions` that are not taken yet.
#[derive(Debug)]
pub struct SessionRows {
    columns: Columns,
}

impl Default for SessionRows {
    fn default() -> Self {
        Self { columns: Columns::new(SESSIONS, None) }
    }
}

impl SessionRows {
    /// Adds the row of a file whose lines were observed.
    pub fn push(&mut self, file: &SessionFile) {
        file.row(|cells| self.columns.push(cells));
    }

    /// Returns the rows.
    pub fn columns(&mut self) -> &mut Columns {
        &mut self.columns
    }
}
