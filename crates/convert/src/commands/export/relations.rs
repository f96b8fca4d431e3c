//! Finds how the sessions of a folder were made from each other, and counts each of their records once.
//!
//! In: a session of five prompts, and a fork of it after the third. Out: a link from each to the other, and
//! the shared messages, tool calls, errors and tokens for the first alone.

use std::{io, path::Path};

use core_model::{Body, Errors, Format, Overview};
use export_html::Figures;
use sessions::{Input, Member, ReadError, SessionFiles};

use crate::{
    FORMATS,
    reading::{
        moments::Bounds,
        once::{self, Counted, Item, Spent, each_once},
        relatives::{Relative, Relatives},
    },
    terminal::progress::{Mode, Progress},
};

/// The sessions of a folder, with their relatives and the counts of their records. A folder may have tens of thousands
/// of sessions.
#[derive(Debug, Default)]
pub(super) struct Related {
    sessions: Vec<Session>,
    /// The indices of the sessions, sorted by their labels.
    by_label: Vec<usize>,
    relatives: Relatives,
}

/// A session of a folder.
#[derive(Debug, Default)]
struct Session {
    /// The label of its input; empty for a file that is no session.
    label: String,
    id: String,
    numbers: Numbers,
    spent: Spent,
    /// The error, if the session could not be read to be compared with the others.
    unread: Option<Box<ReadError>>,
}

/// The counts of a session's records.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    n_messages: u64,
    n_tool_calls: u64,
    errors: Errors,
}

impl Related {
    /// Returns the index of the session with an input's label; the last one if the input was named twice.
    pub(super) fn find(&self, label: &str) -> Option<usize> {
        let label_of = |idx: usize| self.sessions.get(idx).map_or("", |it| &it.label);
        let end = self.by_label.partition_point(|idx| label_of(*idx) <= label);
        let last = *self.by_label.get(end.checked_sub(1)?)?;
        (label_of(last) == label).then_some(last)
    }

    /// Returns the number of sessions.
    pub(super) fn len(&self) -> usize {
        self.sessions.len()
    }

    /// Returns the session that a session was made from, and the sessions that were made from it.
    pub(super) fn relatives(&self, session_idx: usize) -> impl Iterator<Item = Relative> {
        self.relatives.of(session_idx, |idx| {
            self.sessions.get(idx).map(|it| (it.id.as_str(), it.label.as_str()))
        })
    }

    /// Replaces the counts of a page by the counts of the session. Returns the error if the session could not be
    /// compared with the others: the page has its own counts then.
    pub(super) fn replace_counts(
        &self,
        session_idx: usize,
        figures: &mut Figures,
    ) -> Result<(), &ReadError> {
        let Some(session) = self.sessions.get(session_idx) else { return Ok(()) };
        if let Some(error) = session.unread.as_deref() {
            return Err(error);
        }
        let Numbers { n_messages, n_tool_calls, errors } = session.numbers;
        (figures.n_messages, figures.n_tool_calls, figures.errors) =
            (n_messages, n_tool_calls, errors);
        (figures.tokens, figures.cost) = (session.spent.tokens, session.spent.cost);
        Ok(())
    }
}

/// Reads all sessions, and returns their relatives and counts.
pub(super) fn relations(
    inputs: Vec<Input>,
    format: Option<&'static Format>,
    n_jobs: usize,
    with_copies: bool,
) -> io::Result<Related> {
    // Problems of inputs are reported where their pages are written.
    let units = SessionFiles::group(FORMATS, inputs, &mut |_| {});
    let silent = Progress::start(Mode::None, 0, 0);
    let counted = each_once(&units, n_jobs, with_copies, Bounds::ALL, |unit, keys, left_out| {
        let (mut n_messages, mut overview) = (0, Overview::default());
        let mut count = |_, item: Item<'_, '_>| {
            if let Item::Event(event) = item {
                n_messages += u64::from(matches!(event.body, Body::Message(_)));
                overview.push(event);
            }
        };
        let mut read = once::session(unit, format, keys, left_out, &silent, &mut count)?;
        let Overview { n_tool_calls, errors, .. } = overview;
        let numbers = Numbers { n_messages, n_tool_calls, errors };
        let named = (std::mem::take(&mut read.id), std::mem::take(&mut read.kin));
        Ok(((numbers, named), read))
    })?;
    let (mut members, mut sessions) = (Vec::new(), Vec::new());
    members.reserve_exact(units.len());
    sessions.reserve_exact(units.len());
    for (unit, result) in units.into_iter().zip(counted) {
        let Counted { value: (numbers, (id, kin)), spent, turns } = match result {
            Ok(counted) => counted,
            // A file that is no session has no records, and so no relatives.
            Err(ReadError::Format(_)) => {
                members.push(Member::default());
                sessions.push(Session::default());
                continue;
            }
            Err(error) => {
                members.push(Member { path: unit.main.label(), ..Member::default() });
                let unread = Some(Box::new(error));
                sessions.push(Session { unread, ..Session::default() });
                continue;
            }
        };
        members.push(Member { id, path: unit.main.label(), turns, kin });
        sessions.push(Session { numbers, spent, ..Session::default() });
    }
    let relatives = Relatives::among(&members);
    for (session, member) in sessions.iter_mut().zip(members) {
        (session.label, session.id) = (member.path, member.id);
    }
    let mut by_label: Vec<usize> = (0..sessions.len()).collect();
    by_label.sort_by(|one, other| {
        let label = |idx: &usize| sessions.get(*idx).map(|it| &it.label);
        label(one).cmp(&label(other))
    });
    Ok(Related { sessions, by_label, relatives })
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

    /// The statistics of each session and the names of its relatives took 4.5 kB.
    #[test]
    fn a_session_of_a_folder_is_kept_in_few_bytes() {
        assert!(size_of::<Session>() <= 192, "{} bytes", size_of::<Session>());
    }

    #[test]
    fn a_session_is_found_by_its_label_and_the_last_of_several_counts() {
        let session = |label: &str| Session { label: label.to_owned(), ..Session::default() };
        let related = Related {
            sessions: ["b", "", "a", "b", "c"].map(session).into(),
            by_label: vec![1, 2, 0, 3, 4],
            ..Related::default()
        };
        let found = ["a", "b", "c", "d", "0"].map(|label| related.find(label));
        assert_eq!(found, [Some(2), Some(3), Some(4), None, None]);
    }

    #[test]
    fn a_path_between_pages_goes_up_first() {
        let between = |from: &str, to: &str| path_between(Path::new(from), Path::new(to));
        assert_eq!(between("a.html", "b.html"), "b.html");
        assert_eq!(between("p/a.html", "p/b.html"), "../p/b.html");
        assert_eq!(between("a.html", "p/q/b.html"), "p/q/b.html");
    }
}
