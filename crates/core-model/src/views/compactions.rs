//! Finds the compactions of a session and the generations between them.
//!
//! In: two messages, a boundary, a message. Out: two [`Generation`]s, of which the second starts
//! with the boundary.

use crate::{Body, Event, NoticeKind, Place, TitleRank};

/// The events that count as compactions.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum CompactionRule {
    /// A line of type `summary`, as older descriptions of the format have it. In real sessions it
    /// is a title.
    SummaryLine,
    /// A boundary of the client, or the summary of the removed messages.
    Boundary,
    /// Either.
    #[default]
    Any,
}

/// A compaction of the context.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Compaction {
    /// The number of events before it.
    pub idx: u64,
    /// Its line.
    pub place: Place,
    /// Its trigger, such as `auto`.
    pub trigger: Option<String>,
    /// The tokens in the context before it.
    pub pre_tokens: Option<u64>,
}

/// The events between two compactions.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Generation {
    /// The compaction at its start; `None` for the first generation.
    pub compaction: Option<Compaction>,
    /// Its first line.
    pub first: Place,
    /// Its last line.
    pub last: Place,
    /// The number of events in it, its compaction included.
    pub n_events: u64,
    /// The number of messages in it.
    pub n_messages: u64,
}

/// View that splits a session at its compactions.
#[derive(Clone, Debug, Default)]
pub struct Generations {
    rule: CompactionRule,
    n_events: u64,
    /// Whether a boundary follows the last message. The next summary belongs to it.
    at_boundary: bool,
    generations: Vec<Generation>,
}

impl Generations {
    /// Creates a view that splits by a rule.
    pub fn new(rule: CompactionRule) -> Self {
        Self { rule, ..Self::default() }
    }

    /// Adds an event.
    pub fn push(&mut self, place: Place, event: &Event<'_>) {
        let is_start = self.is_compaction(event);
        if is_start || self.generations.is_empty() {
            let compaction = is_start.then(|| self.compaction(place, event));
            let (first, last) = (place, place);
            let next = Generation { compaction, first, last, n_events: 0, n_messages: 0 };
            self.generations.push(next);
        }
        if let Some(generation) = self.generations.last_mut() {
            generation.last = place;
            generation.n_events += 1;
            generation.n_messages += u64::from(event.message().is_some());
        }
        self.n_events += 1;
    }

    fn is_compaction(&mut self, event: &Event<'_>) -> bool {
        let is_seed = match &event.body {
            Body::Notice(notice) if notice.kind == NoticeKind::Compaction => {
                self.at_boundary = true;
                return self.rule != CompactionRule::SummaryLine;
            }
            Body::Message(message) => {
                let was_at_boundary = std::mem::replace(&mut self.at_boundary, false);
                let is_another = message.is_summary && !was_at_boundary;
                return is_another && self.rule != CompactionRule::SummaryLine;
            }
            Body::Title(title) => title.rank == TitleRank::Summary,
            // A summary without text.
            Body::Other => event.kind.is_some_and(|kind| kind.is("summary")),
            _ => false,
        };
        is_seed && self.rule != CompactionRule::Boundary
    }

    fn compaction(&self, place: Place, event: &Event<'_>) -> Compaction {
        let notice = match &event.body {
            Body::Notice(notice) => Some(notice),
            _ => None,
        };
        let trigger = notice.and_then(|notice| notice.trigger);
        let pre_tokens = notice.and_then(|notice| notice.pre_tokens);
        Compaction {
            idx: self.n_events,
            place,
            trigger: trigger.map(|trigger| trigger.decode().into_owned()),
            pre_tokens: pre_tokens.and_then(|tokens| tokens.as_u64()),
        }
    }

    /// Returns the generations, in the order of the file.
    pub fn finish(self) -> Vec<Generation> {
        self.generations
    }

    /// Returns the number of compactions so far.
    pub fn n_compactions(&self) -> usize {
        self.generations.iter().filter(|generation| generation.compaction.is_some()).count()
    }

    /// Returns the compactions, in the order of the file.
    pub fn compactions(self) -> Vec<Compaction> {
        self.generations.into_iter().filter_map(|generation| generation.compaction).collect()
    }
}
