//! Counts of the blocks of a message by kind.
//!
//! In: a message with a text and two tool uses. Out: 2 tool uses, 0 tool results, 1 other block.

use crate::Block;

/// The number of blocks of a message, by kind.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct BlockCounts {
    /// The number of tool uses.
    pub n_tool_uses: usize,
    /// The number of tool results.
    pub n_tool_results: usize,
    /// The number of all other blocks.
    pub n_others: usize,
}

impl BlockCounts {
    /// Counts a block.
    pub fn add(&mut self, block: &Block<'_>) {
        match block {
            Block::ToolUse(_) => self.n_tool_uses += 1,
            Block::ToolResult(_) => self.n_tool_results += 1,
            _ => self.n_others += 1,
        }
    }

    /// Returns the number of blocks that are not tool results.
    pub fn n_said(&self) -> usize {
        self.n_tool_uses + self.n_others
    }

    /// Returns whether there is no block.
    pub fn is_empty(&self) -> bool {
        self.n_said() == 0 && self.n_tool_results == 0
    }
}
