//! Makes the messages that clido sends to its model when it resumes a session (FORMAT.md, "Calls
//! and results").
//!
//! In: the lines `assistant_message` with two calls, `tool_result` of the first. Out: a message of
//! the assistant, and a message of the user with the result and an error result for the second
//! call.

use std::collections::{HashSet, VecDeque};

use core_model::Role;
use jsonl::RawBuf;

use crate::{ContentBlock, SessionLine};

/// The text of clido's error result for a call without a result.
pub(crate) const INTERRUPTED: &str = "[interrupted — tool execution did not complete]";

/// A message of the conversation, as clido sends it to its model.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HistoryMessage {
    /// The role of the speaker.
    pub role: Role,
    /// The blocks.
    pub content: Vec<ContentBlock>,
}

/// A block that clido does not resume with, so that it refuses the session.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("line {line_idx} {who} content[{block_idx}]: {block}", who = name(*role))]
pub struct HistoryError {
    /// The index of the line, as clido counts: blank lines are skipped.
    pub line_idx: usize,
    /// The role of the message.
    pub role: Role,
    /// The index of the block in its message.
    pub block_idx: usize,
    /// The block as written.
    pub block: RawBuf,
}

fn name(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

/// Returns the conversation. Consecutive results become one message of the user, and a call without
/// a result in the next message gets an error result.
///
/// # Errors
///
/// Returns an error at the first block that clido does not resume with.
///
/// ```
/// use format_clido::{SessionReader, to_messages};
///
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documented.jsonl");
/// let lines = SessionReader::open(path)?.collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(to_messages(&lines).map(|messages| messages.len()), Ok(4));
/// # Ok::<(), core_model::ReadError>(())
/// ```
pub fn to_messages(lines: &[SessionLine]) -> Result<Vec<HistoryMessage>, HistoryError> {
    let mut messages = Vec::new();
    let mut results = Vec::new();
    for (line_idx, line) in lines.iter().enumerate() {
        let role = match line {
            SessionLine::UserMessage { .. } => Role::User,
            SessionLine::AssistantMessage { .. } => Role::Assistant,
            SessionLine::ToolResult { tool_use_id, content, is_error, .. } => {
                results.push(ContentBlock::ToolResult {
                    tool_use_id: tool_use_id.clone(),
                    content: content.clone(),
                    is_error: *is_error,
                });
                continue;
            }
            _ => continue,
        };
        push_results(&mut messages, &mut results);
        let mut content = Vec::with_capacity(line.content().len());
        for (block_idx, block) in line.content().iter().enumerate() {
            content.push(ContentBlock::decode(block).ok_or_else(|| HistoryError {
                line_idx,
                role,
                block_idx,
                block: block.clone(),
            })?);
        }
        messages.push(HistoryMessage { role, content });
    }
    push_results(&mut messages, &mut results);
    Ok(answered(messages))
}

fn push_results(messages: &mut Vec<HistoryMessage>, results: &mut Vec<ContentBlock>) {
    if !results.is_empty() {
        messages.push(HistoryMessage { role: Role::User, content: std::mem::take(results) });
    }
}

/// Adds an error result for each call without a result in the next message: to that message if it
/// has results, else as a message of its own before it.
fn answered(messages: Vec<HistoryMessage>) -> Vec<HistoryMessage> {
    let mut waiting = VecDeque::from(messages);
    let mut answered = Vec::with_capacity(waiting.len());
    while let Some(message) = waiting.pop_front() {
        let next = waiting.front_mut().filter(|next| next.role == Role::User);
        let ids: HashSet<&str> =
            next.iter().flat_map(|next| &next.content).filter_map(id_of_result).collect();
        let missing: Vec<ContentBlock> = match message.role {
            Role::User => Vec::new(),
            Role::Assistant => message
                .content
                .iter()
                .filter_map(id_of_use)
                .filter(|id| !ids.contains(id))
                .map(interrupted)
                .collect(),
        };
        let has_results = !ids.is_empty();
        answered.push(message);
        match next {
            _ if missing.is_empty() => {}
            Some(next) if has_results => next.content.extend(missing),
            _ => answered.push(HistoryMessage { role: Role::User, content: missing }),
        }
    }
    answered
}

/// Returns the error result of a tool that was interrupted.
pub(crate) fn interrupted(id: &str) -> ContentBlock {
    ContentBlock::ToolResult {
        tool_use_id: id.to_owned(),
        content: INTERRUPTED.to_owned(),
        is_error: true,
    }
}

fn id_of_use(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::ToolUse { id, .. } => Some(id),
        _ => None,
    }
}

fn id_of_result(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::ToolResult { tool_use_id, .. } => Some(tool_use_id),
        _ => None,
    }
}
