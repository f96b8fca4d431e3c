//! Derives the state of a run from its last message.
//!
//! In: a prompt, a tool use. Out: [`Turn::Open`], because the tool's result is missing.

use crate::{Block, BlockCounts, Message, Role};

/// Start of the text that Claude Code writes when the user stops it.
const INTERRUPTED: &str = "[Request interrupted by user";

/// The state of a conversation after its last message.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Turn {
    /// It is the model's turn, or a tool's: the run may still be going on.
    #[default]
    Open,
    /// The model has answered.
    Answered,
    /// The request failed.
    Failed,
    /// The user stopped the model.
    Interrupted,
}

impl Turn {
    /// Adds a message with the counts of its blocks.
    ///
    /// Messages of the client change nothing, except the message of a failed request.
    pub fn push(&mut self, message: &Message<'_>, block_counts: BlockCounts) {
        match message.role {
            _ if message.is_api_error => *self = Turn::Failed,
            Role::Assistant if message.is_meta => {}
            Role::Assistant => {
                let reason = message.stop_reason.and_then(|reason| reason.as_text());
                let calls = has_call(message) || reason.is_some_and(|it| it.is("tool_use"));
                *self = if calls { Turn::Open } else { Turn::Answered };
            }
            Role::User if is_interruption(message) => *self = Turn::Interrupted,
            Role::User if block_counts.n_tool_results > 0 => *self = Turn::Open,
            Role::User if message.is_prompt_of(block_counts) => *self = Turn::Open,
            Role::User => {}
        }
    }
}

/// Returns whether the client has a tool to run.
fn has_call(message: &Message<'_>) -> bool {
    message.any_block(|block| match block {
        Block::ToolUse(tool) => !tool.is_server,
        _ => false,
    })
}

fn is_interruption(message: &Message<'_>) -> bool {
    message.any_block(|block| match block {
        Block::Text(text) => text.body().starts_with(INTERRUPTED),
        _ => false,
    })
}
