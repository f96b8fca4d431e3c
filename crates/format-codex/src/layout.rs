//! Finds the sessions of sub-agents, which are files of their own beside their main session.
//!
//! In: `s1.jsonl` and `s1_agent-a1.jsonl`. Out: `s1_agent-a1.jsonl` is the sub-agent `a1` of
//! `s1.jsonl`. Codex itself keeps its sub-agents as sessions of their own, in the
//! folder of their day; this crate names the files of sub-agents of other formats.

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

#[cfg(test)]
mod tests {
    use core_model::{Disk, FileRole};

    use super::*;

    #[test]
    fn a_name_alone_says_what_a_file_is() {
        assert_eq!(AGENTS.role("*_agent-a1.jsonl"), Some(FileRole::Agent("a1".to_owned())));
        assert_eq!(AGENTS.role("*_agent-a1.jsonl@2"), Some(FileRole::Agent("a1".to_owned())));
        for name in ["*_agent-.jsonl", "*_a1.jsonl", "*_agent-a/b.jsonl", "*_agent-a.json", ".k"] {
            assert_eq!(AGENTS.role(name), None, "{name}");
        }
    }

    #[test]
    fn a_sub_agent_belongs_to_the_session_whose_name_it_has() {
        let folder = tempfile::tempdir().expect("a folder");
        let session = r#"{"timestamp":"t","type":"session_meta","payload":{"id":"s"}}"#;
        for name in ["s1.jsonl", "s1_agent-a.jsonl", "s2_agent-a.jsonl"] {
            std::fs::write(folder.path().join(name), session).expect("written");
        }
        std::fs::write(folder.path().join("s1_agent-log.jsonl"), "{}").expect("written");
        let owned = AGENTS.owner(&folder.path().join("s1_agent-a.jsonl"), &Disk).expect("owned");
        assert_eq!(owned.main, folder.path().join("s1.jsonl"));
        assert_eq!(owned.role, FileRole::Agent("a".to_owned()));
        for name in ["s1.jsonl", "s2_agent-a.jsonl", "s1_agent-log.jsonl"] {
            assert_eq!(AGENTS.owner(&folder.path().join(name), &Disk), None, "{name}");
        }
    }
}
