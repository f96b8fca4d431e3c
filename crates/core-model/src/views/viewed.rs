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
    pub(super) block_counts: BlockCounts,
}

impl<'e, 'l> Viewed<'e, 'l> {
    /// Reads an event.
    pub fn new(event: &'e Event<'l>) -> Self {
        let mut block_counts = BlockCounts::default();
        let blocks = event.message().into_iter().flat_map(|message| message.blocks());
        let blocks =
            blocks.map(|(block, _)| block).inspect(|block| block_counts.add(block)).collect();
        Self { event, time: event_millis(event), blocks, block_counts }
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
