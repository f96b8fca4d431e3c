//! Finds the sessions of sub-agents that are files of their own beside their main session.
//!
//! In: `session-1.jsonl` and `session-1_agent-a1.jsonl`. Out: `session-1_agent-a1.jsonl` is the sub-agent
//! `a1` of `session-1.jsonl`. The client keeps its own sub-agents in a folder named by the id of the
//! session, which the name of the session's file does not have (FORMAT.md, "Sub-agents"); this crate names
//! the files of sub-agents of other formats.

use core_model::{Framing, Layout, NamedAgents};

use super::reader::detect_gemini;

/// The names of sub-agents' sessions: `<session>_agent-<agent>.jsonl`.
const AGENTS: NamedAgents =
    NamedAgents { separator: "_agent-", detect: detect_gemini, framing: Framing::Lines };

/// The layout of sub-agents' sessions.
pub(crate) const LAYOUT: Layout = Layout {
    owner: |path, files| AGENTS.owner(path, files),
    role: |name| AGENTS.role(name),
    agent_name: |stem, agent| format!("{stem}{}{agent}.jsonl", AGENTS.separator),
    ..Layout::NAMED
};
