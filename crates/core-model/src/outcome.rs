//! The end of a run.

use jsonl::{Raw, Text};

use crate::{Field, NoticeKind, Usage};

/// The end of a run: status, cost, turns, time, tokens.
#[derive(Clone, Copy, Debug)]
pub struct Outcome<'l> {
    /// The status.
    pub status: Status,
    /// The format's own name for it.
    pub status_text: Option<Text<'l>>,
    /// Whether it failed, if the format has a flag beside the status.
    pub is_error: Field<bool>,
    /// The cost in US dollars.
    pub cost: Option<Raw<'l>>,
    /// The number of turns.
    pub turns: Option<Raw<'l>>,
    /// The wall time in milliseconds.
    pub duration_ms: Option<Raw<'l>>,
    /// The time spent on the API, in milliseconds.
    pub duration_api_ms: Option<Raw<'l>>,
    /// The tokens used.
    pub usage: Option<Usage<'l>>,
    /// The last text of the assistant.
    pub result: Option<Raw<'l>>,
    /// The errors: an array of strings.
    pub errors: Option<Raw<'l>>,
}

impl<'l> Outcome<'l> {
    /// Returns `errors` and `result` with their names, unless they are empty.
    ///
    /// ```
    /// use core_model::{Outcome, Status};
    ///
    /// let mut scanner = jsonl::Scanner::default();
    /// let record = scanner.scan_slice(br#"{"errors":[],"result":"done"}"#, 0)?;
    /// let [errors, result] = ["errors", "result"].map(|key| record.get(key).map(|it| it.raw()));
    /// let outcome = Outcome { errors, result, ..Outcome::new(Status::Success) };
    /// assert_eq!(outcome.words().map(|(name, _)| name).collect::<Vec<_>>(), ["result"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn words(&self) -> impl Iterator<Item = (&'static str, Raw<'l>)> + use<'l> {
        let is_word = |raw: &Raw<'_>| !matches!(raw.as_str(), "null" | "\"\"" | "[]");
        let words = [("errors", self.errors), ("result", self.result)];
        words.into_iter().filter_map(move |(name, words)| Some((name, words.filter(is_word)?)))
    }

    /// Returns the kind of a notice that says why the run failed; `None` if it succeeded.
    pub fn notice_kind(&self) -> Option<NoticeKind> {
        match self.status {
            Status::Success => None,
            Status::Interrupted => Some(NoticeKind::Warning),
            _ => Some(NoticeKind::Error),
        }
    }

    /// Creates an outcome with only a status.
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

/// The status of a finished run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Status {
    /// The task is complete.
    Success,
    /// The turns are used up.
    MaxTurns,
    /// The budget is used up.
    MaxBudget,
    /// The user stopped it.
    Interrupted,
    /// The API refused the request because of its rate limit.
    RateLimited,
    /// The run failed for another reason.
    Error,
}

impl Status {
    /// Returns the status in words.
    pub fn words(self) -> &'static str {
        match self {
            Status::Success => "success",
            Status::MaxTurns => "turns used up",
            Status::MaxBudget => "budget used up",
            Status::Interrupted => "interrupted",
            Status::RateLimited => "rate limited",
            Status::Error => "error",
        }
    }
}
