//! A line as the tree knows it: ids as hashes, no content, forty bytes.

use core_model::Role;

/// A line with an id.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Where the line starts, above its flags.
    offset_and_flags: u64,
    pub(super) id: u64,
    parent: u64,
    pub(super) message_id: u64,
    pub(super) fingerprint: u64,
}

/// The flags of a line lie below its offset.
const FLAG_BITS: u32 = 8;

const USER: u64 = 1;
const ASSISTANT: u64 = 1 << 1;
const SIDECHAIN: u64 = 1 << 2;
const RESTART: u64 = 1 << 3;
const NOTICE: u64 = 1 << 4;
const ROOT: u64 = 1 << 5;
const HAS_PARENT: u64 = 1 << 6;

/// What a line is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Traits {
    pub(super) role: Option<Role>,
    pub(super) is_sidechain: bool,
    /// Whether the client starts its history here: a compaction, or the summary of one.
    pub(super) is_restart: bool,
    /// Whether the line tells something without being a message.
    pub(super) is_notice: bool,
}

impl Node {
    /// Creates a node; `fingerprint` tells copies of a line from others with its id.
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

    /// Returns where the line starts in the file.
    pub(super) fn offset(&self) -> u64 {
        self.offset_and_flags >> FLAG_BITS
    }

    /// Returns who speaks, if the line is a message.
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

    /// Returns whether the client starts its history here.
    pub(super) fn is_restart(&self) -> bool {
        self.has(RESTART)
    }

    /// Returns whether the line tells something without being a message.
    pub(super) fn is_notice(&self) -> bool {
        self.has(NOTICE)
    }

    /// Returns what the line says of the line that it follows.
    pub(super) fn link(&self) -> Link {
        match (self.has(ROOT), self.has(HAS_PARENT)) {
            (true, _) => Link::Root,
            (_, true) => Link::To(self.parent),
            _ => Link::Before,
        }
    }

    /// Returns whether the line says something that a writer may show.
    pub(super) fn is_said(&self) -> bool {
        self.has(USER | ASSISTANT | NOTICE)
    }
}

/// What a line says of the line that it follows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Link {
    /// Nothing follows up: the history starts here.
    Root,
    /// It follows a line, or if that is not in the file, the line before it in the same thread.
    To(u64),
    /// It follows the line before it in the same thread.
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
