//! Tracks tool calls that wait for their results or for their sub-agents.
//!
//! In: a call of `toolu_1`, then its result. Out: the part of the page into which the result is
//! written.

use core_model::ByHash;

use crate::{
    code::Language,
    flow::FlowId,
    runs::{Run, Runs},
};

/// The tool calls of a page.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// The calls that the first pass found.
    runs: Runs,
    /// Open calls, by hashes of their ids.
    open: ByHash<Call>,
}

/// An open call: its result and its sub-agent are written into it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) flow: FlowId,
    pub(crate) depth: usize,
    /// The language of the file that the call reads.
    pub(crate) language: Option<Language>,
    /// Whether no further result follows.
    pub(crate) is_answered: bool,
}

impl Calls {
    /// Creates the list from the calls of the first pass.
    pub(crate) fn new(runs: Runs) -> Self {
        Self { runs, open: ByHash::default() }
    }

    /// Removes and returns the next call with an id.
    pub(crate) fn next_run(&mut self, id: u64) -> Option<Run> {
        self.runs.take_next(id)
    }

    /// Returns whether the next call with an id fails.
    pub(crate) fn fails(&self, id: u64) -> bool {
        self.runs.next(id).is_some_and(|run| run.is_error)
    }

    /// Opens a call.
    pub(crate) fn start(&mut self, id: u64, call: Call) {
        self.open.insert(id, call);
    }

    /// Returns a call that is open.
    pub(crate) fn get(&self, id: u64) -> Option<Call> {
        self.open.get(&id).copied()
    }

    /// Marks a call as answered.
    pub(crate) fn answer(&mut self, id: u64) {
        if let Some(call) = self.open.get_mut(&id) {
            call.is_answered = true;
        }
    }

    /// Removes an answered call and returns its part of the page.
    pub(crate) fn close(&mut self, id: u64) -> Option<FlowId> {
        self.open.get(&id).filter(|call| call.is_answered)?;
        self.open.remove(&id).map(|call| call.flow)
    }
}
