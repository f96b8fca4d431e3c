//! Filters sessions by what they are: empty, a warm-up, compacted, with a plan.
//!
//! In: `--without empty` and a session with two records. Out: the session does not match.

use clap::ValueEnum;
use core_model::{CompactionRule, Content, Event, Format, Generations, Place, Role};
use sessions::{Input, Prefilter, Progress, ReadError, SessionFiles};

use crate::environment::read;

/// The arguments of the filter.
#[derive(clap::Args, Debug, Default)]
pub(super) struct KindArgs {
    /// Only sessions of all these kinds; this reads more than the ends of files
    #[arg(long, value_name = "KIND", value_enum, value_delimiter = ',')]
    only: Vec<SessionKind>,
    /// Only sessions of none of these kinds
    #[arg(long, value_name = "KIND", value_enum, value_delimiter = ',')]
    without: Vec<SessionKind>,
    /// Only sessions with a record of this plan: Claude Code keeps it in ~/.claude/plans/SLUG.md
    #[arg(long, value_name = "SLUG")]
    slug: Option<String>,
}

/// A kind of session.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum SessionKind {
    /// Fewer than three records, no words of the user, or no words of the assistant
    Empty,
    /// The first message of the user contains `warmup`
    Warmup,
    /// The context was compacted at least once
    Compacted,
}

impl KindArgs {
    /// Returns whether all sessions match.
    pub(super) fn is_empty(&self) -> bool {
        self.only.is_empty() && self.without.is_empty() && self.slug.is_none()
    }

    /// Returns whether a session matches. Reads its main file as far as it must.
    pub(super) fn matches(
        &self,
        unit: &SessionFiles,
        format: &'static Format,
        progress: &dyn Progress,
    ) -> Result<bool, ReadError> {
        if let Some(slug) = &self.slug
            && !has_slug(&unit.main, slug, format, progress)?
        {
            return Ok(false);
        }
        if self.only.is_empty() && self.without.is_empty() {
            return Ok(true);
        }
        let mut kinds = self.only.iter().chain(&self.without);
        let mut seen = Seen::new(kinds.any(|kind| *kind == SessionKind::Compacted));
        read(&unit.main, Some(format), &Prefilter::ALL, progress, &mut |place, _, event| {
            Ok(event.map_or(true, |event| seen.event(place, event)))
        })?;
        let is_of = |kind: &SessionKind| match kind {
            SessionKind::Empty => seen.is_empty(),
            SessionKind::Warmup => seen.is_warmup == Some(true),
            SessionKind::Compacted => seen.is_compacted,
        };
        Ok(self.only.iter().all(is_of) && !self.without.iter().any(is_of))
    }
}

/// Returns whether a record of a file names a plan.
fn has_slug(
    input: &Input,
    slug: &str,
    format: &'static Format,
    progress: &dyn Progress,
) -> Result<bool, ReadError> {
    let mut is_found = false;
    read(input, Some(format), &Prefilter::any_of(&[slug], false), progress, &mut |_, _, event| {
        is_found = is_found
            || event.is_ok_and(|event| {
                (event.vocabulary.slug)(event).is_some_and(|found| found.is(slug))
            });
        Ok(!is_found)
    })?;
    Ok(is_found)
}

/// What was read of a session.
struct Seen {
    /// The line of the last record, and the number of records.
    last: Option<u64>,
    n_records: u64,
    has_user_words: bool,
    has_assistant_words: bool,
    /// Whether the first message of the user is that of a warm-up.
    is_warmup: Option<bool>,
    is_compacted: bool,
    /// `None` if compactions are not wanted.
    generations: Option<Generations>,
}

impl Seen {
    fn new(with_compactions: bool) -> Self {
        Self {
            last: None,
            n_records: 0,
            has_user_words: false,
            has_assistant_words: false,
            is_warmup: None,
            is_compacted: false,
            generations: with_compactions.then(|| Generations::new(CompactionRule::Boundary)),
        }
    }

    /// Adds an event. Returns whether more must be read.
    fn event(&mut self, place: Place, event: &Event<'_>) -> bool {
        if self.last.replace(place.offset) != Some(place.offset) {
            self.n_records += 1;
        }
        if let Some(generations) = &mut self.generations {
            generations.push(place, event);
            // The first compaction is enough.
            if generations.n_compactions() > 0 {
                self.is_compacted = true;
                self.generations = None;
            }
        }
        if let Some(message) = event.message() {
            let is_user = message.role == Role::User;
            let is_said = if is_user { self.has_user_words } else { self.has_assistant_words };
            if !is_said || is_user && self.is_warmup.is_none() {
                let words = message.content.joined();
                let has_words =
                    !matches!(message.content, Content::Other(_)) && !words.trim().is_empty();
                match is_user {
                    true => self.has_user_words |= has_words,
                    false => self.has_assistant_words |= has_words,
                }
                if is_user {
                    let is_warmup = || words.to_lowercase().contains("warmup");
                    self.is_warmup.get_or_insert_with(is_warmup);
                }
            }
        }
        self.is_empty() || self.generations.is_some()
    }

    fn is_empty(&self) -> bool {
        self.n_records < 3 || !self.has_user_words || !self.has_assistant_words
    }
}
