//! Checks parents and times: whether the client can walk from the last line to the first.
//!
//! In: a line whose `parentUuid` no line has. Out: the warning `dangling-parent` for it.

use std::{
    collections::{HashMap, HashSet},
    hash::{BuildHasher, RandomState},
};

use core_model::{Field, Findings, Place, Severity, millis};
use jsonl::Text;

use crate::Record;

/// Hashes of the ids so far.
#[derive(Debug, Default)]
pub(super) struct Thread {
    hasher: RandomState,
    parents: HashMap<u64, Option<u64>>,
    /// Parents that no line has yet, with the first line that names each.
    missing: HashMap<u64, Place>,
    /// The messages that have a child.
    followed: HashMap<u64, Follower>,
    messages: HashSet<u64>,
    has_main_message: bool,
    newest: Option<i64>,
}

#[derive(Debug)]
struct Follower {
    response: Option<u64>,
}

impl Thread {
    pub(super) fn line(
        &mut self,
        record: &Record<'_>,
        is_message: bool,
        is_known: bool,
        out: &mut Findings<'_>,
    ) {
        let Some(uuid) = record.uuid.filter(|_| is_known) else { return };
        let id = self.hash(uuid);
        let parent = record.parent_uuid.value().map(|parent| self.hash(parent));
        if let Some(earlier) = self.parents.insert(id, parent) {
            // A copy of a line is harmless. A line with the same id and another parent is not.
            if earlier != parent {
                out.warns("duplicate-uuid", "another line has this `uuid`: only one is seen");
            }
            return;
        }
        self.missing.remove(&id);
        if is_message {
            self.messages.insert(id);
        }
        match parent {
            Some(parent) if !self.parents.contains_key(&parent) => {
                self.missing.entry(parent).or_insert(out.place);
            }
            Some(parent) if is_message && !record.is_sidechain => {
                self.follow(parent, record, out);
            }
            _ => {}
        }
        if is_message && !record.is_sidechain {
            self.message(record, out);
        }
    }

    /// Reports a message that starts a second branch.
    fn follow(&mut self, parent: u64, record: &Record<'_>, out: &mut Findings<'_>) {
        if !self.messages.contains(&parent) {
            return;
        }
        let response = record.message.and_then(|message| message.get("id")?.text());
        let response = response.map(|id| self.hash(id));
        let answers =
            record.message.and_then(|message| message.get("content")).is_some_and(|content| {
                content
                    .items()
                    .any(|block| block.get("tool_use_id").is_some_and(|id| id.text().is_some()))
            });
        match self.followed.get(&parent) {
            None => {
                self.followed.insert(parent, Follower { response });
            }
            Some(first) if answers || first.response.is_none() && response.is_some() => {
                let message = "a result beside other lines: 2.0 continues with only one of them";
                out.warns("parallel-branch", message);
            }
            Some(_) => {
                out.warns("branch", "another message has the same parent: only one is sent");
            }
        }
    }

    fn message(&mut self, record: &Record<'_>, out: &mut Findings<'_>) {
        let has_earlier = std::mem::replace(&mut self.has_main_message, true);
        if has_earlier && record.parent_uuid == Field::Null {
            out.warns("second-root", "`parentUuid` is null: the lines before it are not sent");
        }
        if record.parent_uuid == Field::Absent {
            out.warns("parent-uuid", "no `parentUuid`: the lines before it are not sent");
        }
        let Some(time) = record.timestamp.filter(|time| time.as_text().is_some()) else {
            return out
                .warns("timestamp", "`timestamp` is not a string: 2.0 does not load the session");
        };
        let Some(time) = millis(time) else {
            return out
                .warns("timestamp", "`timestamp` is not a time: 2.0 does not load the session");
        };
        if self.newest.is_some_and(|newest| newest >= time) {
            let message = "not later than the message before it: 2.0 may drop the end";
            out.warns("timestamp-order", message);
        }
        self.newest = self.newest.max(Some(time));
    }

    pub(super) fn finish(&mut self, out: &mut Findings<'_>) {
        let mut missing: Vec<Place> = self.missing.drain().map(|(_, place)| place).collect();
        missing.sort_by_key(|place| place.offset);
        for place in missing {
            let message = "its parent is not in the file: 2.0 and the SDK lose what is before it";
            out.add(place, Severity::Warns, "dangling-parent", message.into());
        }
        if self.has_cycle() {
            let message = "lines follow each other in a circle: 2.0 hangs, the SDK shows nothing";
            out.warns("cycle", message);
        }
    }

    fn has_cycle(&self) -> bool {
        // The number of the walk that visited each line. A second visit in the same walk is a
        // cycle.
        let mut walks: HashMap<u64, usize> = HashMap::with_capacity(self.parents.len());
        for (walk, start) in self.parents.keys().enumerate() {
            let mut at = *start;
            while !walks.contains_key(&at) {
                walks.insert(at, walk);
                match self.parents.get(&at) {
                    Some(Some(parent)) => at = *parent,
                    _ => break,
                }
                if walks.get(&at) == Some(&walk) {
                    return true;
                }
            }
        }
        false
    }

    fn hash(&self, text: Text<'_>) -> u64 {
        self.hasher.hash_one(&*text.decode())
    }
}
