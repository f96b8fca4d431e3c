//! Finds the active branch of a session: the lines that make up its conversation.
//!
//! In: the ids, parents and offsets of all lines. Out: a [`Plan`] with the offsets to hide and the
//! lines to move. Reason: a session is a tree, because the user can go back and ask anew, and only
//! one branch is the conversation.
//!
//! ```text
//! {"uuid":"a","parentUuid":null,..}   shown
//! {"uuid":"b","parentUuid":"a",..}    hidden: the user went back to a
//! {"uuid":"c","parentUuid":"a",..}    shown: the last line of the file is the leaf
//! ```
//!
//! The rule is the client's: the branch leads from the last line with an id back to the root
//! (FORMAT.md, "The branch").

use core_model::{
    Body, ByHash, Event, Field, Hidden, IdHasher, Late, NoticeKind, Options, Plan, Planner,
};

/// Builder of the [`Plan`] of a session, in a first pass over ids and offsets.
#[derive(Debug, Default)]
pub struct Branch {
    all_branches: bool,
    from_last_compaction: bool,
    /// The hash of the id of a line on the wanted branch; `None` for the active branch.
    wanted: Option<u64>,
    nodes: Vec<Node>,
    hasher: IdHasher,
}

/// A line with its links.
#[derive(Clone, Copy, Debug)]
struct Node {
    offset: u64,
    /// The hash of its id.
    id: u64,
    link: Link,
    /// Whether it has words: a message or a notice.
    is_said: bool,
    /// Whether it replaces all that is before it.
    is_cut: bool,
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

impl Branch {
    /// Creates a builder. Options decide whether branches and compressed history are hidden.
    pub fn new(options: &Options) -> Self {
        let Options { all_branches, from_last_compaction, .. } = *options;
        let hasher = IdHasher::default();
        let wanted = options.branch.as_ref().map(|id| hasher.hash(id));
        Self { all_branches, from_last_compaction, wanted, hasher, nodes: Vec::new() }
    }

    /// Returns the indices of the lines of the branch, the root first.
    fn path(&self) -> Vec<usize> {
        // Lines with the same id are one message, whose parent is that of its first line.
        let id_of = |at: usize| self.nodes.get(at).map(|node| node.id);
        let mut by_id: Vec<usize> = (0..self.nodes.len()).collect();
        by_id.sort_by_key(|at| (id_of(*at), *at));
        let lines_of = |id: u64| {
            let start = by_id.partition_point(|at| id_of(*at) < Some(id));
            let rest = by_id.get(start..).unwrap_or_default();
            let n_lines = rest.partition_point(|at| id_of(*at) == Some(id));
            rest.get(..n_lines).unwrap_or_default()
        };
        let parent = |id: u64| {
            let first = *lines_of(id).first()?;
            let before = first.checked_sub(1).and_then(id_of);
            match self.nodes.get(first)?.link {
                // The client loses what is before a missing parent; we go on with the line before.
                Link::To(parent) => {
                    if lines_of(parent).is_empty() {
                        before
                    } else {
                        Some(parent)
                    }
                }
                Link::Before => before,
                Link::Root => None,
            }
        };
        let mut visited: ByHash<()> = ByHash::default();
        let wanted = self.wanted.filter(|id| !lines_of(*id).is_empty());
        let last = self.nodes.last().map(|node| node.id);
        let mut at = wanted.and_then(|wanted| self.leaf_after(wanted, &parent)).or(last);
        let mut path = Vec::new();
        while let Some(id) = at {
            // In a circle of parents the branch ends at the first line that is met again.
            if visited.insert(id, ()).is_some() {
                break;
            }
            path.extend(lines_of(id).iter().rev());
            at = parent(id);
        }
        path.reverse();
        path
    }

    /// Returns the id of the last line whose path to the root has a wanted one.
    fn leaf_after(&self, wanted: u64, parent: &dyn Fn(u64) -> Option<u64>) -> Option<u64> {
        let mut visited: ByHash<()> = ByHash::default();
        let leads_to_it = |node: &&Node| {
            let mut at = Some(node.id);
            while let Some(id) = at.filter(|id| *id != wanted) {
                if visited.insert(id, ()).is_some() {
                    return false;
                }
                at = parent(id);
            }
            at.is_some()
        };
        self.nodes.iter().rev().find(leads_to_it).map(|node| node.id)
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
        // A line without an id is not in the tree. A compression is one line with several events.
        let Some(id) = event.context.uuid.filter(|_| !self.all_branches && event.nth == 0) else {
            return;
        };
        let link = match event.context.parent {
            Field::Value(parent) => Link::To(self.hasher.hash_text(parent)),
            Field::Null => Link::Root,
            Field::Absent => Link::Before,
        };
        let is_cut = |kind| kind == NoticeKind::Compaction && event.has_next;
        let (is_said, is_cut) = match &event.body {
            Body::Message(_) => (true, false),
            Body::Notice(notice) => (true, is_cut(notice.kind)),
            _ => (false, false),
        };
        let id = self.hasher.hash_text(id);
        self.nodes.push(Node { offset, id, link, is_said, is_cut });
    }

    fn finish(self: Box<Self>) -> Plan {
        if self.all_branches {
            return Plan::default();
        }
        let whole = self.path();
        let is_cut = |at: &usize| self.nodes.get(*at).is_some_and(|node| node.is_cut);
        let cut = whole.iter().rposition(is_cut).filter(|_| self.from_last_compaction);
        let sent = whole.get(cut.unwrap_or(0)..).unwrap_or_default();
        // Lines off the branch have no mark, compressed ones 1, and lines that are sent 2.
        let mut marks = vec![0_u8; self.nodes.len()];
        for (path, value) in [(&whole[..], 1), (sent, 2)] {
            for node_idx in path {
                if let Some(mark) = marks.get_mut(*node_idx) {
                    *mark = value;
                }
            }
        }
        let lines = self.nodes.iter().zip(&marks);
        let hidden = lines.filter(|(node, mark)| node.is_said && **mark < 2);
        let hidden = hidden.map(|(node, mark)| {
            let field = if *mark == 1 { "compacted" } else { "branch" };
            Hidden { offset: node.offset, field }
        });
        Plan { hidden: hidden.collect(), late: self.late(sent), ..Plan::default() }
    }
}
