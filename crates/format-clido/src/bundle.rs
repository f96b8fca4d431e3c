//! Sessions of several files: the name of a sub-agent's session starts with that of its own.

use std::path::Path;

use core_model::{Bundles, FileRole, Owner};

/// How clido's workflows name the sessions of their sub-agents: `<session>_<agent>.jsonl`.
pub(crate) const BUNDLES: Bundles = Bundles {
    owner,
    links: |_, _| {},
    description: None,
    agent_name: |stem, agent| format!("{stem}_{agent}.jsonl"),
};

/// Returns the session that a file belongs to: the one with the longest name that its own name goes
/// on, if there is one.
fn owner(path: &Path) -> Option<Owner> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    stem.rmatch_indices('_').find_map(|(at, _)| {
        let (session, agent) = (stem.get(..at)?, stem.get(at + 1..)?);
        let main = path.with_file_name(format!("{session}.jsonl"));
        let is_there = !session.is_empty() && !agent.is_empty() && main.is_file();
        is_there.then(|| Owner { main, role: FileRole::Agent(agent.to_owned()) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_goes_on_another_belongs_to_it() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["s1.jsonl", "s1_a_b.jsonl", "other_1.jsonl", "s1_.jsonl"] {
            std::fs::write(folder.path().join(name), "").expect("written");
        }
        let owned = owner(&folder.path().join("s1_a_b.jsonl")).expect("owned");
        assert_eq!(owned.main, folder.path().join("s1.jsonl"));
        assert_eq!(owned.role, FileRole::Agent("a_b".to_owned()));
        for name in ["s1.jsonl", "other_1.jsonl", "s1_.jsonl", "s1_a.txt"] {
            assert_eq!(owner(&folder.path().join(name)), None, "{name}");
        }
    }
}
