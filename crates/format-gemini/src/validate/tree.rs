//! Checks the tree of lines: parents that are missing, and circles of parents.
//!
//! In: two lines whose parents are each other. Out: a problem, because all before them is lost.

use std::collections::HashSet;

use core_model::{ByHash, Field, Findings, IdHasher, Options, Place, Planner, Severity};
use jsonl::Value;

use crate::{Branch, reader::read, record::Record};

/// The tree of lines.
#[derive(Debug)]
pub(super) struct Tree {
    /// The parents of the first line of each id, with its place.
    parents: ByHash<(Option<u64>, Place)>,
    branch: Box<Branch>,
    hasher: IdHasher,
}

impl Default for Tree {
    fn default() -> Self {
        let options = Options { from_last_compaction: true, ..Options::default() };
        let branch = Box::new(Branch::new(&options));
        Self { parents: ByHash::default(), branch, hasher: IdHasher::default() }
    }
}

impl Tree {
    /// Adds a line.
    pub(super) fn add(
        &mut self,
        offset: u64,
        line: Value<'_>,
        record: &Record<'_>,
        out: &Findings<'_>,
    ) {
        let mut event = read(line);
        event.has_next = record.compressed_history().is_some();
        self.branch.observe(offset, &event);
        let Some(id) = record.uuid else { return };
        let parent = match record.parent_uuid {
            Field::Value(parent) => Some(self.hasher.hash_text(parent)),
            Field::Null | Field::Absent => None,
        };
        let id = self.hasher.hash_text(id);
        self.parents.entry(id).or_insert((parent, out.place));
    }

    /// Reports missing parents and circles. Returns the offsets of the lines that are not sent.
    pub(super) fn finish(&mut self, out: &mut Findings<'_>) -> HashSet<u64> {
        let mut is_done: ByHash<()> = ByHash::default();
        let mut found = Vec::new();
        // The order of a map differs from run to run, and the first line of a circle is the one reported.
        let mut lines: Vec<_> = self.parents.iter().collect();
        lines.sort_unstable_by_key(|(_, (_, place))| place.offset);
        for (id, (parent, place)) in lines {
            if parent.is_some_and(|parent| !self.parents.contains_key(&parent)) {
                let message = "no line has the `uuid` in `parentUuid`: the client sends nothing \
                    before this line; name an earlier line";
                found.push((*place, "missing-parent", message));
            }
            if self.is_in_circle(*id, &mut is_done) {
                let message = "the parents lead in a circle: the client sends nothing before it; \
                    give each line the `uuid` of an earlier line as its `parentUuid`";
                found.push((*place, "circle", message));
            }
        }
        found.sort_by_key(|(place, rule, _)| (place.offset, *rule));
        for (place, rule, message) in found {
            out.add(place, Severity::Warns, rule, message.into());
        }
        let branch = std::mem::take(&mut self.branch);
        branch.finish().hidden.into_iter().map(|hidden| hidden.offset).collect()
    }

    /// Returns whether the parents of a line lead in a circle that was not met before.
    fn is_in_circle(&self, id: u64, is_done: &mut ByHash<()>) -> bool {
        let mut steps: ByHash<()> = ByHash::default();
        let mut at = Some(id);
        while let Some(id) = at {
            if is_done.insert(id, ()).is_some() {
                return steps.contains_key(&id);
            }
            steps.insert(id, ());
            at = self.parents.get(&id).and_then(|(parent, _)| *parent);
        }
        false
    }
}
