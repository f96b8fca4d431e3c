//! Adds up the cost of a session in US dollars. Formats define the cost of an outcome differently.
//!
//! In: outcomes with costs of 0.1 and 0.3. Out: 0.4 by [`CostPolicy::PerInteraction`], 0.3 by
//! [`CostPolicy::Cumulative`].

use crate::{Body, Event};

/// The meaning of the cost in an outcome.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum CostPolicy {
    /// The cost of its interaction, as in the Agent SDK. The total is the sum.
    #[default]
    PerInteraction,
    /// The cost of the session so far, as in clido. The total is the last one.
    Cumulative,
}

/// Sum of the costs of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    sum: Option<f64>,
    last: Option<f64>,
}

impl Costs {
    /// Adds an event.
    pub fn push(&mut self, event: &Event<'_>) {
        let Body::Outcome(outcome) = &event.body else { return };
        let Some(cost) = outcome.cost.and_then(|cost| cost.as_f64()) else { return };
        self.sum = Some(self.sum.unwrap_or(0.0) + cost);
        self.last = Some(cost);
    }

    /// Returns the cost; `None` if no outcome has one.
    pub fn total(&self, policy: CostPolicy) -> Option<f64> {
        match policy {
            CostPolicy::PerInteraction => self.sum,
            CostPolicy::Cumulative => self.last,
        }
    }
}
