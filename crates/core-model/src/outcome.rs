//! How a run ended.

use jsonl::{Raw, Text, Value};

use crate::Field;

/// How a run ended, and what it took.
#[derive(Clone, Copy, Debug)]
pub struct Outcome<'l> {
    /// How it ended.
    pub status: Status,
    /// The format's own word for it.
    pub status_text: Option<Text<'l>>,
    /// Whether it failed, where the format says so beside the status.
    pub is_error: Field<bool>,
    /// The cost in US dollars.
    pub cost: Option<Raw<'l>>,
    /// The number of turns.
    pub turns: Option<Raw<'l>>,
    /// The wall time in milliseconds.
    pub duration_ms: Option<Raw<'l>>,
    /// The time spent on the API, in milliseconds.
    pub duration_api_ms: Option<Raw<'l>>,
    /// The tokens used: an object.
    pub usage: Option<Value<'l>>,
    /// The last words of the assistant.
    pub result: Option<Raw<'l>>,
    /// What went wrong: an array of strings.
    pub errors: Option<Raw<'l>>,
}

impl Outcome<'_> {
    /// Creates an outcome of which only the status is known.
    pub fn new(status: Status) -> Self {
        Self {
            status,
            status_text: None,
            is_error: Field::Absent,
            cost: None,
            turns: None,
            duration_ms: None,
            duration_api_ms: None,
            usage: None,
            result: None,
            errors: None,
        }
    }
}

/// How a run ended (CONVERSION section 8).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Status {
    /// It did what was asked.
    Success,
    /// It used up its turns.
    MaxTurns,
    /// It used up its budget.
    MaxBudget,
    /// The user stopped it.
    Interrupted,
    /// The API refused for the rate of requests.
    RateLimited,
    /// It failed in any other way.
    Error,
}
