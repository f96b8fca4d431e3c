//! The messages that clido makes of a session's lines when it resumes it (FORMAT.md, "Calls and
//! results").

use std::collections::{HashSet, VecDeque};

use core_model::Role;
use jsonl::RawBuf;

use crate::{ContentBlock, SessionLine};

/// What clido answers in the place of a tool that did not get to answer.
pub(crate) const INTERRUPTED: &str = "[interrupted — tool execution did not complete]";

/// A message of the conversation, as clido sends it to its model.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HistoryMessage {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: Vec<ContentBlock>,
}

/// A block that clido does not resume with: it refuses the session.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("line {line_idx} {who} content[{block_idx}]: {block}", who = name(*role))]
pub struct HistoryError {
    /// The place of the line among the lines, from 0, as clido counts them.
    pub line_idx: usize,
    /// Whose message it is in.
    pub role: Role,
    /// The place of the block in its message, from 0.
    pub block_idx: usize,
    /// The block.
    pub block: RawBuf,
}

fn name(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

/// Returns the conversation: results that follow each other are one message of the user, and a call
/// that the next message does not answer gets an error result of clido's making.
///
/// # Errors
///
/// At the first block that clido does not resume with.
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

/// Answers each call that the next message does not answer: in that message, if it holds results,
/// else in one of its own before it.
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

/// Returns the result of a tool that did not get to answer.
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
