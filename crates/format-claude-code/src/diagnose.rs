//! Finds known kinds of damage in a transcript.
//!
//! In: a transcript in which line 3 names a parent that does not exist. Out: a [`Finding`] for line
//! 3 with [`DamageKind::PhantomParent`].

use std::{
    collections::{HashMap, HashSet, hash_map::Entry as Slot},
    hash::{BuildHasher, RandomState},
};

use core_model::{Block, Place, Problem};
use jsonl::Raw;

use crate::{Entry, Transcript, validate};

/// Damage on a line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The damaged line.
    pub place: Place,
    /// The kind of damage.
    pub kind: DamageKind,
    /// The id in question, if the line alone shows it.
    pub id: Option<String>,
}

impl Finding {
    fn key(&self) -> (u64, DamageKind) {
        (self.place.offset, self.kind)
    }
}

/// A kind of damage. Numbers are issues of Claude Code.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum DamageKind {
    /// The parent is not in the file (22526, 61188).
    PhantomParent,
    /// A result without its call (26977, 31328).
    OrphanResult,
    /// A call without its result.
    OpenCall,
    /// A copy of an earlier line, byte for byte.
    RepeatedLine,
    /// Another line with the same id.
    DuplicateUuid,
    /// A snapshot with the id of a message: a search for the id over all lines may find the
    /// snapshot (24304, 36583). The client writes such snapshots.
    SnapshotCollision,
    /// Results of parallel calls on several branches. Older clients continue with one of them
    /// (31330).
    ForkedResults,
    /// A system line between a call of a server's tool and its result (73638).
    SplitServerTool,
    /// Lines that are their own ancestors.
    Cycle,
    /// Two records or more on one line, because a newline was lost.
    JoinedRecords,
    /// A line that is not a JSON object. Records inside it may be readable.
    Torn,
}

impl Transcript<'_> {
    /// Returns the damage in the file, in the order of its lines.
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
        // `validate` compares the parents of lines with one id. The search also compares their
        // bytes.
        let known: HashSet<(u64, DamageKind)> = found.iter().map(Finding::key).collect();
        let more = search.finish().into_iter();
        found.extend(more.filter(|finding| !known.contains(&finding.key())));
        found.sort_by_key(Finding::key);
        found
    }
}

/// Returns the damage behind a problem for the client; `None` if the problem is not damage.
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

/// Search for damage that `validate` does not report.
#[derive(Debug, Default)]
struct Search {
    hasher: RandomState,
    /// Hashes of the bytes of lines, by their ids.
    lines: HashMap<String, u64>,
    snapshots: Vec<(Place, String)>,
    system_lines: Vec<Place>,
    /// Open calls of server tools, each with the number of system lines before it.
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

    /// Checks whether a block is the result of an open server tool call.
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
