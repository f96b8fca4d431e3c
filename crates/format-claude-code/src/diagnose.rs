//! The kinds of damage that transcripts are known to have, and where a file has them.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry as Slot},
    hash::{BuildHasher, RandomState},
};

use core_model::{Block, Place, Problem};
use jsonl::Raw;

use crate::{Entry, Transcript, validate};

/// Damage at a line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The line.
    pub place: Place,
    /// What is damaged.
    pub kind: DamageKind,
    /// The id that it is about, where one line alone shows it.
    pub id: Option<String>,
}

impl Finding {
    fn key(&self) -> (u64, DamageKind) {
        (self.place.offset, self.kind)
    }
}

/// A kind of damage; numbers are those of issues of Claude Code.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum DamageKind {
    /// The parent is not in the file (22526, 61188).
    PhantomParent,
    /// A result without its call (26977, 31328).
    OrphanResult,
    /// A call without its result.
    OpenCall,
    /// A line is there again, byte for byte.
    RepeatedLine,
    /// Another line has the same id.
    DuplicateUuid,
    /// A snapshot has the id of a message: whoever looks lines up by any id finds the wrong one
    /// (24304, 36583). Clients write it so.
    SnapshotCollision,
    /// Results of parallel calls on branches, of which older clients go on with one (31330).
    ForkedResults,
    /// A system line between a call of a server's tool and its result (73638).
    SplitServerTool,
    /// Lines follow each other in a circle.
    Cycle,
    /// Two records or more on a line: a newline was lost.
    JoinedRecords,
    /// A line that is no JSON object, but for the records on it that can be read.
    Torn,
}

impl Transcript<'_> {
    /// Returns the damage of the file, in the order of its lines.
    ///
    /// ```
    /// use format_claude_code::{DamageKind, Transcript};
    ///
    /// let file = br#"{"type":"user","uuid":"b","parentUuid":"lost","message":{"content":"x"}}
    /// {"type":"user","uuid":"b","parentUuid":"lost","message":{"content":"x"}}
    /// {"type":"user","uuid":"c","parentUuid":"b","sessionId":"s"}{"type":"user","uuid":"d","parentUuid":"c"}"#;
    /// let kinds: Vec<_> =
    ///     Transcript::from_slice(file).diagnose().into_iter().map(|found| found.kind).collect();
    /// assert_eq!(kinds, [
    ///     DamageKind::PhantomParent, DamageKind::RepeatedLine, DamageKind::JoinedRecords,
    /// ]);
    /// ```
    pub fn diagnose(&self) -> Vec<Finding> {
        let mut found: Vec<Finding> =
            validate(self.bytes()).iter().filter_map(of_problem).collect();
        found.extend(self.bad_lines().iter().map(|bad| {
            let is_joined = bad.n_records > 1;
            let kind = if is_joined { DamageKind::JoinedRecords } else { DamageKind::Torn };
            Finding { place: bad.place, kind, id: None }
        }));
        let mut search = Search::default();
        self.for_each(|entry| search.entry(entry));
        // Of lines with one id, `check` knows only whether they follow the same line.
        let known: HashSet<(u64, DamageKind)> = found.iter().map(Finding::key).collect();
        let more = search.finish().into_iter();
        found.extend(more.filter(|finding| !known.contains(&finding.key())));
        found.sort_by_key(Finding::key);
        found
    }
}

/// Returns what a rule of the client is broken by, if that is damage.
fn of_problem(problem: &Problem) -> Option<Finding> {
    let kind = match problem.rule {
        "dangling-parent" => DamageKind::PhantomParent,
        "orphan-result" => DamageKind::OrphanResult,
        "open-call" => DamageKind::OpenCall,
        "duplicate-uuid" => DamageKind::DuplicateUuid,
        "parallel-branch" => DamageKind::ForkedResults,
        "cycle" => DamageKind::Cycle,
        _ => return None,
    };
    let place = Place { line: problem.line, offset: problem.offset };
    Some(Finding { place, kind, id: None })
}

/// What the rules of the client do not ask for.
#[derive(Debug, Default)]
struct Search {
    hasher: RandomState,
    /// The lines by their ids: hashes of their bytes.
    lines: HashMap<String, u64>,
    snapshots: Vec<(Place, String)>,
    system_lines: Vec<Place>,
    /// The open calls of servers' tools, and the number of system lines before each.
    calls: HashMap<String, usize>,
    found: Vec<Finding>,
}

impl Search {
    fn entry(&mut self, entry: &Entry<'_>) {
        let place = entry.place;
        if let Some(uuid) = entry.event.context.uuid {
            let uuid = uuid.decode().into_owned();
            let hash = self.hasher.hash_one(entry.value.raw().as_str());
            match self.lines.entry(uuid) {
                Slot::Occupied(known) if *known.get() == hash => {
                    let (kind, id) = (DamageKind::RepeatedLine, Some(known.key().clone()));
                    self.found.push(Finding { place, kind, id });
                }
                Slot::Occupied(known) => {
                    let (kind, id) = (DamageKind::DuplicateUuid, Some(known.key().clone()));
                    self.found.push(Finding { place, kind, id });
                }
                Slot::Vacant(slot) => _ = slot.insert(hash),
            }
        }
        match &*entry.kind() {
            "file-history-snapshot" => {
                let id = entry.value.get("messageId").and_then(|id| id.text());
                self.snapshots.extend(id.map(|id| (place, id.decode().into_owned())));
            }
            "system" => self.system_lines.push(place),
            _ => {}
        }
        let message = entry.event.message();
        for (block, raw) in message.into_iter().flat_map(|message| message.blocks()) {
            match block {
                Block::ToolUse(tool) if tool.is_server => {
                    self.calls.insert(tool.id.decode().into_owned(), self.system_lines.len());
                }
                Block::ToolResult(result) => self.answer(&result.tool_use_id.decode()),
                Block::Other { .. } => self.other(raw),
                _ => {}
            }
        }
    }

    /// Takes note of a block that may be the result of a server's tool.
    fn other(&mut self, raw: Raw<'_>) {
        if self.calls.is_empty() {
            return;
        }
        let mut scanner = jsonl::Scanner::default();
        let block = scanner.scan_slice(raw.as_str().as_bytes(), 0).ok();
        if let Some(id) = block.and_then(|block| block.get("tool_use_id")?.text()) {
            self.answer(&id.decode());
        }
    }

    fn answer(&mut self, id: &str) {
        let call = self.calls.remove_entry(id);
        let between = |(id, n): (String, usize)| Some((id, *self.system_lines.get(n)?));
        if let Some((id, place)) = call.and_then(between) {
            self.found.push(Finding { place, kind: DamageKind::SplitServerTool, id: Some(id) });
        }
    }

    fn finish(self) -> Vec<Finding> {
        let Self { lines, snapshots, mut found, .. } = self;
        let collisions = snapshots.into_iter().filter(|(_, id)| lines.contains_key(id));
        found.extend(collisions.map(|(place, id)| Finding {
            place,
            kind: DamageKind::SnapshotCollision,
            id: Some(id),
        }));
        found
    }
}
