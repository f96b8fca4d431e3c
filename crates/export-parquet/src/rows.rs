//! Collects the rows of the two tables as batches of Arrow.
//!
//! In: `{"type":"user","message":{"content":"Hi"},..}` of `a.jsonl`. Out: a row with `file` `a.jsonl`,
//! `block_type` `text`, `text` `Hi`.

use core_model::{Block, Body, Event};
use jsonl::{Line, TextBuf};

use crate::{
    Columns, Response, Selection, SessionFile,
    block::Words,
    columns::Cell,
    row::{Needs, Row},
    schema::{Place, TOKENS},
};

/// Limit in bytes for the raw bytes of a row, because a Parquet page holds at most 2 GiB. A longer
/// line has several rows.
const MAX_RAW: usize = 64 * 1024 * 1024;

/// Rows of `events` that are not taken yet.
#[derive(Debug)]
pub struct EventRows {
    columns: Columns,
    needs: Needs,
    needs_prices: bool,
    with_raw: bool,
    buf: TextBuf,
    /// The number of the next row of the last line.
    next_block: u64,
    /// The number of texts that were cut at 64 MiB.
    n_cut: u64,
}

impl EventRows {
    /// Creates an empty table, with the bytes of the lines as its last column if asked for.
    pub fn new(with_raw: bool) -> Self {
        Self::of(Selection::all_events(with_raw))
    }

    /// Creates an empty table with some columns of `events`.
    pub fn of(selection: Selection) -> Self {
        Self {
            needs: Needs::of(&selection),
            needs_prices: selection.has(Place::Cost) || selection.has(Place::ResponseKey),
            with_raw: selection.has(Place::Raw),
            columns: Columns::new(selection),
            buf: TextBuf::default(),
            next_block: 0,
            n_cut: 0,
        }
    }

    /// Returns whether later lines of a file can change rows: whether there is a column with tokens or costs. If
    /// not, lines need not be observed.
    pub fn needs_later_lines(&self) -> bool {
        self.needs.tokens
    }

    /// Returns whether a column needs the key or the cost of responses.
    pub fn needs_prices(&self) -> bool {
        self.needs_prices
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
        let Self { columns, buf, needs, .. } = self;
        for row_idx in file.superseded() {
            for place in TOKENS.into_iter().chain([Place::Cost]) {
                columns.clear(row_idx, place as usize);
            }
        }
        if event.is_some_and(|event| matches!(event.body, Body::Outcome(_))) {
            for row_idx in file.covered(&response.covered) {
                columns.clear(row_idx, Place::Cost as usize);
            }
        }
        let mut row = Row::new(*needs, file, line, event, response, columns.n_rows());
        if !is_first {
            row.block = self.next_block;
        }
        let first_block = row.block;
        let blocks =
            event.and_then(Event::message).into_iter().flat_map(|message| message.blocks());
        for (block, _) in blocks {
            if let Block::ToolUse(tool) = &block
                && needs.tool_name
            {
                file.note_tool(tool);
            }
            let is_cut = row.push(file, &Words::of_block(block), raws.next(), columns, buf);
            self.n_cut += u64::from(is_cut);
        }
        if row.block == first_block && (event.is_some() || !line.is_blank() || self.with_raw) {
            let words = event.map(Words::of_event).unwrap_or_default();
            let is_cut = row.push(file, &words, raws.next(), columns, buf);
            self.n_cut += u64::from(is_cut);
        }
        for raw in raws {
            row.push(file, &Words::default(), Some(raw), columns, buf);
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
        Self::of(Selection::all_sessions())
    }
}

impl SessionRows {
    /// Creates an empty table with some columns of `sessions`.
    pub fn of(selection: Selection) -> Self {
        Self { columns: Columns::new(selection) }
    }

    /// Adds the row of a file whose lines were observed.
    pub fn push(&mut self, file: &SessionFile) {
        file.row(|cells| {
            for (place, cell) in cells.iter().enumerate() {
                self.columns.set(place, *cell);
            }
        });
        self.columns.end_row();
    }

    /// Returns the rows.
    pub fn columns(&mut self) -> &mut Columns {
        &mut self.columns
    }
}
