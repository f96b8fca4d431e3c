//! Finds how the sessions of a folder were made from each other, and counts each of their records once.
//!
//! In: a session of five prompts, and a fork of it after the third. Out: a link from each to the other, and
//! the shared messages, tool calls, errors and tokens for the first alone.

use std::{collections::HashMap, io, path::Path};

use core_model::{Body, Format, Overview};
use export_html::Figures;
use sessions::{Input, Kin, Member, ReadError, SessionFiles};

use crate::{
    FORMATS,
    reading::{
        moments::Bounds,
        once::{self, Counted, Item, Spent, each_once},
        relatives::{Relative, relatives},
    },
    terminal::progress::{Mode, Progress},
};

/// A session's relatives, and the counts of its records.
#[derive(Debug, Default)]
pub(super) struct Related {
    /// The session that it was made from, and the sessions that were made from it.
    pub(super) relatives: Vec<Relative>,
    numbers: Numbers,
    spent: Spent,
    /// The error, if the session could not be read to be compared with the others.
    unread: Option<ReadError>,
}

impl Related {
    /// Replaces the counts of a page by the counts of the session. Returns the error if the session could not be
    /// compared with the others: the page has its own counts then.
    pub(super) fn replace_counts(&self, figures: &mut Figures) -> Result<(), &ReadError> {
        if let Some(error) = &self.unread {
            return Err(error);
        }
        let Numbers { n_messages, overview, .. } = &self.numbers;
        figures.n_messages = *n_messages;
        figures.n_tool_calls = overview.n_tool_calls;
        figures.errors = overview.errors;
        (figures.tokens, figures.cost) = (self.spent.tokens, self.spent.cost);
        Ok(())
    }
}

/// The id of a session, the sessions that it names, and the counts of its records.
#[derive(Debug, Default)]
struct Numbers {
    id: String,
    kin: Vec<Kin>,
    n_messages: u64,
    overview: Overview,
}

/// Reads all sessions, and returns the relatives and the counts of each by the label of its input.
pub(super) fn relations(
    inputs: &[Input],
    format: Option<&'static Format>,
    n_jobs: usize,
    with_copies: bool,
) -> io::Result<HashMap<String, Related>> {
    // Problems of inputs are reported where their pages are written.
    let units = SessionFiles::group(FORMATS, inputs.to_vec(), &mut |_| {});
    let silent = Progress::start(Mode::None, 0, 0);
    let counted = each_once(&units, n_jobs, with_copies, Bounds::ALL, |unit, keys, left_out| {
        let mut numbers = Numbers::default();
        let mut count = |_, item: Item<'_, '_>| {
            if let Item::Event(event) = item {
                numbers.n_messages += u64::from(matches!(event.body, Body::Message(_)));
                numbers.overview.push(event);
            }
        };
        let mut read = once::session(unit, format, keys, left_out, &silent, &mut count)?;
        (numbers.id, numbers.kin) = (read.id.clone(), std::mem::take(&mut read.kin));
        Ok((numbers, read))
    })?;
    let (mut members, mut related) = (Vec::new(), Vec::new());
    for (unit, result) in units.iter().zip(counted) {
        let Counted { value: mut numbers, spent, turns } = match result {
            Ok(counted) => counted,
            // A file that is no session has no records, and so no relatives.
            Err(ReadError::Format(_)) => {
                members.push(Member::default());
                related.push(Related::default());
                continue;
            }
            Err(error) => {
                members.push(Member { path: unit.main.label(), ..Member::default() });
                related.push(Related { unread: Some(error), ..Related::default() });
                continue;
            }
        };
        let (id, kin) = (std::mem::take(&mut numbers.id), std::mem::take(&mut numbers.kin));
        members.push(Member { id, path: unit.main.label(), turns, kin });
        related.push(Related { relatives: Vec::new(), numbers, spent, unread: None });
    }
    for (it, relatives) in related.iter_mut().zip(relatives(&members)) {
        it.relatives = relatives;
    }
    let labels = members.into_iter().map(|member| member.path);
    Ok(labels.zip(related).collect())
}

/// Returns the path from one page to another, both below the same folder.
pub(super) fn path_between(from: &Path, to: &Path) -> String {
    let n_up = from.components().count().saturating_sub(1);
    let parts = to.components().map(|part| part.as_os_str().to_string_lossy());
    let up = std::iter::repeat_n("..".into(), n_up);
    up.chain(parts).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_between_pages_goes_up_first() {
        let between = |from: &str, to: &str| path_between(Path::new(from), Path::new(to));
        assert_eq!(between("a.html", "b.html"), "b.html");
        assert_eq!(between("p/a.html", "p/b.html"), "../p/b.html");
        assert_eq!(between("a.html", "p/q/b.html"), "p/q/b.html");
    }
}
