//! A line as the tree knows it: ids as hashes, no content.

use core_model::Role;

/// A line with an id.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) offset: u64,
    pub(super) id: u64,
    pub(super) link: Link,
    pub(super) message_id: u64,
    pub(super) fingerprint: u64,
    pub(super) role: Option<Role>,
    pub(super) is_sidechain: bool,
    /// Whether the client starts its history here: a compaction, or the summary of one.
    pub(super) is_restart: bool,
    /// Whether the line tells something without being a message.
    pub(super) is_notice: bool,
}

impl Node {
    /// Returns whether the line says something that a writer may show.
    pub(super) fn is_said(&self) -> bool {
        self.role.is_some() || self.is_notice
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
