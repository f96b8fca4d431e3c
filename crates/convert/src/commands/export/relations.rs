//! Finds how the sessions of a folder were made from each other, and what each spent: each response once.
//!
//! In: a session of five prompts, and a fork of it after the third. Out: a link from each to the other, and
//! the tokens of the shared responses for the first alone.

use std::{
    collections::HashMap,
    io,
    path::Path,
    sync::{Mutex, PoisonError},
};

use core_model::{Format, Hashes};
use export_html::Spent;
use rayon::prelude::*;
use sessions::{Ancestry, Input, Member, Prices, Relation, SessionFiles, TurnKeys, Usage, lineage};

use crate::{
    FORMATS,
    reading::once,
    terminal::{
        figures::count,
        progress::{Mode, Progress},
    },
};

/// Another session of the folder.
#[derive(Clone, Debug)]
pub(super) struct Relative {
    /// The label of its input.
    pub(super) label: String,
    /// How the sessions are related.
    pub(super) words: String,
    /// The start of its id.
    pub(super) id: String,
}

/// A session's relatives and what it spent.
#[derive(Clone, Debug, Default)]
pub(super) struct Related {
    /// The session that it was made from, and the sessions that were made from it.
    pub(super) relatives: Vec<Relative>,
    pub(super) spent: Spent,
}

/// The characters of a UUID, its printed characters, and limit on the characters of other ids.
const UUID_LENGTH: usize = 36;
const UUID_START: usize = 8;
const MAX_ID: usize = 40;

/// Reads all sessions, and returns the relatives of each by the label of its input.
pub(super) fn relations(
    inputs: &[Input],
    format: Option<&'static Format>,
    prices: &Prices,
    n_jobs: usize,
    with_copies: bool,
) -> io::Result<HashMap<String, Related>> {
    // Problems of inputs are reported where their pages are written.
    let units = SessionFiles::group(FORMATS, inputs.to_vec(), &mut |_| {});
    let (keys, none, silent) =
        (TurnKeys::new(FORMATS), Hashes::default(), Progress::start(Mode::None, 0, 0));
    let usage = Mutex::new(Usage::of_sessions(units.len(), with_copies));
    let member = |(idx, unit): (usize, &SessionFiles)| {
        let read = once::session(unit, format, &keys, &none, &silent, &mut |_, _| {}).ok()?;
        let rank = read.turns.rank(idx);
        usage.lock().unwrap_or_else(PoisonError::into_inner).add(idx, rank, read.usage);
        let once::SessionRead { id, turns, kin, .. } = read;
        Some(Member { id, path: unit.main.label(), turns, kin })
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_jobs).build();
    let members: Vec<Option<Member>> = pool
        .map_err(io::Error::other)?
        .install(|| units.par_iter().enumerate().map(member).collect());
    // A file that is no session has no records, and so no relatives.
    let members: Vec<Member> = members.into_iter().map(Option::unwrap_or_default).collect();
    let mut related = vec![Related::default(); members.len()];
    let usage = usage.into_inner().unwrap_or_else(PoisonError::into_inner);
    for response in usage.responses() {
        let Some(Related { spent, .. }) = related.get_mut(response.session_idx) else { continue };
        spent.tokens += response.tokens;
        if let Some(cost) = response.cost_by(prices) {
            spent.cost = Some(spent.cost.unwrap_or(0.0) + cost);
        }
    }
    for (child_idx, ancestry) in lineage(&members).into_iter().enumerate() {
        let Some(ancestry) = ancestry else { continue };
        let ends = (members.get(child_idx), members.get(ancestry.parent));
        let (Some(child), Some(parent)) = ends else { continue };
        let (of_child, of_parent) = words(&ancestry);
        if let Some(it) = related.get_mut(child_idx) {
            it.relatives.insert(0, relative(parent, of_child));
        }
        if let Some(it) = related.get_mut(ancestry.parent) {
            it.relatives.push(relative(child, of_parent));
        }
    }
    let labels = members.into_iter().map(|member| member.path);
    Ok(labels.zip(related).collect())
}

fn relative(member: &Member, words: String) -> Relative {
    let n_printed = if member.id.len() == UUID_LENGTH { UUID_START } else { MAX_ID };
    let id = member.id.chars().take(n_printed).collect();
    Relative { label: member.path.clone(), words, id }
}

/// Returns what the page of a session says of its parent, and what the parent's page says of it.
fn words(ancestry: &Ancestry) -> (String, String) {
    let shared = match ancestry.n_shared_prompts {
        0 => count(ancestry.n_shared, "record"),
        n => count(n, "prompt"),
    };
    match ancestry.relation {
        Relation::Copy => ("Copy of".to_owned(), "Copied to".to_owned()),
        Relation::Continuation => {
            (format!("Continues, after {shared},"), "Continued in".to_owned())
        }
        Relation::Fork => {
            (format!("Fork, after {shared}, of"), format!("Forked, after {shared}, to"))
        }
        _ => ("Follows".to_owned(), "Followed by".to_owned()),
    }
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
