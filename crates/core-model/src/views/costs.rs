//! What a session cost, in US dollars: outcomes mean different things by it.

use crate::{Body, Event};

/// What the cost of an outcome means.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum CostPolicy {
    /// The cost of its interaction, as the Agent SDK has it: the sum counts.
    #[default]
    PerInteraction,
    /// The cost of the session so far, as clido's terminal has it: the last one counts.
    Cumulative,
}

/// Gathers what a session cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    sum: Option<f64>,
    last: Option<f64>,
}

impl Costs {
    /// Takes note of an event.
    pub fn push(&mut self, event: &Event<'_>) {
        let Body::Outcome(outcome) = &event.body else { return };
        let Some(cost) = outcome.cost.and_then(|cost| cost.as_f64()) else { return };
        self.sum = Some(self.sum.unwrap_or(0.0) + cost);
        self.last = Some(cost);
    }

    /// Returns the cost; `None` if no outcome tells one.
    pub fn total(&self, policy: CostPolicy) -> Option<f64> {
        match policy {
            CostPolicy::PerInteraction => self.sum,
            CostPolicy::Cumulative => self.last,
        }
    }
}
