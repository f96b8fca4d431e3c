//! An event for several views. Values that several views need are computed once.

use super::{ErrorPolicy, event_millis, is_failure};
use crate::{Block, BlockCounts, Event, ToolResult};

/// The most blocks of one message that [`Viewed`] keeps. Each takes about 250 bytes, ten times a short
/// block in its line.
const MAX_KEPT: usize = 4096;

/// An event with values that several views need.
///
/// Each view has `view` for this type, and `push` for an event that no other view uses.
#[derive(Debug)]
pub struct Viewed<'e, 'l> {
    /// The event.
    pub event: &'e Event<'l>,
    /// The time of the event in milliseconds since 1970, or of the recorded thing.
    pub time: Option<i64>,
    /// The blocks of the message, if they are kept.
    kept: Option<Vec<Block<'l>>>,
    pub(super) block_counts: BlockCounts,
}

impl<'e, 'l> Viewed<'e, 'l> {
    /// Reads an event. The blocks of a message of at most 4,096 are read once and kept.
    pub fn new(event: &'e Event<'l>) -> Self {
        let mut block_counts = BlockCounts::default();
        let mut kept = Some(Vec::new());
        let blocks = event.message().into_iter().flat_map(|message| message.blocks());
        for (block, _) in blocks {
            block_counts.add(&block);
            match &mut kept {
                Some(blocks) if blocks.len() < MAX_KEPT => blocks.push(block),
                _ => kept = None,
            }
        }
        Self { event, time: event_millis(event), kept, block_counts }
    }

    /// Reads an event for one view. Its blocks are not kept.
    pub(super) fn passing(event: &'e Event<'l>) -> Self {
        let block_counts = event.message().map(|message| message.block_counts());
        let block_counts = block_counts.unwrap_or_default();
        Self { event, time: event_millis(event), kept: None, block_counts }
    }

    /// Returns the blocks of the message.
    pub fn blocks(&self) -> impl Iterator<Item = Block<'l>> {
        let message = self.event.message().filter(|_| self.kept.is_none());
        let passing = message.into_iter().flat_map(|message| message.blocks());
        self.kept.iter().flatten().copied().chain(passing.map(|(block, _)| block))
    }

    /// Returns the tool results that are errors.
    pub fn failed_results(&self, policy: ErrorPolicy) -> impl Iterator<Item = ToolResult<'l>> {
        let results = self.blocks().filter_map(|block| match block {
            Block::ToolResult(result) => Some(result),
            _ => None,
        });
        results.filter(move |result| is_failure(result, policy))
    }
}
