//! Finds the documents of sub-agents beside the document of their session.
//!
//! In: `s1.jsonl` and `s1_agent-a1.jsonl`. Out: `s1_agent-a1.jsonl` is the sub-agent `a1` of `s1.jsonl`.
//! OpenCode itself keeps a sub-agent as a session of its own, which names the session that started it in
//! `parentID`; this crate names the files of sub-agents of other formats.

use core_model::{Framing, Layout, NamedAgents};

use crate::{PATHS, reader::detect};

/// The names of sub-agents' documents: `<session>_agent-<agent>.jsonl`, as in every output folder.
const AGENTS: NamedAgents =
    NamedAgents { separator: "_agent-", detect, framing: Framing::Document(PATHS) };

/// The layout of sub-agents' documents.
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
    fn a_sub_agent_belongs_to_the_session_whose_name_it_has() {
        let folder = tempfile::tempdir().expect("a folder");
        let message = r#"{"info":{"id":"msg_1","sessionID":"ses_1","role":"user"},"parts":[]}"#;
        // The lines of a document are no records, however many there are.
        let messages = vec![message; 30].join(",\n");
        let document = format!(
            "{{\"info\":{{\"id\":\"ses_1\",\"slug\":\"a\"}},\"messages\":[\n{messages}\n]}}\n"
        );
        for name in ["s1.jsonl", "s1_agent-a.jsonl", "s2_agent-a.jsonl"] {
            std::fs::write(folder.path().join(name), &document).expect("written");
        }
        std::fs::write(folder.path().join("s1_agent-log.jsonl"), "{}").expect("written");
        std::fs::write(folder.path().join("s1_agent-none.jsonl"), "").expect("written");
        std::fs::write(folder.path().join("s1_agent-cut.jsonl"), &document[..30]).expect("written");
        let owned = AGENTS.owner(&folder.path().join("s1_agent-a.jsonl"), &Disk).expect("owned");
        assert_eq!(owned.main, folder.path().join("s1.jsonl"));
        assert_eq!(owned.role, FileRole::Agent("a".to_owned()));
        let cut = AGENTS.owner(&folder.path().join("s1_agent-cut.jsonl"), &Disk).expect("owned");
        assert_eq!(cut.role, FileRole::Agent("cut".to_owned()));
        for name in ["s1.jsonl", "s2_agent-a.jsonl", "s1_agent-log.jsonl", "s1_agent-none.jsonl"] {
            assert_eq!(AGENTS.owner(&folder.path().join(name), &Disk), None, "{name}");
        }
    }
}
