//! Finds the sessions of sub-agents, whose names start with the name of their main session.
//!
//! In: `s1.jsonl` and `s1_review.jsonl`. Out: `s1_review.jsonl` is the sub-agent `review` of
//! `s1.jsonl`.

use std::path::Path;

use core_model::{Bundles, FileRole, Files, Owner};
use jsonl::{Scanner, Stream};

use crate::reader::detect;

/// Number of lines of a file that are searched for one of clido's.
const MAX_LINES: usize = 10;

/// The layout of clido's workflows: a sub-agent's session is `<session>_<agent>.jsonl`.
pub(crate) const BUNDLES: Bundles = Bundles {
    owner,
    role,
    has_folder: false,
    links: |_, _| {},
    description: None,
    describe: None,
    agent_name: |stem, agent| format!("{stem}_{agent}.jsonl"),
    agent_id: |_| None,
    is_internal: |_| false,
};

/// Returns the role of a file in its session, by a name `*_ID.jsonl`. An archive may add a version:
/// `*_ID.jsonl@2`.
fn role(name: &str) -> Option<FileRole> {
    let (stem, ending) = name.strip_prefix("*_")?.rsplit_once('.')?;
    let version = ending.strip_prefix("jsonl")?;
    let is_version = version.strip_prefix('@').map_or(version.is_empty(), |it| {
        !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    let is_id = !stem.is_empty() && !stem.contains('/');
    (is_version && is_id).then(|| FileRole::Agent(stem.to_owned()))
}

/// Returns the session that a file belongs to: the session with the shortest name that the file's
/// name starts with. Both must be sessions of one version, which archives write behind `.jsonl`.
fn owner(path: &Path, files: &dyn Files) -> Option<Owner> {
    let (stem, ending) = path.file_name()?.to_str()?.rsplit_once('.')?;
    let version = ending.strip_prefix("jsonl")?;
    stem.match_indices('_').find_map(|(at, _)| {
        let (session, rest) = stem.split_at_checked(at)?;
        let agent = rest.strip_prefix('_')?;
        let main = path.with_file_name(format!("{session}.jsonl{version}"));
        let is_named = !session.is_empty() && !agent.is_empty();
        if !is_named || !files.may_be_there(&main) {
            return None;
        }
        // An empty main session may still have sub-agents.
        let may_own = is_session(&main, files) || files.size(&main).is_ok_and(|size| size == 0);
        let is_agent = may_own && is_session(path, files);
        is_agent.then(|| Owner { main, role: FileRole::Agent(agent.to_owned()) })
    })
}

/// Returns whether one of the first lines of a file is clido's, or whether the file cannot be read.
/// Names of other clients' files start with each other too.
fn is_session(path: &Path, files: &dyn Files) -> bool {
    let Ok(file) = files.open(path) else { return true };
    let (mut stream, mut scanner) = (Stream::new(file), Scanner::default());
    for _ in 0..MAX_LINES {
        match stream.next() {
            Ok(Some(line)) if scanner.scan(&line).is_ok_and(detect) => return true,
            Ok(Some(_)) => {}
            Ok(None) => return false,
            Err(_) => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use core_model::Disk;

    use super::*;

    #[test]
    fn a_name_alone_says_what_a_file_is() {
        assert_eq!(role("*_a1.jsonl"), Some(FileRole::Agent("a1".to_owned())));
        assert_eq!(role("*_a1.jsonl@2"), Some(FileRole::Agent("a1".to_owned())));
        for name in ["*_.jsonl", "a1.jsonl", "*_a/b.jsonl", "*_a.jsonl.bak", "*_a.json", ".ssh/key"]
        {
            assert_eq!(role(name), None, "{name}");
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
        let owned = owner(&folder.path().join("s1_a_b.jsonl"), &Disk).expect("owned");
        assert_eq!(owned.main, folder.path().join("s1.jsonl"));
        assert_eq!(owned.role, FileRole::Agent("a_b".to_owned()));
        for name in
            ["s1.jsonl", "other_1.jsonl", "s1_.jsonl", "s1_a.txt", "s1_log.jsonl", "s1_a.jsonl@2"]
        {
            assert_eq!(owner(&folder.path().join(name), &Disk), None, "{name}");
        }
        // Files with other endings have no version and are not sessions.
        for name in ["s1.jsonl@2", "s1.jsonl.bak", "s1_a.jsonl.bak"] {
            std::fs::write(folder.path().join(name), session).expect("written");
        }
        assert_eq!(owner(&folder.path().join("s1_a.jsonl.bak"), &Disk), None);
        let owned = owner(&folder.path().join("s1_a.jsonl@2"), &Disk).expect("owned");
        assert_eq!(owned.main, folder.path().join("s1.jsonl@2"));
    }
}
