//! An event for several views. Values that several views need are computed once.

use super::{ErrorPolicy, event_millis, is_failure};
use crate::{Block, BlockCounts, Event, ToolResult};

/// An event with values that several views need.
///
/// Each view has `view` for this type, and `push` for an event that no other view uses.
#[derive(Debug)]
pub struct Viewed<'e, 'l> {
    /// The event.
    pub event: &'e Event<'l>,
    /// The time of the event in milliseconds since 1970, or of the recorded thing.
    pub time: Option<i64>,
    /// The blocks of the message.
    pub blocks: Vec<Block<'l>>,
    /// Whether the blocks are kept in `blocks`.
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

    /// Reads an event for one view. Blocks are not kept, because each takes about 250 bytes of
    /// memory, ten times a short block in its line.
    pub(super) fn passing(event: &'e Event<'l>) -> Self {
        let block_counts = event.message().map(|message| message.block_counts());
        let (blocks, block_counts) = (Vec::new(), block_counts.unwrap_or_default());
        Self { event, time: event_millis(event), blocks, has_blocks: false, block_counts }
    }

    /// Returns the blocks of the message, kept or not.
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
