//! Tool calls that wait for their results, or for their sub-agents.

use core_model::ByHash;

use crate::{
    flow::FlowId,
    runs::{Run, Runs},
};

/// The tool calls of a page.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// What a first pass found.
    runs: Runs,
    /// By the hashes of their ids.
    open: ByHash<Call>,
}

/// A call that others can be put into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) flow: FlowId,
    pub(crate) depth: usize,
    /// Whether no result is to come.
    is_answered: bool,
}

impl Calls {
    /// Creates the list of what a first pass found.
    pub(crate) fn new(runs: Runs) -> Self {
        Self { runs, open: ByHash::default() }
    }

    /// Returns what comes of the next call of this id.
    pub(crate) fn next_run(&mut self, id: u64) -> Option<Run> {
        self.runs.take_next(id)
    }

    /// Returns whether the next call of this id fails.
    pub(crate) fn fails(&self, id: u64) -> bool {
        self.runs.next(id).is_some_and(|run| run.is_error)
    }

    /// Opens a call.
    pub(crate) fn start(&mut self, id: u64, flow: FlowId, depth: usize, is_answered: bool) {
        self.open.insert(id, Call { flow, depth, is_answered });
    }

    /// Returns a call that is open.
    pub(crate) fn get(&self, id: u64) -> Option<Call> {
        self.open.get(&id).copied()
    }

    /// Takes note of the result of a call.
    pub(crate) fn answer(&mut self, id: u64) {
        if let Some(call) = self.open.get_mut(&id) {
            call.is_answered = true;
        }
    }

    /// Ends a call, if no result is to come.
    pub(crate) fn close(&mut self, id: u64) -> Option<FlowId> {
        self.open.get(&id).filter(|call| call.is_answered)?;
        self.open.remove(&id).map(|call| call.flow)
    }
}
