//! Finds the key and the cost of each response of a file, so that tables have them on rows.
//!
//! In: `{"requestId":"r","message":{"id":"m","model":"claude-opus-4-5","usage":{..}}}`. Out: the key
//! `m r`, and the cost of its tokens.
//!
//! As in [`Usage`](crate::Usage), the outcome of a run replaces the usage of its responses: it has
//! the cost, under the key of the last response.

use std::collections::HashSet;

use core_model::{Body, CostPolicy, Event, Formats, Origin, Tokens, event_millis};

use super::{Prices, cache_hour};

/// The key and the cost of a response.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Priced {
    /// The id of the message and that of the request, as far as they are known; without the former,
    /// the id of the response's record.
    pub key: Option<String>,
    /// The cost in US dollars, as the log states it or else by prices; `None` if the model is
    /// unknown, or if the outcome of the run has the cost.
    pub cost: Option<f64>,
    /// The tokens of the response, as this event counts them.
    pub tokens: Option<Tokens>,
    /// For the outcome of a run that was observed just before: the offsets, ascending, of the records whose cost
    /// it has instead. For all other events, it is empty.
    pub covered: Vec<u64>,
}

/// Finds the keys and the costs of the responses of one file, in the order of the file. Each event is observed
/// before it is priced: either all events are observed first, or each event is priced at once. In the second case,
/// [`Priced::covered`] takes back the costs of earlier responses.
#[derive(Debug)]
pub struct PricedResponses<'p> {
    formats: Formats,
    prices: &'p Prices,
    /// The offsets of the records whose cost an outcome has.
    covered: HashSet<u64>,
    /// The offsets of the records whose cost the outcome that was observed last has.
    covered_last: Vec<u64>,
    /// The offsets of the responses since the last outcome.
    open: Vec<u64>,
    /// The key of the last response of the run.
    last_key: Option<String>,
    /// Whether the run has several responses.
    has_several: bool,
    model: String,
    time: Option<i64>,
    /// The total of the session, as the last record with one says.
    last_total: Option<Tokens>,
    /// The cost of the session so far, in formats whose outcomes state that.
    cost: f64,
}

impl<'p> PricedResponses<'p> {
    /// Starts a file.
    pub fn new(formats: Formats, prices: &'p Prices) -> Self {
        Self {
            formats,
            prices,
            covered: HashSet::new(),
            covered_last: Vec::new(),
            open: Vec::new(),
            last_key: None,
            has_several: false,
            model: String::new(),
            time: None,
            last_total: None,
            cost: 0.0,
        }
    }

    /// Observes an event of the record at an offset.
    pub fn observe(&mut self, event: &Event<'_>, offset: u64) {
        match &event.body {
            Body::Message(message) if message.usage.is_some_and(|usage| !usage.is_null()) => {
                self.open.push(offset);
            }
            Body::Usage(usage) if usage.message_id.is_none() => self.open.push(offset),
            Body::Outcome(outcome) => {
                let has_usage = outcome.usage.is_some_and(|usage| usage.is_object());
                let has_cost = outcome.cost.is_some_and(|cost| cost.as_f64().is_some());
                let open = std::mem::take(&mut self.open);
                if has_usage || has_cost {
                    self.covered.extend(&open);
                    self.covered_last = open;
                }
            }
            _ => {}
        }
    }

    /// Returns the key and the cost of an event of the record at an offset.
    pub fn price(&mut self, event: &Event<'_>, offset: u64) -> Priced {
        let format = self.formats.by_name(event.format);
        let origin = || format.map(|format| (format.origin)(event)).unwrap_or_default();
        self.time = event_millis(event).or(self.time);
        match &event.body {
            Body::Start(start) => self.note_model(start.model),
            Body::Message(message) => {
                let origin = origin();
                let key = key(event, &origin);
                let Some(usage) = message.usage.filter(|usage| !usage.is_null()) else {
                    return Priced { key, ..Priced::default() };
                };
                self.note_model(message.model);
                let key = key.or_else(|| record_key(event, &origin));
                self.note_key(key.as_ref());
                let model = message.model.map(|model| model.decode()).unwrap_or_default();
                let stated = origin.cost.and_then(|cost| cost.as_f64());
                let tokens = usage.tokens();
                let by_price = || self.prices.cost(&model, self.time, tokens, cache_hour(&usage));
                let cost = stated.or_else(by_price).filter(|_| !self.covered.contains(&offset));
                return Priced { key, cost, tokens: Some(tokens), ..Priced::default() };
            }
            Body::Usage(usage) if usage.message_id.is_none() => {
                let tokens = usage.since(&mut self.last_total);
                let origin = origin();
                let key = key(event, &origin).or_else(|| record_key(event, &origin));
                let cost =
                    tokens.and_then(|tokens| self.prices.cost(&self.model, self.time, tokens, 0));
                let cost = cost.filter(|_| !self.covered.contains(&offset));
                self.note_key(key.as_ref());
                return Priced { key, cost, tokens, ..Priced::default() };
            }
            Body::Outcome(outcome) => {
                let policy = format.map(|format| format.cost).unwrap_or_default();
                let stated = outcome.cost.and_then(|cost| cost.as_f64());
                let stated = stated.map(|cost| match policy {
                    CostPolicy::PerInteraction => cost,
                    CostPolicy::Cumulative => {
                        (cost - std::mem::replace(&mut self.cost, cost)).max(0.0)
                    }
                });
                let usage = outcome.usage.filter(|usage| usage.is_object());
                let is_of_run = self.has_several || self.last_key.is_none();
                let by_price = || {
                    let usage = usage?;
                    let (tokens, hour) = (usage.tokens(), cache_hour(&usage));
                    let price = if is_of_run { Prices::cost_of_several } else { Prices::cost };
                    price(self.prices, &self.model, self.time, tokens, hour)
                };
                let cost = stated.or_else(by_price);
                self.has_several = false;
                let key = self.last_key.take().filter(|_| cost.is_some());
                let covered = std::mem::take(&mut self.covered_last);
                return Priced { key, cost, tokens: None, covered };
            }
            _ => {}
        }
        Priced::default()
    }

    fn note_key(&mut self, key: Option<&String>) {
        if self.last_key.as_ref() != key {
            self.has_several |= self.last_key.is_some();
            self.last_key = key.cloned();
        }
    }

    fn note_model(&mut self, model: Option<jsonl::Text<'_>>) {
        if let Some(model) = model {
            self.model.clear();
            self.model.push_str(&model.decode());
        }
    }
}

/// Returns the key of a response; `None` if it has no id.
fn key(event: &Event<'_>, origin: &Origin<'_>) -> Option<String> {
    let message = event.message();
    let Some(id) = message.and_then(|message| message.id) else {
        return Some(origin.response?.decode().into_owned());
    };
    let id = id.decode();
    Some(match message.and_then(|message| message.request_id) {
        Some(request) => [&*id, " ", &*request.decode()].concat(),
        None => id.into_owned(),
    })
}

/// Returns the key of a response by the id of its record, with the time if other sessions may have
/// the same id; `None` without an id.
fn record_key(event: &Event<'_>, origin: &Origin<'_>) -> Option<String> {
    let id = origin.id?.decode();
    Some(match event.context.time.filter(|_| origin.is_local) {
        Some(time) => [&*id, " ", time.as_str().trim_matches('"')].concat(),
        None => id.into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use jsonl::Scanner;

    use super::*;

    static FORMATS: Formats = Formats::new(&[&format_claude_code::FORMAT, &format_clido::FORMAT]);

    fn priced(format: &core_model::Format, lines: &[&str]) -> Vec<Priced> {
        let prices = Prices::parse("m\t2026-01-01\t1\t10\t2\t0.5\n").expect("prices");
        let mut responses = PricedResponses::new(FORMATS, &prices);
        let (mut scanner, mut all) = (Scanner::default(), Vec::new());
        for (offset, line) in (0..).zip(lines) {
            let value = scanner.scan_slice(line.as_bytes(), 0).expect("a line");
            responses.observe(&format.first_event(value), offset);
        }
        for (offset, line) in (0..).zip(lines) {
            let value = scanner.scan_slice(line.as_bytes(), 0).expect("a line");
            all.push(responses.price(&format.first_event(value), offset));
        }
        all
    }

    #[test]
    fn a_response_has_a_key_and_the_cost_of_its_tokens_and_the_cache() {
        let line = |model: &str, request: &str| {
            format!(
                r#"{{"type":"assistant","uuid":"1"{request},"message":{{"role":"assistant","id":"a","model":"{model}","content":[],"usage":{{"input_tokens":1000000,"output_tokens":100000,"cache_read_input_tokens":2000000,"cache_creation_input_tokens":500000}}}}}}"#
            )
        };
        let known = line("m", r#","requestId":"r""#);
        let unknown = line("n", "");
        let key = |key: &str| Some(key.to_owned());
        let tokens = Some(Tokens {
            input: 1_000_000,
            output: 100_000,
            cache_read: 2_000_000,
            cache_creation: 500_000,
        });
        assert_eq!(
            priced(&format_claude_code::FORMAT, &[&known, &unknown, r#"{"type":"x"}"#]),
            [
                Priced {
                    key: key("a r"),
                    cost: Some(1.0 + 1.0 + 1.0 + 1.0),
                    tokens,
                    ..Priced::default()
                },
                Priced { key: key("a"), cost: None, tokens, ..Priced::default() },
                Priced::default(),
            ]
        );
    }

    #[test]
    fn an_outcome_has_the_cost_of_its_run() {
        let result = |cost: f64| {
            format!(
                r#"{{"type":"result","exit_status":"completed","total_cost_usd":{cost},"num_turns":1,"duration_ms":1}}"#
            )
        };
        let costs = |lines: &[&str]| -> Vec<Option<f64>> {
            priced(&format_clido::FORMAT, lines).into_iter().map(|priced| priced.cost).collect()
        };
        // clido states the cost of the session so far.
        let (first, second) = (result(0.25), result(0.75));
        assert_eq!(costs(&[&first, &second]), [Some(0.25), Some(0.5)]);
    }
}
