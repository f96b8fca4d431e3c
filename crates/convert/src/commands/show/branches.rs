//! Finds the branches that are left out: where each begins, and how many records it has.
//!
//! In: a prompt `a`, its answer `b`, and the prompts `c` and `d` after `b`, of which `c` is hidden. Out: a
//! branch that begins with `c`, of one record.

use std::{fmt, io};

use conversion::Events;
use core_model::{ByHash, Event, Field, Hashes, IdHasher};
use jsonl::Scanner;
use sessions::{PartKind, parts};

use crate::{
    commands::export::lines::{BRANCH, ROLLED_BACK, SessionLines},
    terminal::{escape::escape_for_terminal, figures::count},
};

/// Limit on the branches that are named.
const MAX_NAMED: usize = 8;

/// The printed characters of a UUID, and limits on the characters of other ids and of the first words.
const UUID_START: usize = 8;
const MAX_ID: usize = 40;
const MAX_WORDS: usize = 48;

/// The characters of a UUID.
const UUID_LENGTH: usize = 36;

/// The branches of a session that are left out.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    branches: Vec<Branch>,
    n_records: usize,
    /// The number of records of turns that were rolled back.
    n_rolled_back: usize,
}

/// A branch that is left out.
#[derive(Debug, Default)]
struct Branch {
    /// The id of its first record.
    id: String,
    n_records: usize,
    /// The first words in it.
    words: String,
}

impl LeftOut {
    /// Finds the branches in a pass over all records.
    pub(super) fn find(lines: &SessionLines, events: &mut dyn Events) -> io::Result<Self> {
        let mut left_out = Self {
            n_records: lines.n_hidden(BRANCH),
            n_rolled_back: lines.n_hidden(ROLLED_BACK),
            ..Self::default()
        };
        if left_out.n_records > 0 {
            let (mut places, mut has_next) = (ByHash::default(), Hashes::default());
            let (hasher, mut scanner) = (IdHasher::default(), Scanner::default());
            events.for_each(&mut |line, event| {
                if let Ok(event) = event
                    && event.nth == 0
                    && lines.hides(line.offset()) == Some(BRANCH)
                {
                    left_out.push(event, &hasher, (&mut places, &mut has_next), &mut scanner);
                }
                true
            })?;
        }
        Ok(left_out)
    }

    /// Adds a hidden record to the branch of its parent, or to a new one.
    fn push(
        &mut self,
        event: &Event<'_>,
        hasher: &IdHasher,
        (places, has_next): (&mut ByHash<usize>, &mut Hashes),
        scanner: &mut Scanner,
    ) {
        let parent = match event.context.parent {
            Field::Value(parent) => Some(hasher.hash_text(parent)),
            _ => None,
        };
        let known = parent.and_then(|parent| places.get(&parent).copied());
        // Parallel results are children of one response, but only a prompt begins a branch in a branch.
        let is_second = parent.is_some_and(|parent| event.is_prompt() && !has_next.insert(parent));
        let place = known.filter(|_| !is_second).unwrap_or(self.branches.len());
        if place == self.branches.len() {
            self.branches.push(Branch::default());
        }
        let Some(branch) = self.branches.get_mut(place) else { return };
        branch.n_records += 1;
        if let Some(id) = event.context.uuid {
            places.insert(hasher.hash_text(id), place);
            if branch.id.is_empty() {
                let id = id.decode();
                // Other ids than UUIDs may differ at their ends.
                let n_chars = if id.len() == UUID_LENGTH { UUID_START } else { MAX_ID };
                branch.id = id.chars().take(n_chars).collect();
            }
        }
        let is_text = |kind| matches!(kind, PartKind::User | PartKind::Assistant);
        if branch.words.is_empty()
            && place < MAX_NAMED
            && let Some(part) = parts(event).find(|part| is_text(part.kind()))
        {
            let words = part.words(scanner);
            let line = words.lines().next().unwrap_or_default();
            branch.words = line.chars().take(MAX_WORDS).collect();
            if line.chars().nth(MAX_WORDS).is_some() {
                branch.words.push('…');
            }
        }
    }

    /// Returns whether nothing is left out.
    pub(super) fn is_empty(&self) -> bool {
        self.n_records == 0 && self.n_rolled_back == 0
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let records = |n_records: usize| count(n_records as u64, "record");
        let are = |n_records: usize| if n_records == 1 { "is" } else { "are" };
        if self.n_rolled_back > 0 {
            return write!(
                formatter,
                "{} of turns that were rolled back {} left out; --all-branches prints them",
                records(self.n_rolled_back),
                are(self.n_rolled_back)
            );
        }
        write!(
            formatter,
            "{} of {} {} left out; --branch ID prints a branch, --all-branches everything:",
            records(self.n_records),
            match self.branches.len() {
                1 => "another branch".to_owned(),
                n_branches => format!("{n_branches} other branches"),
            },
            are(self.n_records)
        )?;
        for Branch { id, n_records, words } in self.branches.iter().take(MAX_NAMED) {
            let (id, words) = (escape_for_terminal(id), escape_for_terminal(words));
            let colon = if words.is_empty() { "" } else { ": " };
            write!(formatter, "\n  {id}  {}{colon}{words}", records(*n_records))?;
        }
        match self.branches.len().saturating_sub(MAX_NAMED) {
            0 => Ok(()),
            n_more => write!(formatter, "\n  and {n_more} more"),
        }
    }
}
