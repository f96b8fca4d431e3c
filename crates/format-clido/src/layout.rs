//! Finds the sessions of sub-agents, whose names start with the name of their main session.
//!
//! In: `s1.jsonl` and `s1_review.jsonl`. Out: `s1_review.jsonl` is the sub-agent `review` of
//! `s1.jsonl`.

use core_model::{Framing, Layout, NamedAgents};

use crate::reader::detect;

/// The names of sub-agents' sessions: `<session>_<agent>.jsonl`.
const AGENTS: NamedAgents = NamedAgents { separator: "_", detect, framing: Framing::Lines };

/// The layout of clido's workflows.
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
        assert_eq!(AGENTS.role("*_a1.jsonl"), Some(FileRole::Agent("a1".to_owned())));
        assert_eq!(AGENTS.role("*_a1.jsonl@2"), Some(FileRole::Agent("a1".to_owned())));
        for name in ["*_.jsonl", "a1.jsonl", "*_a/b.jsonl", "*_a.jsonl.bak", "*_a.json", ".ssh/key"]
        {
            assert_eq!(AGENTS.role(name), None, "{name}");
        }
    }

    #[test]
    fn a_name_that_goes_on_another_belongs_to_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let session = r#"{"type":"title","title":"One"}"#;
        for name in ["s1.jsonl", "s1_a_b.jsonl", "other_1.jsonl", "s1_.jsonl", "s1_a.jsonl@2"] {
            std::fs::write(folder.path().join(name), session).expect("written");
        }
        std::fs::write(folder.path().join("s1_log.jsonl"), "{}").expect("written");
        let owned = AGENTS.owner(&folder.path().join("s1_a_b.jsonl"), &Disk).expect("owned");
        assert_eq!(owned.main, folder.path().join("s1.jsonl"));
        assert_eq!(owned.role, FileRole::Agent("a_b".to_owned()));
        for name in
            ["s1.jsonl", "other_1.jsonl", "s1_.jsonl", "s1_a.txt", "s1_log.jsonl", "s1_a.jsonl@2"]
        {
            assert_eq!(AGENTS.owner(&folder.path().join(name), &Disk), None, "{name}");
        }
        // Files with other endings have no version and are not sessions.
        for name in ["s1.jsonl@2", "s1.jsonl.bak", "s1_a.jsonl.bak"] {
            std::fs::write(folder.path().join(name), session).expect("written");
        }
        assert_eq!(AGENTS.owner(&folder.path().join("s1_a.jsonl.bak"), &Disk), None);
        let owned = AGENTS.owner(&folder.path().join("s1_a.jsonl@2"), &Disk).expect("owned");
        assert_eq!(owned.main, folder.path().join("s1.jsonl@2"));
    }
}
