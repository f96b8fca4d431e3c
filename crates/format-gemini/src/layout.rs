//! Finds the sessions of sub-agents that are files of their own beside their main session.
//!
//! In: `s1.jsonl` and `s1_agent-a1.jsonl`. Out: `s1_agent-a1.jsonl` is the sub-agent `a1` of
//! `s1.jsonl`. Qwen Code keeps its own sub-agents in another folder (FORMAT.md, "Sub-agents"), and lists
//! only files whose name is a UUID; this crate names the files of sub-agents of other formats.

use core_model::{Framing, Layout, NamedAgents};

use crate::reader::detect;

/// The names of sub-agents' sessions: `<session>_agent-<agent>.jsonl`.
const AGENTS: NamedAgents = NamedAgents { separator: "_agent-", detect, framing: Framing::Lines };

/// The layout of sub-agents' sessions.
pub(crate) const LAYOUT: Layout = Layout {
    owner: |path, files| AGENTS.owner(path, files),
    role: |name| AGENTS.role(name),
    agent_name: |stem, agent| format!("{stem}{}{agent}.jsonl", AGENTS.separator),
    ..Layout::NAMED
};
