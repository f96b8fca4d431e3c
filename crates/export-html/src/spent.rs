//! Collects the tokens and the cost of each response in the first pass, and writes them at the response in
//! the second.
//!
//! In: two lines of the response `msg_1` with 1 and 9 written tokens. Out: `9` at the first of them.

use core_model::{Body, ByHash, Event, IdHasher, Tokens};

use crate::{
    html::Html,
    words::{dollars, grouped, rounded},
};

/// Tokens and cost of a response.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// The tokens.
    pub tokens: Tokens,
    /// The cost in US dollars; `None` if the model has no price.
    pub cost: Option<f64>,
}

/// The responses of a session whose tokens are still to be written.
#[derive(Debug, Default)]
pub(crate) struct Responses {
    spent: ByHash<Spent>,
    /// The keys of the responses since the last outcome.
    open: Vec<u64>,
}

impl Responses {
    /// Notes the tokens and the cost of the response of an event. Of several, the largest count.
    pub(crate) fn note(&mut self, event: &Event<'_>, line: u64, hasher: &IdHasher, spent: Spent) {
        let key = key(event, line, hasher);
        let slot = self.spent.entry(key).or_insert_with(|| {
            self.open.push(key);
            Spent::default()
        });
        let weight = |tokens: Tokens| (tokens.output, tokens.total());
        if weight(spent.tokens) >= weight(slot.tokens) {
            *slot = Spent { cost: spent.cost.or(slot.cost), ..spent };
        }
    }

    /// Removes the responses since the last outcome, if the outcome has the tokens or the cost of all
    /// of them: then the counts in messages are preliminary.
    pub(crate) fn end_run(&mut self, event: &Event<'_>) {
        let Body::Outcome(outcome) = &event.body else { return };
        let has_usage = outcome.usage.is_some_and(|usage| usage.is_object());
        let has_cost = outcome.cost.is_some_and(|cost| cost.as_f64().is_some());
        for key in std::mem::take(&mut self.open) {
            if has_usage || has_cost {
                self.spent.remove(&key);
            }
        }
    }

    /// Returns the cost of all responses; `None` if none has one.
    pub(crate) fn cost(&self) -> Option<f64> {
        let costs = self.spent.values().filter_map(|spent| spent.cost);
        costs.fold(None, |sum, cost| Some(sum.unwrap_or(0.0) + cost))
    }

    /// Removes and returns the tokens of an event's response.
    pub(crate) fn take(
        &mut self,
        event: &Event<'_>,
        line: u64,
        hasher: &IdHasher,
    ) -> Option<Spent> {
        self.spent.remove(&key(event, line, hasher)).filter(|spent| spent.tokens.total() > 0)
    }
}

/// Returns the key of a response: the hash of the message's id and the request's, or else the number of
/// the line.
fn key(event: &Event<'_>, line: u64, hasher: &IdHasher) -> u64 {
    let message = event.message();
    let Some(id) = message.and_then(|message| message.id) else { return line };
    let id = hasher.hash_text(id);
    let request = message.and_then(|message| message.request_id);
    request.map_or(id, |request| {
        let request = hasher.hash_text(request);
        hasher.hash([id, request].map(u64::to_le_bytes).as_flattened())
    })
}

/// Appends the tokens that were sent and written, and the cost.
pub(crate) fn push_spent(html: &mut Html, spent: Spent) {
    let Tokens { input, output, cache_read, cache_creation } = spent.tokens;
    html.markup("<p class=\"spent\" title=\"").text(&grouped(input)).markup(" tokens sent, ");
    html.text(&grouped(cache_read)).markup(" read from the cache, ").text(&grouped(cache_creation));
    html.markup(" written to the cache, ").text(&grouped(output)).markup(" answered\">");
    let sent = input.saturating_add(cache_read).saturating_add(cache_creation);
    html.text(&rounded(sent)).markup(" → ").text(&rounded(output));
    if let Some(cost) = spent.cost {
        html.markup(" <b>").text(&dollars(cost)).markup("</b>");
    }
    html.markup("</p>");
}
