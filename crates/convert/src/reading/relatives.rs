//! Finds the sessions that a session was made from, and the sessions that were made from it.
//!
//! In: a session of five prompts, and a fork of it after the third. Out: `Forked, after 3 prompts, to` the
//! fork, and `Fork, after 3 prompts, of` the session.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use core_model::{FolderEntry, Hashes, RelativeKind};
use sessions::{
    Ancestry, Input, Kin, Member, Prefilter, ReadError, Relation, SessionFiles, TurnKeys, lineage,
};
use storage::list;

use super::once;
use crate::{
    FORMATS,
    environment::read,
    terminal::{
        figures::count,
        progress::{Mode, Progress},
    },
};

/// Another session.
#[derive(Clone, Debug)]
pub(crate) struct Relative {
    /// The label of its input.
    pub(crate) label: String,
    /// How the sessions are related.
    pub(crate) words: String,
    /// The start of its id.
    pub(crate) id: String,
    /// Whether the session was made from it.
    is_parent: bool,
}

/// The characters of a UUID, its printed characters, and limit on the characters of other ids.
const UUID_LENGTH: usize = 36;
const UUID_START: usize = 8;
const MAX_ID: usize = 40;

/// The bytes at the start of a file that are compared with another one.
const HEAD: u64 = 64 * 1024;

/// Limits on the files of a folder that are compared, and on the relatives that are read whole.
const MAX_FILES: usize = 1_000;
const MAX_RELATIVES: usize = 8;

/// How sessions are related to each other, by their indices.
#[derive(Debug, Default)]
pub(crate) struct Relatives {
    ancestries: Vec<Option<Ancestry>>,
    /// Each parent with each of its children, sorted.
    children: Vec<(usize, usize)>,
}

impl Relatives {
    /// Finds the relatives of sessions.
    pub(crate) fn among(members: &[Member]) -> Self {
        let ancestries = lineage(FORMATS, members);
        let parent_of = |(idx, it): (usize, &Option<Ancestry>)| Some((it.as_ref()?.parent, idx));
        let mut children: Vec<_> = ancestries.iter().enumerate().filter_map(parent_of).collect();
        children.sort_unstable();
        Self { ancestries, children }
    }

    /// Returns the relatives of a session: its parent, then its children. `named` returns the id of a session and the label of its input.
    pub(crate) fn of<'m>(
        &self,
        session_idx: usize,
        named: impl Fn(usize) -> Option<(&'m str, &'m str)>,
    ) -> impl Iterator<Item = Relative> {
        let ancestry = |idx: usize| self.ancestries.get(idx).copied().flatten();
        let parent = ancestry(session_idx).into_iter().map(move |it| (it.parent, words(&it).0));
        let start = self.children.partition_point(|(parent, _)| *parent < session_idx);
        let children = self.children.get(start..).unwrap_or_default().iter();
        let own = children.take_while(move |(parent, _)| *parent == session_idx);
        let children =
            own.filter_map(move |(_, child)| Some((*child, words(&ancestry(*child)?).1)));
        let parent = parent.map(|(idx, words)| (idx, words, true));
        let all = parent.chain(children.map(|(idx, words)| (idx, words, false)));
        all.filter_map(move |(idx, words, is_parent)| {
            let (id, label) = named(idx)?;
            Some(relative(id, label, words, is_parent))
        })
    }
}

/// Returns the relatives of a session among the files of its folder; none for an input that is no file on
/// this machine. The parent is left out if the session's own records say that its history starts there.
///
/// Only the starts of the files are read, and then the files that share records with the session, or that
/// name it. A file that cannot be read is no relative.
pub(crate) fn relatives_of(input: &Input) -> Vec<Relative> {
    let Some(path) = input.path().filter(|_| input.storage().is_disk()) else { return Vec::new() };
    let keys = TurnKeys::new(FORMATS);
    let Ok(own) = Head::read(input, &keys) else { return Vec::new() };
    let siblings = siblings(path).into_iter().map(Input::file);
    let is_related = |other: &Input| Head::read(other, &keys).is_ok_and(|it| own.is_related(&it));
    let related = siblings.filter(is_related).take(MAX_RELATIVES);
    let silent = Progress::start(Mode::None, 0, 0);
    let member = |main: Input| {
        let path = main.label();
        let unit = SessionFiles { main, others: Vec::new(), format: None };
        let none = Hashes::default();
        let read = once::session(&unit, None, &keys, &none, &silent, &mut |_, _| {}).ok()?;
        Some(Member { id: read.id, path, turns: read.turns, kin: read.kin })
    };
    let mut members: Vec<Member> = related.filter_map(member).collect();
    if members.is_empty() {
        return Vec::new();
    }
    let Some(member) = member(input.clone()) else { return Vec::new() };
    members.push(member);
    let has_base = own.kin.iter().any(|kin| kin.kind == RelativeKind::Base);
    let named = |idx: usize| members.get(idx).map(|it| (it.id.as_str(), it.path.as_str()));
    let relatives = Relatives::among(&members);
    let own = relatives.of(members.len() - 1, named);
    own.filter(|relative| !(has_base && relative.is_parent)).collect()
}

/// Returns the other files of a file's folder with its extension, sorted; none if there are too many.
fn siblings(path: &Path) -> Vec<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(entries) = list(folder.unwrap_or(Path::new("."))) else { return Vec::new() };
    let is_sibling = |entry: &FolderEntry| {
        let name = &entry.name;
        path.file_name() != Some(name)
            && path.extension() == Path::new(name).extension()
            && entry.is_file
    };
    let siblings = entries.into_iter().filter(is_sibling);
    let mut names: Vec<_> = siblings.take(MAX_FILES + 1).map(|it| it.name).collect();
    if names.len() > MAX_FILES {
        return Vec::new();
    }
    names.sort();
    names.into_iter().map(|name| path.with_file_name(name)).collect()
}

/// The start of a session's file.
#[derive(Debug, Default)]
struct Head {
    /// The id in its lines, and the name of its file.
    names: Vec<String>,
    /// The name of its format.
    format: Option<&'static str>,
    records: Hashes,
    kin: BTreeSet<Kin>,
}

impl Head {
    fn read(input: &Input, keys: &TurnKeys) -> Result<Self, ReadError> {
        let silent = Progress::start(Mode::None, 0, 0);
        let mut head = Self::default();
        head.names.extend(input.stem().map(str::to_owned));
        let mut file = keys.file(input);
        read(input, None, &Prefilter::ALL, &silent, &mut |place, line, event| {
            let Ok(event) = event else { return Ok(place.offset < HEAD) };
            if head.names.len() < 2 {
                head.names.extend(event.context.session_id.map(|id| id.decode().into_owned()));
            }
            head.format = Some(event.format);
            let turn = file.key(place, line, event);
            head.records.insert(turn.key);
            Kin::of(&turn.origin, &mut |other| _ = head.kin.insert(other));
            Ok(place.offset < HEAD)
        })?;
        Ok(head)
    }

    /// Returns whether two sessions share a record or, in two formats, an id, or one of them names the other one.
    fn is_related(&self, other: &Self) -> bool {
        let names = |one: &Self, other: &Self| {
            one.kin.iter().any(|kin| other.names.iter().any(|name| kin.session.contains(name)))
        };
        let is_copy = || other.names.iter().any(|name| self.names.contains(name));
        other.records.iter().any(|key| self.records.contains(key))
            || (self.format != other.format && is_copy())
            || names(self, other)
            || names(other, self)
    }
}

fn relative(id: &str, label: &str, words: String, is_parent: bool) -> Relative {
    let n_printed = if id.len() == UUID_LENGTH { UUID_START } else { MAX_ID };
    let id = id.chars().take(n_printed).collect();
    Relative { label: label.to_owned(), words, id, is_parent }
}

/// Returns the words before the parent's name in a child's page, and before the child's name in the
/// parent's: `Copy of` and `Copied to`.
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
