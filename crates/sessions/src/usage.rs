//! Counts the tokens and the cost of responses, each response once.
//!
//! Clients write a response in several lines, and copy it when they resume or fork a session:
//!
//! ```text
//! a.jsonl  {"requestId":"r","message":{"id":"m","usage":{"output_tokens":1},..},..}
//!          {"requestId":"r","message":{"id":"m","usage":{"output_tokens":9},..},..}
//! b.jsonl  {"requestId":"r","message":{"id":"m","usage":{"output_tokens":9},..},..}
//! ```
//!
//! In: both files. Out: one response of `a.jsonl` with 9 tokens.

mod priced;
mod prices;
mod table;

use std::collections::HashMap;

use core_model::{
    Body, ByHash, CostPolicy, Event, Format, Hashes, IdSet, NameRoom, OTHERS, Tokens, event_millis,
};

use self::table::{Entry, NO_TIME, Table};
pub use self::{
    priced::{Priced, PricedResponses},
    prices::{PriceError, Prices},
};
use crate::turns::{Rank, TurnKey, TurnKeys};

/// The words that responses are grouped by.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
struct Label {
    model: Option<String>,
    project: Option<String>,
    agent: &'static str,
}

/// The distinct labels of responses.
#[derive(Debug, Default)]
struct Labels {
    all: Vec<Label>,
    places: HashMap<Label, u32>,
}

impl Labels {
    /// Returns the index of a label. Names that have no room become `(others)`.
    fn place_within(&mut self, names: &mut Names, mut label: Label) -> u32 {
        if !self.places.contains_key(&label) {
            let Label { model, project, .. } = &mut label;
            for name in [model, project].into_iter().flatten() {
                if !names.add(name) {
                    OTHERS.clone_into(name);
                }
            }
        }
        self.place(label)
    }

    fn place(&mut self, label: Label) -> u32 {
        if let Some(place) = self.places.get(&label) {
            return *place;
        }
        let place = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(label.clone());
        self.places.insert(label, place);
        place
    }
}

/// The models and folders of a session, about 4 MiB.
#[derive(Debug, Default)]
struct Names {
    known: IdSet,
    room: NameRoom,
}

impl Names {
    /// Adds a name. Returns false if it has no room.
    fn add(&mut self, name: &str) -> bool {
        let is_known = self.known.contains(name);
        let has_room = is_known || self.room.add(name);
        if has_room && !is_known {
            self.known.insert(name);
        }
        has_room
    }
}

/// A response, with the session that it counts for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response<'u> {
    /// The index of the session.
    pub session_idx: usize,
    /// The model, if it is known.
    pub model: Option<&'u str>,
    /// The working directory, if it is known.
    pub project: Option<&'u str>,
    /// The name of the format of the file.
    pub agent: &'static str,
    /// The time of its first record in milliseconds since 1970, to the second.
    pub time: Option<i64>,
    /// The tokens.
    pub tokens: Tokens,
    /// The tokens that were written to a cache for an hour; a part of `tokens.cache_creation`.
    pub cache_hour: u64,
    /// The cost in US dollars that the log states.
    pub cost: Option<f64>,
    /// Whether the tokens are the sum or a share of a run of several requests.
    pub is_of_run: bool,
}

impl Response<'_> {
    /// Returns the cost: as the log states it, or else by prices; `None` if the model has none.
    pub fn cost_by(&self, prices: &Prices) -> Option<f64> {
        let by_price = || {
            let price = if self.is_of_run { Prices::cost_of_several } else { Prices::cost };
            let model = self.model.unwrap_or_default();
            price(prices, model, self.time, self.tokens, self.cache_hour)
        };
        self.cost.or_else(by_price)
    }
}

/// The responses of several sessions, each once. They take at most 64 bytes each.
#[derive(Debug, Default)]
pub struct Usage {
    table: Table,
    labels: Labels,
    /// The ranks of the sessions.
    ranks: Vec<Rank>,
    with_copies: bool,
    elsewhere: Elsewhere,
}

/// Responses of sub-agents that only the sessions that started them mention, with preliminary
/// counts. They are in no total.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Elsewhere {
    /// The number of responses.
    pub n_responses: u64,
    /// The tokens that were counted when the response began.
    pub tokens: Tokens,
}

/// Separates the keys of sessions if copies count.
const SALT: u64 = 0x9e37_79b9_7f4a_7c15;

impl Usage {
    /// Creates an empty table for a number of sessions. With `with_copies`, a response that several
    /// sessions have counts for each of them.
    pub fn of_sessions(n_sessions: usize, with_copies: bool) -> Self {
        Self { ranks: vec![Rank::default(); n_sessions], with_copies, ..Self::default() }
    }

    /// Adds the responses of a session. A response that another session has counts for the session
    /// of lower rank, with the larger of both counts. The order of the calls does not matter.
    pub fn add(&mut self, session_idx: usize, rank: Rank, session: SessionUsage) {
        let elsewhere = session.elsewhere();
        self.elsewhere.n_responses += elsewhere.n_responses;
        self.elsewhere.tokens += elsewhere.tokens;
        let SessionUsage { table, labels, message_ids, .. } = session;
        if let Some(slot) = self.ranks.get_mut(session_idx) {
            *slot = rank;
        }
        drop(message_ids);
        let places: Vec<u32> =
            labels.all.into_iter().map(|label| self.labels.place(label)).collect();
        let salt = if self.with_copies { SALT.wrapping_mul(session_idx as u64) } else { 0 };
        let ranks = &self.ranks;
        let session_idx = u32::try_from(session_idx).unwrap_or(u32::MAX);
        let rank_of = |session_idx: u32| ranks.get(session_idx as usize).copied();
        table.drain(|mut entry| {
            entry.label = places.get(entry.label as usize).copied().unwrap_or_default();
            entry.session = session_idx;
            entry.key = entry.key.wrapping_add(salt);
            self.table.merge(entry, |new, old| rank_of(new.session) < rank_of(old.session));
        });
    }

    /// Returns the responses, in no order.
    pub fn responses(&self) -> impl Iterator<Item = Response<'_>> {
        self.table.entries().map(|entry| {
            let label = self.labels.all.get(entry.label as usize);
            Response {
                session_idx: entry.session as usize,
                model: label.and_then(|label| label.model.as_deref()),
                project: label.and_then(|label| label.project.as_deref()),
                agent: label.map_or("", |label| label.agent),
                time: (entry.time != NO_TIME).then(|| i64::from(entry.time).saturating_mul(1000)),
                tokens: entry.tokens.tokens(),
                cache_hour: entry.tokens.cache_hour,
                cost: (!entry.cost.is_nan()).then_some(entry.cost),
                is_of_run: entry.is_estimated,
            }
        })
    }

    /// Returns the number of responses.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns whether there is no response.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the responses of sub-agents whose own files were not read.
    pub fn elsewhere(&self) -> Elsewhere {
        self.elsewhere
    }
}

/// The responses of one session, each once.
#[derive(Debug)]
pub struct SessionUsage {
    table: Table,
    labels: Labels,
    names: Names,
    /// The label of the last response, with the model and the folder as written.
    last_label: Option<(String, String, u32)>,
    /// Tokens of sub-agents' responses, by the hashes of their message ids.
    told: ByHash<Tokens>,
    /// The message ids of sub-agents' responses.
    message_ids: Hashes,
    file: FileState,
}

/// The state that ends with a file.
#[derive(Debug, Default)]
struct FileState {
    /// The last model and the last folder, as JSON strings.
    model: String,
    cwd: String,
    /// The last time, in seconds.
    time: u32,
    /// The total of the session, as the last record with one says.
    last_total: Option<Tokens>,
    /// The cost of the session so far, in formats whose outcomes state that.
    cost: f64,
    /// The keys of the responses since the last outcome.
    open: Vec<u64>,
}

impl Default for SessionUsage {
    fn default() -> Self {
        Self {
            table: Table::default(),
            labels: Labels::default(),
            names: Names::default(),
            last_label: None,
            told: ByHash::default(),
            message_ids: Hashes::default(),
            file: FileState { time: NO_TIME, ..FileState::default() },
        }
    }
}

impl SessionUsage {
    /// Returns the responses of sub-agents whose own files were not read.
    pub fn elsewhere(&self) -> Elsewhere {
        let mut elsewhere = Elsewhere::default();
        for (_, tokens) in self.told.iter().filter(|(id, _)| !self.message_ids.contains(id)) {
            elsewhere.n_responses += 1;
            elsewhere.tokens += *tokens;
        }
        elsewhere
    }

    /// Starts another file of the session.
    pub fn start_file(&mut self) {
        self.file = FileState { time: NO_TIME, ..FileState::default() };
    }

    /// Adds an event.
    ///
    /// The usage of an outcome replaces that of the responses since the last one, because streams
    /// have preliminary counts in messages, or none.
    pub fn push(
        &mut self,
        keys: &TurnKeys,
        turn: &TurnKey<'_>,
        event: &Event<'_>,
        format: &Format,
    ) {
        let set = |slot: &mut String, text: Option<jsonl::Text<'_>>| {
            if let Some(text) = text
                && slot.as_str() != text.as_str()
            {
                slot.clear();
                slot.push_str(text.as_str());
            }
        };
        set(&mut self.file.cwd, event.context.cwd);
        if let Some(millis) = event_millis(event) {
            self.file.time = seconds(millis);
        }
        match &event.body {
            Body::Start(start) => set(&mut self.file.model, start.model),
            Body::Message(message) => {
                let Some(usage) = message.usage.filter(|usage| !usage.is_null()) else { return };
                set(&mut self.file.model, message.model);
                let mut entry = self.entry(turn, message.model, format);
                entry.tokens = table::Counts::new(usage.tokens(), cache_hour(&usage));
                if let Some((key, message_id)) = keys.response(event) {
                    entry.key = key;
                    if event.is_sub_agent() {
                        self.message_ids.insert(message_id);
                    }
                } else if let Some(response) = turn.origin.response {
                    entry.key = keys.unnamed_response(response);
                }
                self.file.open.push(entry.key);
                self.insert(entry);
            }
            Body::Usage(usage) => {
                if let Some(message_id) = usage.message_id {
                    self.told.insert(keys.message_id(message_id), usage.usage.tokens());
                } else if let Some(tokens) = usage.since(&mut self.file.last_total) {
                    let model = std::mem::take(&mut self.file.model);
                    let mut entry = self.entry(turn, jsonl::Text::new(&model), format);
                    self.file.model = model;
                    entry.tokens = table::Counts::new(tokens, 0);
                    self.file.open.push(entry.key);
                    self.insert(entry);
                }
            }
            Body::Outcome(outcome) => {
                let usage = outcome.usage.filter(|usage| usage.is_object());
                let stated = outcome.cost.and_then(|cost| cost.as_f64());
                let cost = stated.map(|cost| match format.cost {
                    CostPolicy::PerInteraction => cost,
                    CostPolicy::Cumulative => {
                        let since = (cost - self.file.cost).max(0.0);
                        self.file.cost = cost;
                        since
                    }
                });
                let counts = usage.map(|usage| (usage.tokens(), cache_hour(&usage)));
                self.end_run(turn, counts, cost, format);
            }
            _ => {}
        }
    }

    /// Gives the tokens and the cost of a run to its responses: all to the last one.
    fn end_run(
        &mut self,
        turn: &TurnKey<'_>,
        counts: Option<(Tokens, u64)>,
        cost: Option<f64>,
        format: &Format,
    ) {
        let open = std::mem::take(&mut self.file.open);
        if counts.is_none() && cost.is_none() {
            return;
        }
        let Some((last, others)) = open.split_last() else {
            let model = std::mem::take(&mut self.file.model);
            let mut entry = self.entry(turn, jsonl::Text::new(&model), format);
            self.file.model = model;
            let (tokens, hour) = counts.unwrap_or_default();
            entry.tokens = table::Counts::new(tokens, hour);
            entry.cost = cost.unwrap_or(f64::NAN);
            entry.is_estimated = counts.is_some();
            if entry.tokens.total() > 0 || entry.cost > 0.0 {
                self.insert(entry);
            }
            return;
        };
        for key in others.iter().filter(|key| *key != last) {
            self.table.change(*key, |entry| {
                if counts.is_some() {
                    entry.tokens = table::Counts::default();
                    entry.is_estimated = true;
                }
                if cost.is_some() {
                    entry.cost = 0.0;
                }
            });
        }
        self.table.change(*last, |entry| {
            if let Some((tokens, hour)) = counts {
                entry.tokens = table::Counts::new(tokens, hour);
                entry.is_estimated = !others.iter().all(|key| key == last);
            }
            entry.cost = cost.unwrap_or(entry.cost);
        });
    }

    fn insert(&mut self, entry: Entry) {
        self.table.merge(entry, |_, _| false);
    }

    /// Returns an entry without tokens.
    fn entry(
        &mut self,
        turn: &TurnKey<'_>,
        model: Option<jsonl::Text<'_>>,
        format: &Format,
    ) -> Entry {
        let model = model.map_or("", |model| model.as_str());
        let cwd = self.file.cwd.as_str();
        let label = match &self.last_label {
            Some((last_model, last_cwd, label)) if last_model == model && last_cwd == cwd => *label,
            _ => {
                let text = |json| {
                    Some(jsonl::Text::new(json)?.decode().into_owned()).filter(|it| !it.is_empty())
                };
                let label = Label { model: text(model), project: text(cwd), agent: format.name };
                let place = self.labels.place_within(&mut self.names, label);
                self.last_label = Some((model.to_owned(), cwd.to_owned(), place));
                place
            }
        };
        Entry {
            key: turn.key,
            tokens: table::Counts::default(),
            cost: turn.origin.cost.and_then(|cost| cost.as_f64()).unwrap_or(f64::NAN),
            time: self.file.time,
            session: 0,
            label,
            is_estimated: false,
        }
    }
}

/// Returns the tokens that were written to a cache for an hour.
fn cache_hour(usage: &core_model::Usage<'_>) -> u64 {
    if !usage.is_of_api() {
        return 0;
    }
    let written = usage.value().get("cache_creation");
    let hour = written.and_then(|written| written.get("ephemeral_1h_input_tokens"));
    hour.and_then(|tokens| tokens.raw().as_u64()).unwrap_or(0)
}

/// Returns a time in seconds, within the years 1970 to 2106.
fn seconds(millis: i64) -> u32 {
    u32::try_from(millis.max(0) / 1000).unwrap_or(NO_TIME).min(NO_TIME - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_model_keeps_its_name_when_folders_have_no_room() {
        let (mut labels, mut names) = (Labels::default(), Names::default());
        let label = |project: String| Label {
            model: Some("claude-opus-4-5".to_owned()),
            project: Some(project),
            agent: "claude-code",
        };
        for n in 0..60_000 {
            labels.place_within(&mut names, label(format!("/project/{n:060}")));
        }
        let place = labels.place_within(&mut names, label("x".repeat(5_000)));
        let Some(Label { model, project, .. }) = labels.all.get(place as usize) else {
            panic!("a label")
        };
        assert_eq!(model.as_deref(), Some("claude-opus-4-5"));
        assert_eq!(project.as_deref(), Some(OTHERS));
        assert!(labels.all.len() < 40_000, "{}", labels.all.len());
    }
}
