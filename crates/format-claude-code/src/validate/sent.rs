//! Separates problems that stop the client from warnings: only a problem on a line that the client
//! sends stops it.
//!
//! The client sends the chain from its leaf back to the last compaction. A fault on an abandoned
//! branch, or before the compaction, does not reach the API. The chain is known at the end of the
//! file, so problems that stop wait here until then.

use std::collections::HashSet;

use core_model::{Event, Findings, Options, Place, Plan, Planner, Problem, Role, Severity};

use crate::Chain;

/// The chain, and the problems that stop the client if their lines are part of it.
#[derive(Debug)]
pub(super) struct Sent {
    chain: Chain,
    waiting: Vec<Waiting>,
    messages: Vec<Message>,
}

/// A message that may be on the chain.
#[derive(Debug)]
struct Message {
    place: Place,
    /// Whether the API refuses a history that starts with it.
    must_not_be_first: bool,
}

#[derive(Debug)]
struct Waiting {
    problem: Problem,
    /// Whether the line may be part of the chain: it has a `uuid` and is no sidechain line.
    may_be_sent: bool,
}

impl Default for Sent {
    fn default() -> Self {
        let options = Options { from_last_compaction: true, ..Options::default() };
        Self { chain: Chain::new(&options), waiting: Vec::new(), messages: Vec::new() }
    }
}

impl Sent {
    /// Adds a line to the chain. `role` is the role of a message that the client sends.
    pub(super) fn line(&mut self, event: &Event<'_>, role: Option<Role>, place: Place) {
        self.chain.observe(place.offset, event);
        let Some(role) = role else { return };
        // If a line is its own parent, the client continues with the line before it.
        let ids = event.context.uuid.zip(event.context.parent.value());
        let follows_itself = ids.is_some_and(|(id, parent)| id.decode() == parent.decode());
        let must_not_be_first = role == Role::Assistant && !follows_itself;
        self.messages.push(Message { place, must_not_be_first });
    }

    /// Stores a problem that stops until the chain is known, and returns any other problem.
    pub(super) fn hold(&mut self, problem: Problem, may_be_sent: bool) -> Option<Problem> {
        if !problem.stops() {
            return Some(problem);
        }
        self.waiting.push(Waiting { problem, may_be_sent });
        None
    }

    /// Reports the stored problems: as errors if their lines are sent, else as warnings.
    pub(super) fn finish(&mut self, out: &mut Findings<'_>) {
        let plan = Box::new(std::mem::take(&mut self.chain)).finish();
        for Waiting { problem, may_be_sent } in self.waiting.drain(..) {
            let Problem { offset, line, rule, message, .. } = problem;
            let place = Place { line, offset };
            if may_be_sent && plan.hides(offset).is_none() {
                out.add(place, Severity::Stops, rule, message);
            } else {
                let message = format!("{message} (not on the chain that is sent)");
                out.add(place, Severity::Warns, rule, message.into());
            }
        }
        self.check_first(&plan, out);
    }

    /// Reports a history that starts with the assistant.
    fn check_first(&self, plan: &Plan, out: &mut Findings<'_>) {
        let late: HashSet<u64> = plan.late.iter().map(|late| late.offset).collect();
        let is_late = |place: Place| late.contains(&place.offset);
        let is_sent = |message: &&Message| plan.hides(message.place.offset).is_none();
        let mut sent = self.messages.iter().filter(is_sent);
        if let Some(first) = sent.find(|message| !is_late(message.place))
            && first.must_not_be_first
        {
            let message = "the first message that is sent is not the user's: the API refuses it";
            out.add(first.place, Severity::Stops, "prompt-first", message.into());
        }
    }
}
