//! Finds which sessions were made from which others, by the records that they share and by the
//! sessions that they name.
//!
//! In: `a.jsonl` with the records 1, 2, 3, and `b.jsonl` with 1, 2, 4. Out: `b.jsonl` is a fork of
//! `a.jsonl` after the record 2.

use std::{
    collections::{BTreeSet, HashMap},
    path::{Path, PathBuf},
};

use core_model::{Formats, IdHasher, Origin, RelativeKind};
use jsonl::{Scanner, Text};

use crate::{
    copies::{Converted, plain_id},
    input::Input,
    turns::{Owners, SessionTurns},
};

/// A session that is compared with others.
#[derive(Clone, Debug, Default)]
pub struct Member {
    /// The id in its lines, or the name of its file.
    pub id: String,
    /// The path of its file.
    pub path: String,
    /// Its records.
    pub turns: SessionTurns,
    /// The other sessions that it names.
    pub kin: Vec<Kin>,
}

/// Another session that a session names.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Kin {
    /// How the other one is related to it.
    pub kind: RelativeKind,
    /// The id of the other one, or the path of its file.
    pub session: String,
    /// The number of records of a [`RelativeKind::Base`], if it is known.
    pub n_records: Option<u64>,
}

impl Kin {
    /// Calls `each` with the sessions that a record names.
    pub fn of(origin: &Origin<'_>, each: &mut dyn FnMut(Kin)) {
        let kin = |kind, session: Text<'_>, n_records| Kin {
            kind,
            session: session.decode().into_owned(),
            n_records,
        };
        if let Some(parent) = origin.copied_from {
            each(kin(RelativeKind::Parent, parent, None));
        }
        let Some(relative) = origin.relative else { return };
        if let Some(session) = relative.session.as_text() {
            each(kin(relative.kind, session, relative.n_records));
            return;
        }
        let mut scanner = Scanner::default();
        if let Ok(sessions) = scanner.scan_slice(relative.session.as_str().as_bytes(), 0) {
            for session in sessions.items().filter_map(|session| session.text()) {
                each(kin(relative.kind, session, relative.n_records));
            }
        }
    }
}

/// How a session was made from its parent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Relation {
    /// It has no record of its own.
    Copy,
    /// It goes on after the last record of its parent.
    Continuation,
    /// It goes on after an earlier record, or says that it is a fork. Its file has the shared records,
    /// or says how many records of its parent come first.
    Fork,
    /// It names its parent, or is named by it, and has none of its records.
    Named,
}

/// The parent of a session, and what it has from there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ancestry {
    /// The index of the parent.
    pub parent: usize,
    /// How the session was made.
    pub relation: Relation,
    /// The records that it has from others.
    pub n_shared: u64,
    /// The prompts among the shared records; 0 if its file does not have them.
    pub n_shared_prompts: u64,
    /// The prompts of its own.
    pub n_own_prompts: u64,
    /// The time of the last shared record, in milliseconds since 1970.
    pub until: Option<i64>,
}

/// Returns the parent of each session, if it has one. No session is its own ancestor.
///
/// The parent is the session that the last shared record counts for. A session without shared
/// records may be a converted copy of another session with its id, or name its parent.
pub fn lineage(formats: Formats, members: &[Member]) -> Vec<Option<Ancestry>> {
    let mut found = Records::of(members, (0..members.len()).collect()).ancestries();
    // Of sessions with the same times, the first one owns their records: no copy may come before its original.
    let parents: BTreeSet<usize> = found.iter().flatten().map(|it| it.parent).collect();
    let is_copy = |idx: usize| {
        members.get(idx).is_some_and(|member| converted(formats, member) != Converted::No)
    };
    if parents.iter().any(|idx| is_copy(*idx)) {
        let is_related =
            |idx: usize| parents.contains(&idx) || matches!(found.get(idx), Some(Some(_)));
        let (copies, originals): (Vec<_>, Vec<_>) =
            (0..members.len()).partition(|idx| is_related(*idx) && is_copy(*idx));
        found = Records::of(members, [originals, copies].concat()).ancestries();
    }
    for (member, ancestry) in members.iter().zip(&mut found) {
        // The format of a copy may need records that the original lacks, such as a first one.
        let Some(ancestry) = ancestry.as_mut().filter(|it| it.n_own_prompts == 0) else { continue };
        if matches!(ancestry.relation, Relation::Fork | Relation::Continuation)
            && converted(formats, member).is_untouched()
        {
            ancestry.relation = Relation::Copy;
        }
    }
    let mut roots = Roots::of(&found);
    for (idx, ancestry) in copies(formats, members) {
        let slot = found.get_mut(idx).filter(|slot| slot.is_none());
        if let Some(slot) = slot.filter(|_| roots.join(idx, ancestry.parent)) {
            *slot = Some(ancestry);
        }
    }
    for (idx, parent, n_records) in named_parents(members) {
        let is_free = found.get(idx).is_some_and(Option::is_none);
        if is_free && roots.join(idx, parent) {
            let n_own_prompts = members.get(idx).map_or(0, n_prompts);
            if let Some(slot) = found.get_mut(idx) {
                *slot = Some(Ancestry {
                    parent,
                    relation: n_records.map_or(Relation::Named, |_| Relation::Fork),
                    n_shared: n_records.unwrap_or(0),
                    n_shared_prompts: 0,
                    n_own_prompts,
                    until: None,
                });
            }
        }
    }
    found
}

fn n_prompts(member: &Member) -> u64 {
    member.turns.records().filter(|(_, mark)| mark.is_prompt).count() as u64
}

/// Returns whether the file of a session was converted; `No` if it cannot be read.
fn converted(formats: Formats, member: &Member) -> Converted {
    let file = Input::file(PathBuf::from(&member.path));
    Converted::read(formats, &file).unwrap_or(Converted::No)
}

/// Returns the ancestries of converted sessions by their ids: the parent is the first session of the id that was not
/// converted. pi, Codex and clido keep the id of a session, but not the ids of its records.
fn copies(formats: Formats, members: &[Member]) -> Vec<(usize, Ancestry)> {
    let hasher = IdHasher::default();
    let with_ids = members.iter().enumerate().filter(|(_, member)| !member.id.is_empty());
    let mut by_id: Vec<(u64, usize)> =
        with_ids.map(|(idx, member)| (hasher.hash(plain_id(&member.id)), idx)).collect();
    by_id.sort_unstable();
    let mut found = Vec::new();
    for same in by_id.chunk_by(|one, other| one.0 == other.0).filter(|same| same.len() > 1) {
        let same = same.iter().filter_map(|(_, idx)| Some((*idx, members.get(*idx)?)));
        let (originals, copies): (Vec<_>, Vec<_>) = same
            .map(|(idx, member)| (idx, member, converted(formats, member)))
            .partition(|(.., copy)| *copy == Converted::No);
        let Some(&(parent, ..)) = originals.first() else { continue };
        found.extend(
            copies.into_iter().map(|(idx, member, copy)| (idx, copied(parent, member, copy))),
        );
    }
    found.sort_unstable_by_key(|(idx, _)| *idx);
    found
}

/// Returns the ancestry of a converted session. If it has turns of its own, nothing tells which ones.
fn copied(parent: usize, member: &Member, copy: Converted) -> Ancestry {
    let (n_records, n_prompts) = (member.turns.records().count() as u64, n_prompts(member));
    let (relation, n_shared, n_shared_prompts, n_own_prompts) = match copy.is_untouched() {
        true => (Relation::Copy, n_records, n_prompts, 0),
        false => (Relation::Named, 0, 0, n_prompts),
    };
    Ancestry { parent, relation, n_shared, n_shared_prompts, n_own_prompts, until: None }
}

/// The records of sessions, each with the session that it counts for.
struct Records<'m> {
    members: &'m [Member],
    /// The indices of the sessions, in the order in which they own records.
    order: Vec<usize>,
    owners: Owners,
}

impl<'m> Records<'m> {
    fn of(members: &'m [Member], order: Vec<usize>) -> Self {
        let ordered = order.iter().filter_map(|idx| members.get(*idx));
        let owners = Owners::of(ordered.map(|member| &member.turns));
        Self { members, order, owners }
    }

    fn owner(&self, key: u64) -> Option<usize> {
        self.order.get(self.owners.owner(key)?).copied()
    }

    /// Returns the parent of each session with shared records.
    fn ancestries(&self) -> Vec<Option<Ancestry>> {
        (0..self.members.len()).map(|idx| self.ancestry(idx)).collect()
    }

    fn ancestry(&self, idx: usize) -> Option<Ancestry> {
        let Self { members, owners, .. } = self;
        let turns = &members.get(idx)?.turns;
        let (mut n_shared, mut n_own, mut n_shared_prompts, mut n_own_prompts) = (0, 0, 0, 0);
        let (mut last, mut until) = (None, 0);
        for (key, mark) in turns.records() {
            let is_prompt = u64::from(mark.is_prompt);
            match self.owner(key).filter(|owner| *owner != idx) {
                Some(owner) => {
                    n_shared += 1;
                    n_shared_prompts += is_prompt;
                    last = Some((owner, key));
                    until = mark.time;
                }
                None => {
                    n_own += 1;
                    n_own_prompts += is_prompt;
                }
            }
        }
        let (parent, key) = last?;
        let is_last = || {
            let end = members.get(parent).and_then(|parent| parent.turns.records().next_back());
            end.is_some_and(|(end, _)| owners.original(end) == owners.original(key))
        };
        let relation = match () {
            () if n_own == 0 => Relation::Copy,
            () if turns.has_copies() => Relation::Fork,
            () if is_last() => Relation::Continuation,
            () => Relation::Fork,
        };
        let until = (until > 0).then(|| i64::from(until).saturating_mul(1000));
        Some(Ancestry { parent, relation, n_shared, n_shared_prompts, n_own_prompts, until })
    }
}

/// Returns sessions and the parents that they name, or that name them. The third number is that of
/// the parent's records that come first, if the session says it.
fn named_parents(members: &[Member]) -> Vec<(usize, usize, Option<u64>)> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (idx, member) in members.iter().enumerate() {
        places.entry(&member.id).or_insert(idx);
        places.entry(&member.path).or_insert(idx);
        if let Some(name) = stem(&member.path) {
            places.entry(name).or_insert(idx);
        }
    }
    let mut found = Vec::new();
    for (idx, member) in members.iter().enumerate() {
        for kin in &member.kin {
            let session = kin.session.as_str();
            let other = places.get(session).or_else(|| places.get(stem(session)?));
            let Some(other) = other.copied().filter(|other| *other != idx) else { continue };
            found.push(match kin.kind {
                RelativeKind::Continuation => (other, idx, None),
                _ => (idx, other, kin.n_records),
            });
        }
    }
    found
}

fn stem(path: &str) -> Option<&str> {
    Path::new(path).file_stem()?.to_str()
}

/// The oldest ancestors of sessions. Each chain is walked once, and then shortened.
struct Roots {
    /// The index of the parent, or of an older ancestor; the session's own index if it has no parent.
    above: Vec<usize>,
}

impl Roots {
    fn of(found: &[Option<Ancestry>]) -> Self {
        let above = |(idx, it): (usize, &Option<Ancestry>)| it.map_or(idx, |it| it.parent);
        Self { above: found.iter().enumerate().map(above).collect() }
    }

    /// Makes a session without a parent the child of another one. Returns whether that is possible: it may not be the
    /// other one, nor one of its ancestors.
    fn join(&mut self, idx: usize, parent: usize) -> bool {
        let is_possible = self.root_of(parent).is_some_and(|root| root != idx);
        if let Some(above) = self.above.get_mut(idx).filter(|_| is_possible) {
            *above = parent;
        }
        is_possible
    }

    /// Returns the oldest ancestor of a session, or the session itself; `None` if the ancestors are a circle.
    fn root_of(&mut self, idx: usize) -> Option<usize> {
        let (mut root, mut n_steps) = (idx, 0);
        while let Some(above) = self.above.get(root).filter(|above| **above != root) {
            root = *above;
            n_steps += 1;
            if n_steps > self.above.len() {
                return None;
            }
        }
        let mut at = idx;
        while let Some(above) = self.above.get_mut(at).filter(|above| **above != root) {
            at = std::mem::replace(above, root);
        }
        Some(root)
    }
}

#[cfg(test)]
mod tests {
    use core_model::{Formats, Place};
    use jsonl::Line;

    use super::*;
    use crate::{
        input::Input,
        turns::{TurnKeys, TurnsCollector},
    };

    static FORMATS: Formats = Formats::new(&[&format_claude_code::FORMAT]);

    fn member(keys: &TurnKeys, id: &str, uuids: &[&str], extra: &str) -> Member {
        let mut file = keys.file(&Input::file(id.into()));
        let (mut turns, mut kin) = (TurnsCollector::default(), Vec::new());
        let (mut scanner, mut offset) = (Scanner::default(), 0);
        let said = uuids.iter().map(|uuid| {
            let minute = uuid.trim_matches(char::is_alphabetic);
            format!(
                r#"{{"type":"user","uuid":"{uuid}","timestamp":"2026-01-01T10:0{minute}:00.000Z","message":{{"role":"user","content":"hi"}}}}"#
            )
        });
        for text in said.chain(Some(extra.to_owned()).filter(|it| !it.is_empty())) {
            let line = Line::new(text.as_bytes(), offset);
            offset += text.len() as u64 + 1;
            let event =
                format_claude_code::FORMAT.first_event(scanner.scan(&line).expect("a line"));
            let turn = file.key(Place { line: 1, offset: line.offset() }, &line, &event);
            Kin::of(&turn.origin, &mut |other| kin.push(other));
            turns.push(&turn, &event);
        }
        Member { id: id.to_owned(), path: format!("/p/{id}.jsonl"), turns: turns.finish(), kin }
    }

    #[test]
    fn a_family_has_copies_continuations_and_forks() {
        let keys = TurnKeys::new(FORMATS);
        let members = [
            member(&keys, "copy", &["1", "2", "3"], ""),
            member(&keys, "first", &["1", "2", "3"], ""),
            member(&keys, "resumed", &["1", "2", "3", "4"], ""),
            member(&keys, "fork", &["1", "2", "a5"], ""),
            member(&keys, "fork of the fork", &["1", "2", "a5", "a6"], ""),
            member(&keys, "alone", &["b1"], ""),
        ];
        let found = lineage(FORMATS, &members);
        let shown: Vec<_> =
            found.iter().map(|it| it.map(|it| (it.parent, it.relation, it.n_shared))).collect();
        assert_eq!(
            shown,
            [
                None,
                Some((0, Relation::Copy, 3)),
                Some((0, Relation::Continuation, 3)),
                Some((0, Relation::Fork, 2)),
                Some((3, Relation::Continuation, 3)),
                None,
            ]
        );
        let fork = found[3].expect("a fork");
        assert_eq!((fork.n_shared_prompts, fork.n_own_prompts), (2, 1));
        assert_eq!(fork.until, Some(1_767_261_720_000));
    }

    #[test]
    fn a_fork_names_the_session_whose_records_come_first() {
        let keys = TurnKeys::new(FORMATS);
        let mut members =
            [member(&keys, "base", &["1", "2", "3"], ""), member(&keys, "fork", &["4", "5"], "")];
        let base = |session: &str, n_records| Kin {
            kind: RelativeKind::Base,
            session: session.to_owned(),
            n_records,
        };
        for (n_records, relation, n_shared) in
            [(Some(2), Relation::Fork, 2), (None, Relation::Named, 0)]
        {
            members[1].kin = vec![base("base", n_records)];
            let found = lineage(FORMATS, &members);
            let fork = found[1].expect("a fork");
            assert_eq!((fork.parent, fork.relation, fork.n_shared), (0, relation, n_shared));
            assert_eq!((found[0], fork.n_own_prompts), (None, 2));
        }
        // A circle ends.
        members[0].kin = vec![base("fork", Some(1))];
        assert_eq!(lineage(FORMATS, &members).iter().flatten().count(), 1);
    }

    #[test]
    fn sessions_name_their_parents() {
        let keys = TurnKeys::new(FORMATS);
        let members = [
            member(&keys, "a", &["1"], r#"{"type":"continued-in","continuedInSessionId":"b"}"#),
            member(&keys, "b", &["2"], r#"{"type":"continued-in","continuedInSessionId":"a"}"#),
            member(&keys, "c", &["3"], r#"{"type":"derived-from","sessions":["x","a"]}"#),
        ];
        let parents: Vec<_> =
            lineage(FORMATS, &members).iter().map(|it| it.map(|it| it.parent)).collect();
        assert_eq!(parents, [None, Some(0), Some(0)]);
    }

    /// A chain of 20,000 sessions takes linear time.
    #[test]
    fn a_chain_of_many_sessions_is_walked_once() {
        const N: usize = 20_000;
        let kin = |session: usize| Kin {
            kind: RelativeKind::Parent,
            session: format!("s{session}"),
            n_records: None,
        };
        let mut members: Vec<Member> = (0..N)
            .map(|idx| Member {
                id: format!("s{idx}"),
                kin: vec![kin(idx + 1)],
                ..Member::default()
            })
            .collect();
        let parents = |members: &[Member]| {
            lineage(FORMATS, members)
                .iter()
                .filter_map(|it| it.map(|it| it.parent))
                .collect::<Vec<_>>()
        };
        assert_eq!(parents(&members), (1..N).collect::<Vec<_>>());
        // The last session would close a circle.
        members[N - 1].kin = vec![kin(0)];
        assert_eq!(parents(&members), (1..N).collect::<Vec<_>>());
        members.reverse();
        assert_eq!(parents(&members).len(), N - 1);
    }
}
