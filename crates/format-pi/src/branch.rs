//! Finds the active branch of a session: the lines that make up its conversation.
//!
//! In: the ids, parents and offsets of all lines. Out: a [`Plan`] with the offsets to hide and the
//! lines to move. Reason: a session is a tree, because the user can go back and ask anew, and only
//! one branch is the conversation.
//!
//! ```text
//! {"type":"message","id":"a","parentId":null,..}    shown
//! {"type":"message","id":"b","parentId":"a",..}     hidden: the user went back to a
//! {"type":"message","id":"c","parentId":"a",..}     shown
//! {"type":"label","id":"d","parentId":"c",..}       the last line of the file is the leaf
//! ```
//!
//! The rule is pi's: the branch leads from the last line of the file back to the root. FORMAT.md,
//! "The branch", lists the cases in which we hide less.

use std::mem;

use core_model::{
    Body, ByHash, Event, Field, Hidden, IdHasher, Late, NoticeKind, Options, Plan, Planner,
};

use crate::record::{Compaction, Entry, Record};

/// Builder of the [`Plan`] of a session, in a first pass over ids and offsets.
///
/// The active branch leads from the last line of the file back to the root by `parentId`. Lines off
/// it are hidden: a carry keeps them, and the target does not show them.
#[derive(Debug, Default)]
pub struct Branch {
    all_branches: bool,
    from_last_compaction: bool,
    /// The hash of the id of a line on the wanted branch; `None` for the active branch.
    wanted: Option<u64>,
    /// Whether the first header was read.
    has_header: bool,
    /// Whether each line follows the one before, as in version 1.
    is_linear: bool,
    nodes: Vec<Node>,
    compactions: Vec<Cut>,
    hasher: IdHasher,
}

/// A line with its links.
#[derive(Clone, Copy, Debug)]
struct Node {
    offset: u64,
    /// The hash of its id; `None` without an id.
    id: Option<u64>,
    link: Link,
    /// Whether it has words: a message or a notice.
    is_said: bool,
}

#[derive(Clone, Copy, Debug)]
enum Link {
    /// The first line of a branch.
    Root,
    /// The line before, in the order of the file.
    Before,
    /// The line with this hash of its id.
    To(u64),
}

/// A compaction, with the first line that it keeps.
#[derive(Clone, Copy, Debug)]
struct Cut {
    node_idx: usize,
    first_kept: Kept,
}

#[derive(Clone, Copy, Debug)]
enum Kept {
    /// The entry with this hash of its id.
    Id(u64),
    /// The line with this index, which version 1 counts from the header.
    Index(u64),
    Nothing,
}

impl Branch {
    /// Creates a builder. Options decide whether branches and compacted history are hidden.
    pub fn new(options: &Options) -> Self {
        let Options { all_branches, from_last_compaction, .. } = *options;
        let hasher = IdHasher::default();
        let wanted = options.branch.as_ref().map(|id| hasher.hash(id));
        Self { all_branches, from_last_compaction, wanted, hasher, ..Self::default() }
    }

    fn cut(&self, compaction: &Compaction<'_>) -> Cut {
        let index = compaction.first_kept_entry_index.and_then(|index| index.raw().as_u64());
        let first_kept = match (compaction.first_kept_entry_id, index) {
            (Some(id), _) => Kept::Id(self.hasher.hash_text(id)),
            (None, Some(index)) => Kept::Index(index),
            (None, None) => Kept::Nothing,
        };
        Cut { node_idx: self.nodes.len(), first_kept }
    }

    /// Returns the indices of the lines of the branch, the root first.
    fn path(&self) -> Vec<usize> {
        let mut by_id = ByHash::default();
        for (node_idx, node) in self.nodes.iter().enumerate() {
            // Of lines with the same id, pi takes the last one.
            by_id.extend(node.id.map(|id| (id, node_idx)));
        }
        let parent = |node_idx: usize| {
            let before = node_idx.checked_sub(1);
            match self.nodes.get(node_idx)?.link {
                Link::To(id) => by_id.get(&id).copied().or(before),
                Link::Before => before,
                Link::Root => None,
            }
        };
        let wanted = self.wanted.and_then(|id| by_id.get(&id).copied());
        let mut path = Vec::new();
        let mut visited = vec![false; self.nodes.len()];
        let last = self.nodes.len().checked_sub(1);
        let mut at = wanted.and_then(|wanted| self.leaf_after(wanted, &parent)).or(last);
        while let Some(node_idx) = at {
            // In a circle of parents the branch ends at the first line that is met again.
            let Some(visited @ false) = visited.get_mut(node_idx) else { break };
            *visited = true;
            path.push(node_idx);
            at = parent(node_idx);
        }
        path.reverse();
        path
    }

    /// Returns the last line whose path to the root has another one.
    fn leaf_after(&self, wanted: usize, parent: &dyn Fn(usize) -> Option<usize>) -> Option<usize> {
        let mut visited = vec![false; self.nodes.len()];
        (0..self.nodes.len()).rev().find(|line| {
            let mut at = Some(*line);
            while let Some(node_idx) = at.filter(|at| *at != wanted)
                && let Some(visited @ false) = visited.get_mut(node_idx)
            {
                *visited = true;
                at = parent(node_idx);
            }
            at == Some(wanted)
        })
    }

    /// Returns the lines that are sent after the last compaction of a path, in their order; `None`
    /// if the path has no compaction.
    fn sent(&self, path: &[usize]) -> Option<Vec<usize>> {
        // Compactions are in the order of the file.
        let cut_at = |node_idx: &usize| {
            self.compactions.binary_search_by_key(node_idx, |cut| cut.node_idx).ok()
        };
        let is_cut = |node_idx: &usize| cut_at(node_idx).is_some();
        let at = path.iter().rposition(is_cut)?;
        let (before, rest) = path.split_at_checked(at)?;
        let (compaction, after) = rest.split_first()?;
        let cut = self.compactions.get(cut_at(compaction)?)?;
        let is_first_kept = |node_idx: &usize| match cut.first_kept {
            Kept::Id(id) => self.nodes.get(*node_idx).is_some_and(|node| node.id == Some(id)),
            // The header is no node.
            Kept::Index(index) => (*node_idx as u64).saturating_add(1) == index,
            Kept::Nothing => false,
        };
        let first_kept = before.iter().position(is_first_kept).unwrap_or(before.len());
        let kept = before.iter().skip(first_kept).filter(|node_idx| !is_cut(node_idx));
        Some([compaction].into_iter().chain(kept).chain(after).copied().collect())
    }

    /// Returns the lines that are written later than their place in the file.
    fn late(&self, path: &[usize]) -> Vec<Late> {
        let mut late = Vec::new();
        let mut last = 0;
        let nodes = path.iter().filter_map(|node_idx| self.nodes.get(*node_idx));
        for node in nodes.filter(|node| node.is_said) {
            if node.offset < last {
                late.push(Late { offset: node.offset, after: last });
            }
            last = last.max(node.offset);
        }
        late
    }
}

impl Planner for Branch {
    fn observe(&mut self, offset: u64, event: &Event<'_>) {
        if self.all_branches || !event.value.is_object() {
            return;
        }
        let record = Record::decode(event.value);
        match record.entry {
            Entry::Session(header) => {
                let version = header.version.and_then(|version| version.raw().as_u64());
                // Later headers are ignored.
                if !mem::replace(&mut self.has_header, true) {
                    self.is_linear = version.is_none_or(|version| version < 2);
                }
                return;
            }
            Entry::Compaction(compaction) => {
                let cut = self.cut(&compaction);
                self.compactions.push(cut);
            }
            _ => {}
        }
        let link = match event.context.parent {
            _ if self.is_linear || event.context.uuid.is_none() => Link::Before,
            Field::Value(parent) => Link::To(self.hasher.hash_text(parent)),
            Field::Null => Link::Root,
            Field::Absent => Link::Before,
        };
        let is_notice = |kind: NoticeKind| kind != NoticeKind::Compaction;
        let is_said = match &event.body {
            Body::Message(_) => true,
            Body::Notice(notice) => is_notice(notice.kind),
            _ => false,
        };
        let id = event.context.uuid.map(|id| self.hasher.hash_text(id));
        self.nodes.push(Node { offset, id, link, is_said });
    }

    fn finish(self: Box<Self>) -> Plan {
        if self.all_branches {
            return Plan::default();
        }
        let whole = self.path();
        let sent = self.sent(&whole).filter(|_| self.from_last_compaction);
        let path = sent.as_ref().unwrap_or(&whole);
        let marked = |path: &[usize]| {
            let mut marks = vec![false; self.nodes.len()];
            for node_idx in path {
                if let Some(mark) = marks.get_mut(*node_idx) {
                    *mark = true;
                }
            }
            marks
        };
        let (shown, was_shown) = (marked(path), marked(&whole));
        let lines = self.nodes.iter().zip(shown.iter().zip(&was_shown));
        let hidden = lines.filter(|(node, (shown, _))| node.is_said && !**shown);
        let hidden = hidden.map(|(node, (_, was_shown))| {
            let field = if *was_shown { "compacted" } else { "branch" };
            Hidden { offset: node.offset, field }
        });
        Plan { hidden: hidden.collect(), late: self.late(path), ..Plan::default() }
    }
}

#[cfg(test)]
mod tests {
    use jsonl::{Scanner, lines};

    use super::*;

    fn plan(session: &str, options: &Options) -> Plan {
        let mut branch = Box::new(Branch::new(options));
        let mut scanner = Scanner::default();
        for line in lines(session.as_bytes()) {
            let value = scanner.scan(&line).expect("JSON");
            branch.observe(line.offset(), &crate::read(value));
        }
        branch.finish()
    }

    fn session(lines: &[String]) -> (String, Vec<u64>) {
        let mut text = "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n".to_owned();
        let mut offsets = Vec::new();
        for line in lines {
            offsets.push(text.len() as u64);
            text.push_str(line);
            text.push('\n');
        }
        (text, offsets)
    }

    fn said(id: &str, parent: &str) -> String {
        let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"message":{{"role":"user","content":"{id}"}}}}"#
        )
    }

    fn compaction(id: &str, parent: &str, kept: &str) -> String {
        format!(
            r#"{{"type":"compaction","id":"{id}","parentId":"{parent}","summary":"S","firstKeptEntryId":"{kept}"}}"#
        )
    }

    #[test]
    fn the_last_line_is_the_leaf_whatever_its_type() {
        let label = r#"{"type":"label","id":"d","parentId":"b","targetId":"a"}"#.to_owned();
        let (text, at) = session(&[said("a", ""), said("b", "a"), said("c", "a"), label]);
        let plan = plan(&text, &Options::default());
        assert_eq!(plan.hidden, [Hidden { offset: at[2], field: "branch" }]);
        let options = Options { all_branches: true, ..Options::default() };
        assert_eq!(super::tests::plan(&text, &options), Plan::default());
        // A branch that is asked for leads on to its last line.
        let of = |id: &str| Options { branch: Some(id.to_owned()), ..Options::default() };
        let hidden = |id: &str| super::tests::plan(&text, &of(id)).hidden;
        assert_eq!(hidden("c"), [Hidden { offset: at[1], field: "branch" }]);
        assert_eq!(hidden("a"), plan.hidden);
        assert_eq!(hidden("nobody"), plan.hidden);
    }

    #[test]
    fn a_missing_parent_hides_nothing_and_a_circle_ends() {
        let (text, _) = session(&[said("a", ""), said("b", "gone")]);
        assert_eq!(plan(&text, &Options::default()).hidden, []);
        let (text, at) = session(&[said("a", ""), said("b", "c"), said("c", "b")]);
        let hidden = plan(&text, &Options::default()).hidden;
        assert_eq!(hidden, [Hidden { offset: at[0], field: "branch" }]);
    }

    #[test]
    fn kept_messages_follow_the_summary_that_is_sent() {
        let (text, at) =
            session(&[said("a", ""), said("b", "a"), compaction("k", "b", "b"), said("c", "k")]);
        assert_eq!(plan(&text, &Options::default()), Plan::default());
        let options = Options { from_last_compaction: true, ..Options::default() };
        let cut = plan(&text, &options);
        assert_eq!(cut.hidden, [Hidden { offset: at[0], field: "compacted" }]);
        assert_eq!(cut.late, [Late { offset: at[1], after: at[2] }]);
        let (text, at) = session(&[said("a", ""), compaction("k", "a", "gone"), said("c", "k")]);
        let cut = plan(&text, &options);
        assert_eq!(cut.hidden, [Hidden { offset: at[0], field: "compacted" }]);
    }

    #[test]
    fn version_1_is_linear_and_counts_lines() {
        let text = "{\"type\":\"session\",\"id\":\"s\"}\n\
            {\"type\":\"message\",\"timestamp\":\"x\",\"message\":{\"role\":\"user\",\"content\":\"1\"}}\n\
            {\"type\":\"message\",\"timestamp\":\"x\",\"message\":{\"role\":\"user\",\"content\":\"2\"}}\n\
            {\"type\":\"compaction\",\"timestamp\":\"x\",\"summary\":\"S\",\"firstKeptEntryIndex\":2}\n";
        assert_eq!(plan(text, &Options::default()), Plan::default());
        let options = Options { from_last_compaction: true, ..Options::default() };
        let cut = plan(text, &options);
        assert_eq!((cut.hidden.len(), cut.late.len()), (1, 1));
    }
}
