//! A line in the tree: hashes of its ids, its offset and its flags, in forty bytes. Transcripts
//! have up to millions of lines, and all of them are in memory at once.

use core_model::Role;

/// A line with an id.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// The offset of the line, shifted left by [`FLAG_BITS`], with the flags in the low bits.
    offset_and_flags: u64,
    pub(super) id: u64,
    parent: u64,
    pub(super) message_id: u64,
    pub(super) fingerprint: u64,
}

/// Number of low bits that hold flags instead of the offset.
const FLAG_BITS: u32 = 8;

const USER: u64 = 1;
const ASSISTANT: u64 = 1 << 1;
const SIDECHAIN: u64 = 1 << 2;
const RESTART: u64 = 1 << 3;
const NOTICE: u64 = 1 << 4;
const ROOT: u64 = 1 << 5;
const HAS_PARENT: u64 = 1 << 6;

/// Properties of a line that become flags.
#[derive(Clone, Copy, Debug)]
pub(super) struct Traits {
    pub(super) role: Option<Role>,
    pub(super) is_sidechain: bool,
    /// Whether the client starts its history here: at a compaction boundary or its summary.
    pub(super) is_restart: bool,
    /// Whether the line is a notice: it has words and is no message.
    pub(super) is_notice: bool,
}

impl Node {
    /// Creates a node. `fingerprint` is equal for copies of a line and differs for other lines with
    /// its id.
    pub(super) fn new(
        offset: u64,
        id: u64,
        link: Link,
        traits: Traits,
        message_id: u64,
        fingerprint: u64,
    ) -> Self {
        let (parent, link) = match link {
            Link::Root => (0, ROOT),
            Link::To(parent) => (parent, HAS_PARENT),
            Link::Before => (0, 0),
        };
        let role = match traits.role {
            None => 0,
            Some(Role::User) => USER,
            Some(Role::Assistant) => ASSISTANT,
        };
        let flag = |is_set: bool, flag: u64| if is_set { flag } else { 0 };
        let flags = role
            | link
            | flag(traits.is_sidechain, SIDECHAIN)
            | flag(traits.is_restart, RESTART)
            | flag(traits.is_notice, NOTICE);
        let offset_and_flags = offset << FLAG_BITS | flags;
        Self { offset_and_flags, id, parent, message_id, fingerprint }
    }

    fn has(&self, flag: u64) -> bool {
        self.offset_and_flags & flag != 0
    }

    /// Returns the offset of the line in the file.
    pub(super) fn offset(&self) -> u64 {
        self.offset_and_flags >> FLAG_BITS
    }

    /// Returns the role of a message; `None` for other lines.
    pub(super) fn role(&self) -> Option<Role> {
        match self.offset_and_flags & (USER | ASSISTANT) {
            USER => Some(Role::User),
            ASSISTANT => Some(Role::Assistant),
            _ => None,
        }
    }

    /// Returns whether the line belongs to a sub-agent.
    pub(super) fn is_sidechain(&self) -> bool {
        self.has(SIDECHAIN)
    }

    /// Returns whether the client starts its history at this line.
    pub(super) fn is_restart(&self) -> bool {
        self.has(RESTART)
    }

    /// Returns whether the line is a notice.
    pub(super) fn is_notice(&self) -> bool {
        self.has(NOTICE)
    }

    /// Returns the parent link of the line.
    pub(super) fn link(&self) -> Link {
        match (self.has(ROOT), self.has(HAS_PARENT)) {
            (true, _) => Link::Root,
            (_, true) => Link::To(self.parent),
            _ => Link::Before,
        }
    }

    /// Returns whether the line is a message or a notice, which a writer may show.
    pub(super) fn is_said(&self) -> bool {
        self.has(USER | ASSISTANT | NOTICE)
    }
}

/// The parent link of a line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Link {
    /// `parentUuid` is null: the history starts here.
    Root,
    /// `parentUuid` is the hash of an id. If no line has that id, the parent is the line before in
    /// the same thread.
    To(u64),
    /// No `parentUuid`: the parent is the line before in the same thread.
    Before,
}

const _: () = assert!(size_of::<Node>() == 40);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_what_it_was_made_of() {
        let roles = [None, Some(Role::User), Some(Role::Assistant)];
        for (n, link) in
            [Link::Root, Link::Before, Link::To(0), Link::To(u64::MAX)].into_iter().enumerate()
        {
            for role in roles {
                let (is_sidechain, is_restart, is_notice) = (n % 2 == 0, n == 1, n > 1);
                let traits = Traits { role, is_sidechain, is_restart, is_notice };
                let node = Node::new((1 << 56) - 1, 7, link, traits, 8, 9);
                assert_eq!((node.offset(), node.role(), node.link()), ((1 << 56) - 1, role, link));
                assert_eq!(node.is_sidechain(), is_sidechain);
                assert_eq!((node.is_restart(), node.is_notice()), (is_restart, is_notice));
                assert_eq!(node.is_said(), role.is_some() || is_notice);
            }
        }
    }
}
