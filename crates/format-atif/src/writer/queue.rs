//! The steps that wait: for the results of their calls, or for the steps before them.
//!
//! In: a response with the call `t1`, a prompt, and the result of `t1`. Out: the response with its
//! result, then the prompt.

use std::collections::VecDeque;

use core_model::Output;

use super::{DocumentWriter, step::Step};

/// Limit on the steps that wait. Beyond it, the first one counts as complete.
const MAX_WAITING: usize = 64;

/// The steps that are not written yet, in order.
#[derive(Debug, Default)]
pub(super) struct Queue(VecDeque<Step>);

impl Queue {
    pub(super) fn push(&mut self, step: Step) {
        self.0.push_back(step);
    }

    /// Returns the last step.
    pub(super) fn last(&mut self) -> Option<&mut Step> {
        self.0.back_mut()
    }

    /// Returns the last response that waits.
    pub(super) fn last_response(&mut self) -> Option<&mut Step> {
        self.0.iter_mut().rev().find(|step| step.source == "agent")
    }

    /// Returns the step of a call.
    pub(super) fn step_of(&mut self, id: &str) -> Option<&mut Step> {
        self.0.iter_mut().rev().find(|step| step.calls.contains_key(id))
    }

    /// Removes and returns the first step if it is complete: the results of its calls are there, and
    /// no later line can be of the same response.
    fn take_complete(&mut self) -> Option<Step> {
        let first = self.0.front()?;
        let is_last_response = || {
            let is_response = |step: &&Step| step.source == "agent";
            first.source == "agent" && self.0.iter().skip(1).find(is_response).is_none()
        };
        let waits = first.n_awaited > 0 || is_last_response();
        (!waits || self.0.len() > MAX_WAITING).then(|| self.0.pop_front()).flatten()
    }
}

impl DocumentWriter {
    /// Writes the steps that are complete.
    pub(super) fn emit_complete(&mut self, out: &mut Output) {
        while let Some(step) = self.queue.take_complete() {
            self.emit(step, out);
        }
    }

    /// Writes all steps.
    pub(super) fn emit_all(&mut self, out: &mut Output) {
        while let Some(step) = self.queue.0.pop_front() {
            self.emit(step, out);
        }
    }

    fn emit(&mut self, step: Step, out: &mut Output) {
        self.write_head(out);
        self.is_dirty = true;
        self.totals.add_step(step.tokens);
        step.write(self.totals.n_steps, out);
    }
}
