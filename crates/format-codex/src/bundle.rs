//! Finds the sessions of sub-agents, which are files of their own beside their main session.
//!
//! In: `s1.jsonl` and `s1_agent-a1.jsonl`. Out: `s1_agent-a1.jsonl` is the sub-agent `a1` of
//! `s1.jsonl`. Codex itself keeps its sub-agents as sessions of their own, in the
//! folder of their day; this crate names the files of sub-agents of other formats.

use std::path::Path;

use core_model::{Bundles, FileRole, Files, Owner};
use jsonl::{Scanner, Stream};

use crate::reader::detect;

/// The separator of a session's name and a sub-agent's id.
const AGENT: &str = "_agent-";

/// Number of lines of a file that are searched for one of Codex's.
const MAX_LINES: usize = 10;

/// The layout of sub-agents' sessions: `<session>_agent-<agent>.jsonl`.
pub(crate) const BUNDLES: Bundles = Bundles {
    owner,
    role,
    has_folder: false,
    links: |_, _| {},
    description: None,
    describe: None,
    agent_name: |stem, agent| format!("{stem}{AGENT}{agent}.jsonl"),
    agent_id: |_| None,
    is_internal: |_| false,
};

/// Returns the role of a file in its session, by a name `*_agent-ID.jsonl`. An archive may add a
/// version: `*_agent-ID.jsonl@2`.
fn role(name: &str) -> Option<FileRole> {
    let (stem, ending) = name.strip_prefix('*')?.strip_prefix(AGENT)?.rsplit_once('.')?;
    let version = ending.strip_prefix("jsonl")?;
    let is_version = version.strip_prefix('@').map_or(version.is_empty(), |it| {
        !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    let is_id = !stem.is_empty() && !stem.contains('/');
    (is_version && is_id).then(|| FileRole::Agent(stem.to_owned()))
}

/// Returns the session that a file belongs to, by its name, if both are Codex's.
fn owner(path: &Path, files: &dyn Files) -> Option<Owner> {
    let (stem, ending) = path.file_name()?.to_str()?.rsplit_once('.')?;
    let version = ending.strip_prefix("jsonl")?;
    let (session, agent) = stem.split_once(AGENT)?;
    let main = path.with_file_name(format!("{session}.jsonl{version}"));
    let is_named = !session.is_empty() && !agent.is_empty();
    let is_owned = is_named
        && files.may_be_there(&main)
        && (is_session(&main, files) || files.size(&main).is_ok_and(|size| size == 0))
        && is_session(path, files);
    is_owned.then(|| Owner { main, role: FileRole::Agent(agent.to_owned()) })
}

/// Returns whether one of the first lines of a file is Codex's, or whether the file cannot be read.
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
        assert_eq!(role("*_agent-a1.jsonl"), Some(FileRole::Agent("a1".to_owned())));
        assert_eq!(role("*_agent-a1.jsonl@2"), Some(FileRole::Agent("a1".to_owned())));
        for name in ["*_agent-.jsonl", "*_a1.jsonl", "*_agent-a/b.jsonl", "*_agent-a.json", ".k"] {
            assert_eq!(role(name), None, "{name}");
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
        let owned = owner(&folder.path().join("s1_agent-a.jsonl"), &Disk).expect("owned");
        assert_eq!(owned.main, folder.path().join("s1.jsonl"));
        assert_eq!(owned.role, FileRole::Agent("a".to_owned()));
        for name in ["s1.jsonl", "s2_agent-a.jsonl", "s1_agent-log.jsonl"] {
            assert_eq!(owner(&folder.path().join(name), &Disk), None, "{name}");
        }
    }
}
