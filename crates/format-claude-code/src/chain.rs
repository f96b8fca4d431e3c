//! Finds the active branch of a transcript: the lines that make up its conversation.
//!
//! In: the ids, parents and offsets of all lines. Out: a [`Plan`] with the offsets to hide and the
//! lines to move. Reason: a transcript is a tree, because the user can go back and ask anew, and
//! only one branch is the conversation.
//!
//! ```text
//! {"type":"user","uuid":"1","parentUuid":null,..}          shown
//! {"type":"assistant","uuid":"2","parentUuid":"1",..}      hidden: the user went back to 1
//! {"type":"assistant","uuid":"3","parentUuid":"1",..}      shown: the last leaf of the file
//! ```
//!
//! The rule is the client's (2.1). It walks from each leaf back to the nearest message of the main
//! thread and takes the message that is last in the file. From there it follows the parents to the
//! root, and adds parallel tool results. FORMAT.md, "The active branch", lists the cases in which
//! we hide less.

mod compaction;
mod node;
mod recover;
mod sdk;
mod table;
mod tree;

use core_model::{
    Block, Body, Content, Event, Field, Hidden, IdHasher, Late, Message, NoticeKind, Options, Plan,
    Planner, Role,
};
use jsonl::Text;

pub(crate) use self::sdk::SdkChain;
use self::{
    compaction::Preserved,
    node::{Link, Node, Traits},
    tree::{Branch, Tree},
};

/// Builder of the [`Plan`] of a transcript, in a first pass over ids and offsets.
///
/// The plan shows one branch of the tree, by the rule of the client (2.1): from each leaf back to the nearest
/// message of the user or the assistant in the main thread, the one of these messages that is last in the file, and
/// from it by `parentUuid` to the root. The other lines of the responses on the branch are added, with the results of
/// their parallel calls. To hide less than the client, a line without a parent in the file follows the line before it
/// in the same thread, and the first line after a compaction follows the line that `logicalParentUuid` names. All
/// other messages are hidden, which does not lose them: the carry has them whole. Notices are never hidden.
///
/// [`Options::all_branches`] shows all branches, and [`Options::branch`] another one.
#[derive(Debug, Default)]
pub struct Chain {
    all_branches: bool,
    from_last_compaction: bool,
    /// The hash of the id of a message on the wanted branch; `None` for the active branch.
    branch: Option<u64>,
    nodes: Vec<Node>,
    /// Ids of tool uses (of assistant nodes) and of tool results (of user nodes), in the order of
    /// nodes.
    tools: Vec<(u32, u64)>,
    /// Messages that compactions keep, with their boundaries.
    preserved: Vec<Preserved>,
    /// Offsets of lines without an id that are shown, because a compaction may hide them.
    strays: Vec<u64>,
    hasher: IdHasher,
}

impl Chain {
    /// Creates a chain. Options decide whether branches and compacted history are hidden.
    pub fn new(options: &Options) -> Self {
        let Options { all_branches, from_last_compaction, .. } = *options;
        let hasher = IdHasher::default();
        let branch = options.branch.as_ref().map(|id| hasher.hash(id));
        Self { all_branches, from_last_compaction, branch, hasher, ..Self::default() }
    }

    fn hash(&self, text: Text<'_>) -> u64 {
        self.hasher.hash_text(text)
    }

    fn link(&self, event: &Event<'_>) -> Link {
        match event.context.parent {
            Field::Value(parent) => Link::To(self.hash(parent)),
            Field::Null if is_boundary(event) || is_summary(event) => {
                let logical = event.value.get("logicalParentUuid").and_then(|id| id.text());
                logical.map_or(Link::Before, |parent| Link::To(self.hash(parent)))
            }
            Field::Null => Link::Root,
            Field::Absent => Link::Before,
        }
    }

    /// Returns a hash that copies of a line share. It covers a part of the content only, for speed.
    fn fingerprint(&self, message: &Message<'_>) -> u64 {
        let content = match message.content {
            Content::Text(text) => text.as_str(),
            Content::Blocks(blocks) => blocks.raw().as_str(),
            Content::Other(raw) => raw.as_str(),
            Content::Absent => "",
        };
        let bytes = content.as_bytes();
        let head = self.hasher.hash(bytes.get(..128).unwrap_or(bytes));
        let tail = bytes.get(bytes.len().saturating_sub(128)..).unwrap_or_default();
        (head ^ bytes.len() as u64).rotate_left(32) ^ self.hasher.hash(tail)
    }
}

impl Planner for Chain {
    fn observe(&mut self, offset: u64, event: &Event<'_>) {
        if self.all_branches {
            return;
        }
        let message = event.message();
        let is_notice = matches!(event.body, Body::Notice(_));
        let Some(uuid) = event.context.uuid else {
            if self.from_last_compaction && (message.is_some() || is_notice) {
                self.strays.push(offset);
            }
            return;
        };
        let node_idx = self.nodes.len() as u32;
        let is_boundary = is_boundary(event);
        if is_boundary && self.from_last_compaction {
            self.preserved.extend(self.preserved_by(node_idx, event));
        }
        let is_root = event.context.parent == Field::Null;
        let role = message.map(|message| message.role);
        let traits = Traits {
            role,
            is_sidechain: event.context.is_sidechain,
            is_restart: is_boundary || is_root && is_summary(event),
            is_notice,
        };
        let message_id = message.and_then(|message| message.id).map_or(0, |id| self.hash(id));
        let fingerprint = message.map_or(0, |message| self.fingerprint(message));
        let (id, link) = (self.hash(uuid), self.link(event));
        self.nodes.push(Node::new(offset, id, link, traits, message_id, fingerprint));
        let Some(message) = message else { return };
        message.each_block(|block| {
            let id = match (message.role, block) {
                (Role::Assistant, Block::ToolUse(tool)) => tool.id,
                (Role::User, Block::ToolResult(result)) => result.tool_use_id,
                _ => return,
            };
            let id = self.hash(id);
            self.tools.push((node_idx, id));
        });
    }

    fn finish(self: Box<Self>) -> Plan {
        let tree = Tree::new(&self.nodes, false);
        let mut branch = tree.branch(self.branch);
        self.recover(&tree, &mut branch.shown, 0);
        if let Some(plan) = self.plan_from_last_compaction(&branch) {
            return plan;
        }
        let is_hidden = |(node, shown): &(&Node, &bool)| {
            node.role().is_some() && tree.is_main(node) && !**shown
        };
        let hidden = self.nodes.iter().zip(&branch.shown).filter(is_hidden);
        let hidden = hidden.map(|(node, _)| Hidden { offset: node.offset(), field: "branch" });
        Plan { hidden: hidden.collect(), late: self.late(&branch), ..Plan::default() }
    }
}

impl Chain {
    /// Returns the lines of a branch whose parents come later in the file.
    fn late(&self, branch: &Branch) -> Vec<Late> {
        let mut late = Vec::new();
        let mut last = 0;
        let on_the_way =
            branch.path.iter().filter_map(|&node_idx| self.nodes.get(node_idx as usize));
        for node in on_the_way.filter(|node| node.is_said()) {
            if node.offset() < last {
                late.push(Late { offset: node.offset(), after: last });
            }
            last = last.max(node.offset());
        }
        late
    }
}

fn is_boundary(event: &Event<'_>) -> bool {
    matches!(&event.body, Body::Notice(notice) if notice.kind == NoticeKind::Compaction)
}

fn is_summary(event: &Event<'_>) -> bool {
    event.message().is_some_and(|message| message.is_summary)
}
