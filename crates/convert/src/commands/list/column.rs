//! The columns of a list.

use std::cmp::Ordering;

use clap::ValueEnum;
use core_model::iso_millis;
use jiff::tz::TimeZone;

use super::{
    ends::{Numbers, Origin, Session},
    largest_first,
};
use crate::{
    object::Object,
    reading::moments::printed_minute,
    terminal::{
        escape::escape_for_terminal,
        figures::{grouped, short_duration, size},
    },
};

/// Limit on the printed characters of a title.
const MAX_TITLE: usize = 100;

/// A column of a list.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(super) enum Column {
    /// The id of the session
    Id,
    /// The latest time in the session
    When,
    /// The size of the file
    Size,
    /// The number of messages of all kinds; reads the whole session
    Messages,
    /// The number of texts of the user and the assistant; reads the whole session
    Texts,
    /// The number of compactions; reads the whole session
    Compactions,
    /// The names of its plans, which Claude Code keeps in ~/.claude/plans; reads the whole session
    Slug,
    /// The number of tokens; reads the whole session
    Tokens,
    /// The cost, if the session states it; reads the whole session
    Cost,
    /// The number of failed tools and API requests; reads the whole session
    Errors,
    /// The time from the first record to the last, or of the runs, if they state it; reads the whole
    /// session
    Duration,
    /// How the last run ended, if the session says it; reads the whole session
    Outcome,
    /// The format of the file
    Format,
    /// The last part of the working directory
    Project,
    /// The title, or the first prompt
    Title,
    /// The format that a converted copy comes from, and whether the copy went on
    Origin,
    /// The path of the file
    File,
}

impl Column {
    /// The columns without an option.
    pub(super) const DEFAULT: [Column; 5] =
        [Column::Id, Column::When, Column::Size, Column::Project, Column::Title];

    /// All columns, in the order of `--long`.
    pub(super) const ALL: [Column; 10] = [
        Column::Id,
        Column::When,
        Column::Size,
        Column::Messages,
        Column::Tokens,
        Column::Cost,
        Column::Errors,
        Column::Format,
        Column::Project,
        Column::Title,
    ];

    /// Returns the name on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Column::Id => "id",
            Column::When => "when",
            Column::Size => "size",
            Column::Messages => "messages",
            Column::Texts => "texts",
            Column::Compactions => "compactions",
            Column::Slug => "slug",
            Column::Tokens => "tokens",
            Column::Cost => "cost",
            Column::Errors => "errors",
            Column::Duration => "duration",
            Column::Outcome => "outcome",
            Column::Format => "format",
            Column::Project => "project",
            Column::Title => "title",
            Column::Origin => "origin",
            Column::File => "file",
        }
    }

    /// Returns whether sessions must be read to their end for this column.
    pub(super) fn is_counted(self) -> bool {
        matches!(
            self,
            Column::Messages
                | Column::Texts
                | Column::Compactions
                | Column::Slug
                | Column::Tokens
                | Column::Cost
                | Column::Errors
                | Column::Duration
                | Column::Outcome
        )
    }

    /// Returns whether the values are words and not numbers.
    pub(super) fn is_text(self) -> bool {
        matches!(self, Column::Slug | Column::Outcome) || !self.is_counted() && self != Column::Size
    }

    /// Returns the cell of a session, with times in a zone.
    pub(super) fn cell(self, session: &Session, zone: &TimeZone) -> String {
        let number = |number: fn(&Numbers) -> u64| {
            session.numbers.as_ref().map(|numbers| grouped(number(numbers))).unwrap_or_default()
        };
        match self {
            Column::Id => start_of_id(session, usize::MAX),
            Column::When => session.end.map(|time| printed_minute(time, zone)).unwrap_or_default(),
            Column::Size => size(session.size),
            Column::Messages => number(|numbers| numbers.n_messages),
            Column::Texts => number(|numbers| numbers.n_texts),
            Column::Compactions => number(|numbers| numbers.n_compactions),
            Column::Slug => {
                let slugs = session.numbers.as_ref().map(|numbers| numbers.slugs.join(", "));
                escape_for_terminal(&slugs.unwrap_or_default())
            }
            Column::Tokens => number(|numbers| numbers.n_tokens),
            Column::Errors => number(|numbers| numbers.errors.total()),
            Column::Cost => cost(session).map(|cost| format!("${cost:.4}")).unwrap_or_default(),
            Column::Duration => duration(session).map(short_duration).unwrap_or_default(),
            Column::Outcome => outcome(session).unwrap_or_default().to_owned(),
            Column::Format => session.format.name.to_owned(),
            Column::Project => escape_for_terminal(project(session)),
            Column::Title => title(session),
            Column::Origin => session.origin.map(origin).unwrap_or_default(),
            Column::File => escape_for_terminal(&session.label),
        }
    }

    /// Returns the order of two sessions by this column.
    pub(super) fn order(self, one: &Session, other: &Session) -> Ordering {
        let numbers = |number: fn(&Numbers) -> u64| {
            let number = |session: &Session| session.numbers.as_ref().map(number);
            largest_first(number(one), number(other))
        };
        match self {
            Column::When => largest_first(one.end, other.end),
            Column::Size => largest_first(one.size, other.size),
            Column::Messages => numbers(|numbers| numbers.n_messages),
            Column::Texts => numbers(|numbers| numbers.n_texts),
            Column::Compactions => numbers(|numbers| numbers.n_compactions),
            Column::Tokens => numbers(|numbers| numbers.n_tokens),
            Column::Errors => numbers(|numbers| numbers.errors.total()),
            Column::Cost => largest_first(cost(one), cost(other)),
            Column::Duration => largest_first(duration(one), duration(other)),
            Column::Id
            | Column::Slug
            | Column::Outcome
            | Column::Format
            | Column::Project
            | Column::Title
            | Column::Origin
            | Column::File => {
                let cell = |session| self.cell(session, &TimeZone::UTC);
                cell(one).cmp(&cell(other))
            }
        }
    }
}

/// Returns the first characters of the id of a session.
pub(super) fn start_of_id(session: &Session, n_chars: usize) -> String {
    escape_for_terminal(&session.shown_id().chars().take(n_chars).collect::<String>())
}

fn origin(origin: Origin) -> String {
    let Origin { format, is_continued } = origin;
    if is_continued { format!("{format}, went on") } else { format.to_owned() }
}

fn cost(session: &Session) -> Option<f64> {
    session.numbers.as_ref()?.cost
}

/// Returns the duration in milliseconds.
fn duration(session: &Session) -> Option<u64> {
    let numbers = session.numbers.as_ref()?;
    u64::try_from(numbers.runs.duration(&numbers.span)?).ok()
}

fn outcome(session: &Session) -> Option<&'static str> {
    Some(session.numbers.as_ref()?.runs.outcome?.words())
}

/// Returns the last part of the working directory.
fn project(session: &Session) -> &str {
    let project = session.project.as_deref().unwrap_or_default();
    let project = project.trim_end_matches(['/', '\\']);
    project.rsplit(['/', '\\']).next().unwrap_or_default()
}

/// Returns the title on one line, cut if it is long.
fn title(session: &Session) -> String {
    let title = session.title.as_deref().unwrap_or_default();
    let words: Vec<&str> = title.split_whitespace().take(MAX_TITLE).collect();
    let title = words.join(" ");
    match title.char_indices().nth(MAX_TITLE) {
        Some((end, _)) => escape_for_terminal(title.get(..end).unwrap_or_default()) + "…",
        None => escape_for_terminal(&title),
    }
}

/// Returns a session as an object. `original` is the file of the session that it is a copy of.
pub(super) fn object(session: &Session, original: Option<&str>) -> Object {
    let mut object = Object::new();
    object.string("session", session.shown_id()).string("file", &session.label);
    object.string("format", session.format.name).plain("bytes", session.size);
    for (key, text) in [("project", &session.project), ("title", &session.title)] {
        if let Some(text) = text {
            object.string(key, text);
        }
    }
    if let Some(Origin { format, is_continued }) = session.origin {
        object.string("converted_from", format).plain("went_on", is_continued);
    }
    if let Some(original) = original {
        object.string("copy_of", original);
    }
    for (key, time) in [("start", session.start), ("end", session.end)] {
        if let Some(time) = time {
            object.string(key, &iso_millis(time));
        }
    }
    if let Some(numbers) = &session.numbers {
        object.plain("messages", numbers.n_messages).plain("tokens", numbers.n_tokens);
        object.plain("texts", numbers.n_texts).plain("compactions", numbers.n_compactions);
        if !numbers.slugs.is_empty() {
            object.strings("slugs", numbers.slugs.iter().map(String::as_str));
        }
        object.plain("errors", numbers.errors.total()).plain("api_errors", numbers.errors.n_api);
        if let Some(cost) = numbers.cost {
            object.plain("cost_usd", cost);
        }
        if let Some(millis) = duration(session) {
            object.plain("duration_ms", millis);
        }
        if let Some(outcome) = outcome(session) {
            object.string("outcome", outcome);
        }
    }
    object
}
