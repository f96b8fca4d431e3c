//! Tool calls that wait for their results, or for their sub-agents.

use std::collections::{HashMap, VecDeque};

use core_model::ToolRun;

use crate::flow::FlowId;

/// The tool calls of a page.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// What a first pass found: for each id, its calls in their order.
    runs: HashMap<String, VecDeque<Run>>,
    open: HashMap<String, Call>,
}

/// What came of a call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Run {
    /// The number of the line with the result.
    pub(crate) answered: Option<u64>,
    pub(crate) is_error: bool,
    pub(crate) duration_ms: Option<i64>,
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
    pub(crate) fn new(runs: &[ToolRun]) -> Self {
        let mut calls = Self::default();
        for run in runs.iter().filter(|run| run.called.is_some()) {
            calls.runs.entry(run.id.clone()).or_default().push_back(Run {
                answered: run.answered.map(|answered| answered.place.line),
                is_error: run.is_error == Some(true),
                duration_ms: run.duration_ms,
            });
        }
        calls
    }

    /// Returns what comes of the next call of this id.
    pub(crate) fn next_run(&mut self, id: &str) -> Run {
        self.runs.get_mut(id).and_then(VecDeque::pop_front).unwrap_or_default()
    }

    /// Returns whether the next call of this id fails.
    pub(crate) fn fails(&self, id: &str) -> bool {
        let next = self.runs.get(id).and_then(VecDeque::front);
        next.is_some_and(|run| run.is_error)
    }

    /// Opens a call.
    pub(crate) fn start(&mut self, id: String, flow: FlowId, depth: usize, is_answered: bool) {
        self.open.insert(id, Call { flow, depth, is_answered });
    }

    /// Returns a call that is open.
    pub(crate) fn get(&self, id: &str) -> Option<Call> {
        self.open.get(id).copied()
    }

    /// Takes note of the result of a call.
    pub(crate) fn answer(&mut self, id: &str) {
        if let Some(call) = self.open.get_mut(id) {
            call.is_answered = true;
        }
    }

    /// Ends a call, if no result is to come.
    pub(crate) fn close(&mut self, id: &str) -> Option<FlowId> {
        self.open.get(id).filter(|call| call.is_answered)?;
        self.open.remove(id).map(|call| call.flow)
    }
}
