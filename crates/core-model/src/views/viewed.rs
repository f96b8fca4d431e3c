//! An event for several views, with shared values that are read once.

use super::{ErrorPolicy, event_millis, is_failure};
use crate::{Block, BlockCounts, Event, ToolResult};

/// An event and the values that several views need, read once.
///
/// Each view has `view` for this type, and `push` for an event that no other view uses.
#[derive(Debug)]
pub struct Viewed<'e, 'l> {
    /// The event.
    pub event: &'e Event<'l>,
    /// Its time in milliseconds since 1970: its own, or that of the recorded thing.
    pub time: Option<i64>,
    /// The blocks of its message, if it is one.
    pub blocks: Vec<Block<'l>>,
    /// Whether they are kept in `blocks`.
    has_blocks: bool,
    pub(super) block_counts: BlockCounts,
}

impl<'e, 'l> Viewed<'e, 'l> {
    /// Reads an event.
    pub fn new(event: &'e Event<'l>) -> Self {
        let mut block_counts = BlockCounts::default();
        let blocks = event.message().into_iter().flat_map(|message| message.blocks());
        let blocks =
            blocks.map(|(block, _)| block).inspect(|block| block_counts.add(block)).collect();
        Self { event, time: event_millis(event), blocks, has_blocks: true, block_counts }
    }

    /// Reads an event for one view. The blocks are not kept, for each takes about 250 bytes: ten
    /// times a short one in its line.
    pub(super) fn passing(event: &'e Event<'l>) -> Self {
        let block_counts = event.message().map(|message| message.block_counts());
        let (blocks, block_counts) = (Vec::new(), block_counts.unwrap_or_default());
        Self { event, time: event_millis(event), blocks, has_blocks: false, block_counts }
    }

    /// Returns the blocks of its message, kept or not.
    pub(super) fn each_block(&self) -> impl Iterator<Item = Block<'l>> {
        let message = self.event.message().filter(|_| !self.has_blocks);
        let passing = message.into_iter().flat_map(|message| message.blocks());
        self.blocks.iter().copied().chain(passing.map(|(block, _)| block))
    }

    /// Returns the tool results that are errors, as [`Viewed::failed_results`] does.
    pub(super) fn failures(&self, policy: ErrorPolicy) -> impl Iterator<Item = ToolResult<'l>> {
        let results = self.each_block().filter_map(|block| match block {
            Block::ToolResult(result) => Some(result),
            _ => None,
        });
        results.filter(move |result| is_failure(result, policy))
    }

    /// Returns the tool results that are errors.
    pub fn failed_results(&self, policy: ErrorPolicy) -> impl Iterator<Item = &ToolResult<'l>> {
        let results = self.blocks.iter().filter_map(|block| match block {
            Block::ToolResult(result) => Some(result),
            _ => None,
        });
        results.filter(move |result| is_failure(result, policy))
    }
}
